// What kernels of a gate and an up have in common, in one tensor or in a tensor each.
import { randn, type Tensor } from "@warpwright/runtime";
import { describe, expect, test } from "vitest";

import { bitsOf, type FloatDType, floatDTypes, valuesOf } from "../float64.js";
import { misaligned, stridedRows } from "../layouts.js";
import { poisoned, withCanaries } from "../poison.js";
import { expectClose, tolerances } from "../tolerance.js";
import type { Place } from "./callee.js";
import { describeCuda } from "./describe-cuda.js";

/** Where the gate is in a tensor that holds both: first, last, and either in turns with up. */
export const gatePlaces = [
  { gate: "first", interleaved: false },
  { gate: "last", interleaved: false },
  { gate: "first", interleaved: true },
  { gate: "last", interleaved: true },
] as const;

export interface GatePlace {
  gate?: "first" | "last" | undefined;
  interleaved?: boolean | undefined;
}

type WithOut<Options> = Options & { out?: Tensor | undefined };

/** The two functions of a gated kernel, and its formula. */
export interface GatedFunctions<Options> {
  /** Begins the messages of the first. */
  op: string;
  packed(x: Tensor, options: WithOut<Options & GatePlace>): Tensor;
  pair(gate: Tensor, up: Tensor, options: WithOut<Options>): Tensor;
  /** Of an element, in float64. */
  reference(gate: number, up: number, options: Options): number;
}

/** Runs a gated kernel's functions and compares with float64. */
export interface GatedForms<Options> {
  /** Returns what the call gave. */
  expectPacked(x: Tensor, options?: WithOut<Options & GatePlace>): Tensor;
  expectPair(gate: Tensor, up: Tensor, options?: WithOut<Options>): Tensor;
  /** Every form on new values for results of a shape, with and without an out, and in place. */
  expectEveryForm(shape: readonly number[], place: Place, options?: Options): Promise<void>;
  /** The subset for compute-sanitizer on a GPU, with each of the options, by their names. */
  testSanitized(variants: Readonly<Record<string, Options>>): void;
}

/**
 * What tests of a gated kernel call.
 *
 * @example
 * import { geglu, gegluPair } from "@warpwright/geglu";
 * import { erfc } from "@warpwright/testing";
 * import { gatedForms } from "@warpwright/testing/vitest";
 *
 * const { expectEveryForm } = gatedForms({
 *   op: "geglu",
 *   packed: geglu,
 *   pair: gegluPair,
 *   reference: (gate, up) => (gate * up * erfc(-gate / Math.SQRT2)) / 2,
 * });
 * await expectEveryForm([3, 7], { dtype: "bfloat16", device: "cpu" });
 */
