// rope's functions, for the suites that every kernel repeats.
import { type Tensor, tidy } from "@warpwright/runtime";
import {
  type ArgumentSettings,
  type Callee,
  calleeOf,
  rows,
  type ScalarOption,
  type TensorArgument,
} from "@warpwright/testing/vitest";
import { type RopeOptions, type RopeQKOptions, rope, ropeQK } from "../src/index.js";

const maxPositions = 16;

const scalars: Record<string, ScalarOption> = {
  layout: { word: "thd", of: ["bshd", "bhsd", "thd"], not: ["sbhd", "BSHD"] },
  interleaved: { flag: true },
  rotaryDim: { number: 4, min: 0, integer: true },
  rotaryOffset: { number: 2, min: 0, integer: true },
  offset: { number: 3, integer: true },
  inverse: { flag: true },
};

/** cos or sin: of its own dtype, and the same for all rows. */
function table(widthFor: (size: number) => number, settings: ArgumentSettings): TensorArgument {
  const shape = (_: readonly number[], size: number) => [maxPositions, widthFor(size)];
  return { ...rows({ shape, ...settings }), kind: "other" };
}

// For the suites of refusals: "thd" of 8 columns, of which the middle 4 are rotated, so that those
// at both ends are what they were.
const tokens: ArgumentSettings = { shape: (outer, size) => [...outer, 2, size] };
const plain = () => ({ layout: "thd", rotaryOffset: 2 });
const wantedX = "of 3 dimensions, [tokens, heads, head_dim], got shape";
const wantedTable = "cos of 2 dimensions, [max_positions, rotary_dim / 2], got shape";

function input(name: string): TensorArgument {
  return rows({
    ...tokens,
    refused: [[], [8], [2, 8], [1, 2, 2, 8]].map((shape) => {
      const text = `[${shape.join(", ")}]`;
      return [`${name} of shape ${text}`, shape, `${name} ${wantedX} ${text}`];
    }),
  });
}

const key = rows({
  ...tokens,
  refused: [[], [2, 8], [3, 2, 8], [2, 2, 7], [2, 2, 16], [1, 2, 2, 8]].map((shape) => {
    const text = `[${shape.join(", ")}]`;
    return [`k of shape ${text}`, shape, `k of shape [2, heads, 8], got ${text}`];
  }),
});

const smallTables = {
  cos: table(() => 2, {
    dtype: "any",
    refused: [[], [2], [16, 2, 1]].map((shape) => {
      const text = `[${shape.join(", ")}]`;
      return [`cos of shape ${text}`, shape, `${wantedTable} ${text}`];
    }),
  }),
  sin: table(() => 2, {}),
};

/** For the suites of refusals. */
export const callees: readonly Callee[] = [
  calleeOf({
    op: "rope",
    inputs: { x: input("x"), ...smallTables },
    outputs: { out: rows({ ...tokens, mayBe: ["x"] }) },
    options: scalars,
    unknown: [
      ["interleave", '"interleaved"'],
      ["position_ids", '"positions"'],
      ["qOut", '"out"'],
      ["conjugate", '"out"'],
    ],
    more: plain,
    call: (options: RopeOptions, x: Tensor, cos: Tensor, sin: Tensor) => rope(x, cos, sin, options),
  }),
  calleeOf({
    op: "ropeQK",
    inputs: { q: input("q"), k: key, ...smallTables },
    outputs: { qOut: rows({ ...tokens, mayBe: ["q"] }), kOut: rows({ ...tokens, mayBe: ["k"] }) },
    options: scalars,
    unknown: [
      ["out", '"qOut" or "kOut"'],
      ["cu_seqlens", '"cuSeqlens"'],
    ],
    more: plain,
    call: (options: RopeQKOptions, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) =>
      ropeQK(q, k, cos, sin, options).q,
  }),
];

type Options = RopeOptions & RopeQKOptions;
type Run = (options: Options, inputs: readonly Tensor[]) => Tensor;

/** Runs on rows of any number of dimensions; the result has the shape of the first input. */
function onRows(options: Options, inputs: readonly Tensor[], run: Run): Tensor {
  const { shape } = inputs[0]!;
  if (shape.length < 5) {
    return tidy(() => run(mapOutputs(options, lifted), inputs.map(lifted)).view(shape));
  }
  for (let i = 0; i < shape[0]!; i++) {
    const piece = (tensor: Tensor) => tensor.select(0, i);
    onRows(mapOutputs(options, piece), inputs.map(piece), run);
  }
  return (options.out ?? options.qOut)!;
}

/** Rows as heads of one token; of three dimensions and more the first are batch and sequence. */
function lifted(x: Tensor): Tensor {
  if (x.shape.length === 3) return x.unsqueeze(1);
  return x.shape.length < 3 ? lifted(x.unsqueeze(0)) : x;
}

function mapOutputs(options: Options, map: (output: Tensor) => Tensor): Options {
  const mapped = Object.entries(options).map(([name, value]) =>
    /out$/i.test(name) ? [name, map(value as Tensor)] : [name, value],
  );
  return Object.fromEntries(mapped);
}

const tables = {
  cos: table((size) => size >> 1, { dtype: "any" }),
  sin: table((size) => size >> 1, {}),
};

/** For the suites of results: a row's does not depend on where among the others it is. */
export const functions: readonly Callee[] = [
  calleeOf({
    op: "rope",
    inputs: { x: rows(), ...tables },
    outputs: { out: rows({ mayBe: ["x"] }) },
    more: () => ({ offset: 3 }),
    call: (options: Options, x: Tensor, cos: Tensor, sin: Tensor) =>
      onRows(options, [x], (given, [one]) => rope(one!, cos, sin, given)),
  }),
  calleeOf({
    op: "ropeQK",
    inputs: { q: rows(), k: rows(), ...tables },
    outputs: { qOut: rows({ mayBe: ["q"] }), kOut: rows({ mayBe: ["k"] }) },
    more: () => ({ offset: 3, interleaved: true }),
    call: (options: Options, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) =>
      onRows(options, [q, k], (given, [a, b]) => ropeQK(a!, b!, cos, sin, given).q),
  }),
];
