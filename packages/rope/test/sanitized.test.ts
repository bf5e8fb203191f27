// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { randn, type Tensor, tensor } from "@warpwright/runtime";
import { floatDTypes, misaligned, stridedRows } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { test } from "vitest";
import { rope, ropeTables } from "../src/index.js";
import { expectRope, expectRopeQK } from "./support.js";

const device = "cuda:0";

function disposeAll(tensors: readonly Tensor[]): void {
  for (const tensor of tensors) tensor.dispose();
}

// Vectors and, for the odd ones, single elements; some, all and more than a block's threads.
const headDims = [16, 18, 64, 70, 4112, 4114];

describeCuda("rope under compute-sanitizer", () => {
  const instances = floatDTypes.flatMap((dtype) =>
    headDims.flatMap((headDim) =>
      [false, true].map((interleaved) => [dtype, headDim, interleaved] as const),
    ),
  );

  test.each(instances)("%s, head dim %i, interleaved %s", (dtype, headDim, interleaved) => {
    const tables = ropeTables({ dim: headDim, maxPositions: 5, device });
    const { cos, sin } = tables;
    const q = randn([2, 3, 5, headDim], { seed: 1, dtype, device });
    const k = randn([2, 3, 2, headDim], { seed: 2, dtype, device });
    const both = expectRopeQK(q, k, cos, sin, { interleaved, offset: 2 });
    const turned = q.transpose(1, 2);
    const other = expectRope(turned, cos, sin, { interleaved, layout: "bhsd" });
    const strided = [1, 8].map((gap) => stridedRows(q, gap));
    for (const x of strided) expectRope(x, cos, sin, { interleaved, out: x });
    const odd = misaligned(k, 1);
    const fresh = expectRope(odd, cos, sin, { interleaved, inverse: true });
    disposeAll([cos, sin, q, k, both.q, both.k, turned, other, ...strided, odd, fresh]);
  });

  test.each(floatDTypes)("%s: columns beside the rotary range, tables of every dtype", (dtype) => {
    const x = randn([2, 3, 5, 96], { seed: 1, dtype, device });
    for (const tableDType of floatDTypes) {
      const { cos, sin } = ropeTables({ dim: 32, maxPositions: 3, dtype: tableDType, device });
      for (const interleaved of [false, true]) {
        for (const rotaryOffset of [0, 16, 64, 5]) {
          const out = expectRope(x, cos, sin, { interleaved, rotaryOffset });
          const own = x.clone();
          rope(own, cos, sin, { interleaved, rotaryOffset, out: own });
          disposeAll([out, own]);
        }
      }
      disposeAll([cos, sin]);
    }
    x.dispose();
  });

  test.each(["int32", "int64"] as const)("positions and sequences of %s, some outside", (dtype) => {
    const { cos, sin } = ropeTables({ dim: 32, maxPositions: 4, device });
    const x = randn([9, 3, 32], { seed: 1, device });
    const positions = tensor([-1, 0, 3, 4, 2 ** 31 - 1, -(2 ** 31), 1, 2, 0], { dtype, device });
    const made = [expectRope(x, cos, sin, { layout: "thd", positions })];
    for (const starts of [[0, 2, 2, 7], [0, 9], [0], [3, 4]]) {
      // At the end of their allocation.
      const all = tensor([7, ...starts], { dtype, device });
      const cuSeqlens = all.narrow(0, 1, starts.length);
      made.push(expectRope(x, cos, sin, { layout: "thd", cuSeqlens, offset: 1 }));
    }
    disposeAll([x, cos, sin, positions, ...made]);
  });
});
