import type { Tensor } from "@warpwright/runtime";

/** `{ out, amax }`, or in turn: `const [out, amax] = …`. */
export interface RmsnormRhtAmaxResult extends Iterable<Tensor> {
  readonly out: Tensor;
  readonly amax: Tensor<"float32">;
}

/** Not enumerable: a result shows, spreads and compares as its two tensors. */
const inTurn = {
  value: function* (this: RmsnormRhtAmaxResult): Iterator<Tensor> {
    yield this.out;
    yield this.amax;
  },
};

export function resultOf(out: Tensor, amax: Tensor): RmsnormRhtAmaxResult {
  return Object.defineProperty({ out, amax }, Symbol.iterator, inTurn) as RmsnormRhtAmaxResult;
}
