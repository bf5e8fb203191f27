import type { Tensor } from "@warpwright/runtime";
import { expectClose, type FloatDType, tolerances, valuesOf } from "@warpwright/testing";
import { type RopeOptions, type RopeQKOptions, rope, ropeQK } from "../src/index.js";
import { positionsIn, ropeReference } from "./reference.js";

/** Runs rope and compares with float64; returns what it gave. */
export function expectRope(x: Tensor, cos: Tensor, sin: Tensor, options: RopeOptions = {}): Tensor {
  const wanted = referenceOf(x, cos, sin, options);
  const out = rope(x, cos, sin, options);
  compare(out, wanted, "out");
  return out;
}

/** The same for ropeQK. */
export function expectRopeQK(
  q: Tensor,
  k: Tensor,
  cos: Tensor,
  sin: Tensor,
  options: RopeQKOptions = {},
): { q: Tensor; k: Tensor } {
  const wanted = [q, k].map((x) => referenceOf(x, cos, sin, options));
  const rotated = ropeQK(q, k, cos, sin, options);
  compare(rotated.q, wanted[0]!, "q");
  compare(rotated.k, wanted[1]!, "k");
  return rotated;
}

function compare(out: Tensor, wanted: Float64Array, name: string): void {
  expectClose(out, wanted, { ...tolerances.roundedOnce[out.dtype as FloatDType], name });
}

// Before the call, which may write to its inputs.
function referenceOf(
  x: Tensor,
  cos: Tensor,
  sin: Tensor,
  options: RopeOptions | RopeQKOptions,
): Float64Array {
  const { layout = "bshd" } = options;
  const [maxPositions, width] = cos.shape as [number, number];
  const [cosines, sines] = [cos, sin].map(valuesOf) as [Float64Array, Float64Array];
  const values = valuesOf(x);
  const headDim = x.shape.at(-1)!;
  const [second, third] = x.shape.slice(-3) as [number, number];
  const [seqlen, heads] = layout === "bhsd" ? [third, second] : [second, third];
  const positionOf = positionsFor(options, seqlen);
  const { rotaryDim = 2 * width, rotaryOffset, interleaved, inverse } = options;
  const given = { rotaryDim, rotaryOffset, interleaved, inverse };
  const out = new Float64Array(values.length);
  for (let row = 0; row < values.length / headDim; row++) {
    const token = layout === "bhsd" ? row % seqlen : Math.floor(row / heads) % seqlen;
    const batch = Math.floor(row / (heads * seqlen));
    const position = positionOf(batch, token);
    const within = position !== null && position >= 0 && position < maxPositions;
    const at = (table: Float64Array) =>
      within ? table.subarray(position * width, (position + 1) * width) : null;
    const head = values.subarray(row * headDim, (row + 1) * headDim);
    out.set(ropeReference(head, at(cosines), at(sines), given), row * headDim);
  }
  return out;
}

type PositionOf = (batch: number, token: number) => number | null;

function positionsFor(
  { positions, cuSeqlens, offset = 0 }: RopeOptions | RopeQKOptions,
  seqlen: number,
): PositionOf {
  if (positions) {
    const values = numbersOf(positions);
    const flat = positions.shape.length === 1;
    return (batch, token) => values[flat ? token : batch * seqlen + token]! + offset;
  }
  if (cuSeqlens) {
    const places = positionsIn(numbersOf(cuSeqlens), seqlen);
    return (_, token) => (places[token] === null ? null : places[token]! + offset);
  }
  return (_, token) => token + offset;
}

function numbersOf(index: Tensor): number[] {
  return Array.from(index.dataSync() as ArrayLike<number | bigint>, Number);
}