export function gatedForms<Options extends object>(
  functions: GatedFunctions<Options>,
): GatedForms<Options> {
  const { op, packed, pair } = functions;
  const none = {} as Options;

  const referenceOf = (gate: Tensor, up: Tensor, options: Options) => {
    const ups = valuesOf(up);
    return valuesOf(gate).map((value, i) => functions.reference(value, ups[i]!, options));
  };

  const expectPacked: GatedForms<Options>["expectPacked"] = (x, options = none) => {
    const { gate = "first", interleaved = false }: GatePlace = options;
    const [first, second] = interleaved ? inTurns(x) : halves(x);
    const [gates, ups] = gate === "first" ? [first, second] : [second, first];
    const wanted = referenceOf(gates, ups, options);
    return compared(packed(x, options), wanted);
  };

  const expectPair: GatedForms<Options>["expectPair"] = (gate, up, options = none) => {
    // Before the call, which may write to its inputs.
    const wanted = referenceOf(gate, up, options);
    return compared(pair(gate, up, options), wanted);
  };

  const expectEveryForm: GatedForms<Options>["expectEveryForm"] = async (
    shape,
    place,
    options = none,
  ) => {
    const x = randn([...shape.slice(0, -1), 2 * shape.at(-1)!], { seed: 1, ...place });
    const before = await bitsOf(x);
    const out = poisoned(shape, place);
    for (const gatePlace of gatePlaces) {
      const wanted = expectPacked(x, { ...options, ...gatePlace });
      expect(wanted.shape).toEqual(shape);
      out.fill(Number.NaN);
      expect(packed(x, { ...options, ...gatePlace, out })).toBe(out);
      expect(await bitsOf(out)).toBe(await bitsOf(wanted));
    }
    expect(await bitsOf(x)).toBe(before);

    const [gate, up] = [1, 2].map((seed) => randn(shape, { seed, ...place })) as [Tensor, Tensor];
    const kept = await Promise.all([gate, up].map(bitsOf));
    const result = expectPair(gate, up, options);
    expect(result.shape).toEqual(shape);
    const wanted = await bitsOf(result);
    out.fill(Number.NaN);
    expect(pair(gate, up, { ...options, out })).toBe(out);
    expect(await bitsOf(out)).toBe(wanted);
    expect(await Promise.all([gate, up].map(bitsOf))).toEqual(kept);
    const overUp = up.clone();
    expect(await bitsOf(pair(gate, overUp, { ...options, out: overUp }))).toBe(wanted);
    expect(await bitsOf(pair(gate, up, { ...options, out: gate }))).toBe(wanted);
  };

  const testSanitized: GatedForms<Options>["testSanitized"] = (variants) => {
    describeCuda(`${op} under compute-sanitizer`, () => {
      const cases = floatDTypes.flatMap((dtype) =>
        moves.map(([name, move]) => [dtype, name, move] as const),
      );
      describe.each(Object.entries(variants))("%s", (_, options) => {
        test.each(cases)("%s, %s", async (dtype, __, move) => {
          for (const [rows, size] of sanitizedShapes) {
            await expectWithinGuards(rows, size, { dtype, device: "cuda:0" }, move, options);
          }
        });
      });
    });
  };

  const expectWithinGuards = async (
    rows: number,
    size: number,
    place: Place,
    move: Move,
    options: Options,
  ) => {
    const x = move(randn([rows, 2 * size], { seed: 1, ...place }));
    const [gate, up] = [2, 3].map((seed) => move(randn([rows, size], { seed, ...place })));
    const calls = [
      (out?: Tensor) => expectPair(gate!, up!, { ...options, out }),
      ...gatePlaces.map((at) => (out?: Tensor) => expectPacked(x, { ...options, ...at, out })),
    ];
    for (const call of calls) {
      const guarded = withCanaries([rows, size], { ...place, rowGuard: 8 });
      call(guarded.tensor);
      await guarded.check();
      guarded.dispose();
      call().dispose();
    }
    for (const tensor of [x, gate!, up!]) tensor.dispose();
  };

  return { expectPacked, expectPair, expectEveryForm, testSanitized };
}

type Move = (x: Tensor) => Tensor;

// Aligned and not: a distance of 16 bytes between rows, or of one element.
const moves: readonly [name: string, move: Move][] = [
  ["dense", (x) => x],
  ["strided", (x) => stridedRows(x, 8)],
  ["misaligned", (x) => misaligned(x, 1)],
];

// One long row and rows of a pitch: with whole vectors alone, with a tail in the first tile and in
// the last, and more rows than a block takes at once.
const sanitizedShapes = [
  [3, 64],
  [5, 4164],
  [300, 9],
] as const;

function halves(x: Tensor): [Tensor, Tensor] {
  const size = x.shape.at(-1)! / 2;
  return [x.narrow(-1, 0, size), x.narrow(-1, size, size)];
}

function inTurns(x: Tensor): [Tensor, Tensor] {
  const size = x.shape.at(-1)! / 2;
  const pairs = x.reshape([...x.shape.slice(0, -1), size, 2]);
  return [pairs.select(-1, 0), pairs.select(-1, 1)];
}

function compared(out: Tensor, wanted: Float64Array): Tensor {
  expectClose(out, wanted, { ...tolerances.roundedOnce[out.dtype as FloatDType], name: "out" });
  return out;
}
