import { randn, type Tensor } from "@warpwright/runtime";
import {
  bitsOf,
  expectClose,
  type FloatDType,
  poisoned,
  tolerances,
  valuesOf,
} from "@warpwright/testing";
import type { Place } from "@warpwright/testing/vitest";
import { expect } from "vitest";
import { type SwigluOptions, type SwigluPairOptions, swiglu, swigluPair } from "../src/index.js";
import { swigluReference } from "./reference.js";

/** Where the gate is in x: first, last, and either in turns with up. */
export const gatePlaces = [
  { gate: "first", interleaved: false },
  { gate: "last", interleaved: false },
  { gate: "first", interleaved: true },
  { gate: "last", interleaved: true },
] as const;

/** All options, and a limit that normal values often exceed. */
export const clamped = { limit: 1.5, alpha: 1.702, upOffset: 1 };

/** Runs swiglu and compares with float64; returns what it gave. */
export function expectSwiglu(x: Tensor, options: SwigluOptions = {}): Tensor {
  const { gate = "first", interleaved = false } = options;
  const size = x.shape.at(-1)! / 2;
  const halves = interleaved
    ? [0, 1].map((part) => x.reshape([...x.shape.slice(0, -1), size, 2]).select(-1, part))
    : [0, 1].map((part) => x.narrow(-1, part * size, size));
  const [first, second] = halves as [Tensor, Tensor];
  const [gates, ups] = gate === "first" ? [first, second] : [second, first];
  const wanted = referenceOf(gates, ups, options);
  return compared(swiglu(x, options), wanted);
}

/** The same for swigluPair. */
export function expectSwigluPair(
  gate: Tensor,
  up: Tensor,
  options: SwigluPairOptions = {},
): Tensor {
  // Before the call, which may write to its inputs.
  const wanted = referenceOf(gate, up, options);
  return compared(swigluPair(gate, up, options), wanted);
}

/** Every way to call swiglu, on new values for results of a shape, with and without an out. */
export async function expectEveryForm(
  shape: readonly number[],
  place: Place,
  options: SwigluPairOptions = {},
): Promise<void> {
  const x = randn([...shape.slice(0, -1), 2 * shape.at(-1)!], { seed: 1, ...place });
  const before = await bitsOf(x);
  const out = poisoned(shape, place);
  for (const gatePlace of gatePlaces) {
    const wanted = expectSwiglu(x, { ...options, ...gatePlace });
    expect(wanted.shape).toEqual(shape);
    out.fill(Number.NaN);
    expect(swiglu(x, { ...options, ...gatePlace, out })).toBe(out);
    expect(await bitsOf(out)).toBe(await bitsOf(wanted));
  }
  expect(await bitsOf(x)).toBe(before);

  const [gate, up] = [1, 2].map((seed) => randn(shape, { seed, ...place })) as [Tensor, Tensor];
  const kept = await Promise.all([gate, up].map(bitsOf));
  const result = expectSwigluPair(gate, up, options);
  expect(result.shape).toEqual(shape);
  const wanted = await bitsOf(result);
  out.fill(Number.NaN);
  expect(swigluPair(gate, up, { ...options, out })).toBe(out);
  expect(await bitsOf(out)).toBe(wanted);
  expect(await Promise.all([gate, up].map(bitsOf))).toEqual(kept);
  const overUp = up.clone();
  expect(await bitsOf(swigluPair(gate, overUp, { ...options, out: overUp }))).toBe(wanted);
  expect(await bitsOf(swigluPair(gate, up, { ...options, out: gate }))).toBe(wanted);
}

function referenceOf(gate: Tensor, up: Tensor, options: SwigluPairOptions): Float64Array {
  const { limit = Number.POSITIVE_INFINITY, alpha = 1, upOffset = 0 } = options;
  // The kernel has them in float32.
  const scalars = { limit: Math.fround(limit), alpha: Math.fround(alpha), upOffset };
  const ups = valuesOf(up);
  return valuesOf(gate).map((value, i) => swigluReference(value, ups[i]!, scalars));
}

function compared(out: Tensor, wanted: Float64Array): Tensor {
  expectClose(out, wanted, { ...tolerances.roundedOnce[out.dtype as FloatDType], name: "out" });
  return out;
}
