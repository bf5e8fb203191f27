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
import { type GegluOptions, type GegluPairOptions, geglu, gegluPair } from "../src/index.js";
import { geluReference } from "./reference.js";

/** Where the gate is in x: first, last, and either in turns with up. */
export const gatePlaces = [
  { gate: "first", interleaved: false },
  { gate: "last", interleaved: false },
  { gate: "first", interleaved: true },
  { gate: "last", interleaved: true },
] as const;

/** Runs geglu and compares with float64; returns what it gave. */
export function expectGeglu(x: Tensor, options: GegluOptions = {}): Tensor {
  const { gate = "first", interleaved = false } = options;
  const size = x.shape.at(-1)! / 2;
  const halves = interleaved
    ? [0, 1].map((part) => x.reshape([...x.shape.slice(0, -1), size, 2]).select(-1, part))
    : [0, 1].map((part) => x.narrow(-1, part * size, size));
  const [first, second] = halves as [Tensor, Tensor];
  const [gates, ups] = gate === "first" ? [first, second] : [second, first];
  const wanted = referenceOf(gates, ups, options);
  return compared(geglu(x, options), wanted);
}

/** The same for gegluPair. */
export function expectGegluPair(gate: Tensor, up: Tensor, options: GegluPairOptions = {}): Tensor {
  // Before the call, which may write to its inputs.
  const wanted = referenceOf(gate, up, options);
  return compared(gegluPair(gate, up, options), wanted);
}

/** Every way to call geglu, on new values for results of a shape, with and without an out. */
export async function expectEveryForm(
  shape: readonly number[],
  place: Place,
  options: GegluPairOptions = {},
): Promise<void> {
  const x = randn([...shape.slice(0, -1), 2 * shape.at(-1)!], { seed: 1, ...place });
  const before = await bitsOf(x);
  const out = poisoned(shape, place);
  for (const gatePlace of gatePlaces) {
    const wanted = expectGeglu(x, { ...options, ...gatePlace });
    expect(wanted.shape).toEqual(shape);
    out.fill(Number.NaN);
    expect(geglu(x, { ...options, ...gatePlace, out })).toBe(out);
    expect(await bitsOf(out)).toBe(await bitsOf(wanted));
  }
  expect(await bitsOf(x)).toBe(before);

  const [gate, up] = [1, 2].map((seed) => randn(shape, { seed, ...place })) as [Tensor, Tensor];
  const kept = await Promise.all([gate, up].map(bitsOf));
  const result = expectGegluPair(gate, up, options);
  expect(result.shape).toEqual(shape);
  const wanted = await bitsOf(result);
  out.fill(Number.NaN);
  expect(gegluPair(gate, up, { ...options, out })).toBe(out);
  expect(await bitsOf(out)).toBe(wanted);
  expect(await Promise.all([gate, up].map(bitsOf))).toEqual(kept);
  const overUp = up.clone();
  expect(await bitsOf(gegluPair(gate, overUp, { ...options, out: overUp }))).toBe(wanted);
  expect(await bitsOf(gegluPair(gate, up, { ...options, out: gate }))).toBe(wanted);
}

function referenceOf(gate: Tensor, up: Tensor, { approximate }: GegluPairOptions): Float64Array {
  const ups = valuesOf(up);
  return valuesOf(gate).map((value, i) => geluReference(value, approximate) * ups[i]!);
}

function compared(out: Tensor, wanted: Float64Array): Tensor {
  expectClose(out, wanted, { ...tolerances.roundedOnce[out.dtype as FloatDType], name: "out" });
  return out;
}
