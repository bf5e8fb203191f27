// attention's functions, for the suites that every kernel repeats.
import type { Tensor } from "@warpwright/runtime";
import {
  type Callee,
  calleeOf,
  type RefusedShape,
  rows,
  type ScalarOption,
  type TensorArgument,
} from "@warpwright/testing/vitest";
import {
  type AttentionOptions,
  attention,
  attentionWithLse,
  type MergeAttentionOptions,
  mergeAttention,
} from "../src/index.js";

// As many positions as heads, so that both layouts have the same shape.
const heads = 2;

type Shape = readonly number[];

function other(settings: Partial<TensorArgument>): TensorArgument {
  return { ...rows(settings), kind: "other" };
}

/** [batch, 2, 2, head_dim] */
function headRows(refused: readonly RefusedShape[], seqlen = heads): TensorArgument {
  return rows({ shape: ([batch], size) => [batch!, seqlen, heads, size], refused, mayBe: [] });
}

/** float32 [batch, 2, 2]; where the suites of overlaps are not meant, a part of each batch entry. */
function lseRows(refused: readonly RefusedShape[], seqlen = heads): TensorArgument {
  const shape = ([batch]: Shape) => [batch!, heads, seqlen];
  const settings = { shape, dtype: "float32", refused, mayBe: [] } as const;
  return seqlen === heads ? other(settings) : rows(settings);
}

function wrong(name: string, wanted: string, shapes: readonly Shape[]): readonly RefusedShape[] {
  return shapes.map((shape) => [
    `${name} of shape [${shape.join(", ")}]`,
    shape,
    `${name} ${wanted}, got${wanted.startsWith("to have") ? " shape" : ""} [${shape.join(", ")}]`,
  ]);
}

const notFour: readonly Shape[] = [[], [2], [2, 2, 8], [2, 2, 2, 8, 1]];

function refusedFor(name: string, good: string, shapes: readonly Shape[]): readonly RefusedShape[] {
  return [
    ...wrong(name, "to have 4 dimensions", notFour),
    ...wrong(name, `of shape ${good}`, shapes),
  ];
}

const options: Record<string, ScalarOption> = {
  causal: { flag: true },
  windowLeft: { number: 3, min: -1, integer: true },
  windowRight: { number: 0, min: -1, integer: true },
  softcap: { number: 2, min: 0 },
  layout: { word: "bhsd", of: ["bshd", "bhsd"], not: ["thd", "sbhd"] },
  outDtype: { word: "float32", of: ["float32", "float16", "bfloat16"], not: ["int32", "bf16"] },
};

const unknown: Callee["unknown"] = [
  ["softmax_scale", '"softmaxScale"'],
  ["window_left", '"windowLeft"'],
  ["sink", '"sinks"'],
];

function attentionCallee(
  op: string,
  call: (options: AttentionOptions, q: Tensor, k: Tensor, v: Tensor) => Tensor,
  seqlen = heads,
): Callee {
  const outShapes = [...notFour, [2, 2, 2, 9], [1, 2, 2, 8], [2, 3, 2, 8], [2, 2, 3, 8]];
  const lseShapes = [[], [2, 2], [2, 4], [8], [2, 2, 3], [2, 3, 2], [1, 2, 2], [2, 2, 2, 1]];
  return calleeOf({
    ...{ op, options, unknown, call },
    inputs: {
      q: headRows(
        [
          ...wrong("q", "to have 4 dimensions", notFour),
          ["q of another batch", [3, 2, 2, 8], "k of shape [3, 2, 2, 8], got [2, 2, 2, 8]"],
          ["q of another head dim", [2, 2, 2, 9], "k of shape [2, 2, 2, 9], got [2, 2, 2, 8]"],
          [
            "AT-21: q of 3 heads",
            [2, 2, 3, 8],
            "the heads of q to be a multiple of those of k, got 3 and 2",
          ],
        ],
        seqlen,
      ),
      k: headRows(
        [
          ...refusedFor("k", "[2, 2, 2, 8]", [
            [1, 2, 2, 8],
            [2, 2, 2, 7],
          ]),
          ["AT-19: k shorter than v", [2, 1, 2, 8], "v of shape [2, 1, 2, 8], got [2, 2, 2, 8]"],
          ["k of other heads than v", [2, 2, 1, 8], "v of shape [2, 2, 1, 8], got [2, 2, 2, 8]"],
        ],
        seqlen,
      ),
      v: headRows(
        refusedFor("v", "[2, 2, 2, 8]", [
          [1, 2, 2, 8],
          [2, 3, 2, 8],
          [2, 2, 4, 8],
        ]),
        seqlen,
      ),
    },
    outputs: {
      out: headRows(wrong("out", "of shape [2, 2, 2, 8]", outShapes), seqlen),
      lse: lseRows(wrong("lse", "of shape [2, 2, 2]", lseShapes), seqlen),
    },
  });
}

const lseShapes = [[], [2, 2], [8], [2, 2, 3], [1, 2, 2]];

function mergeCallee(seqlen = heads): Callee {
  const refusedLse = (name: string) => wrong(name, "of shape [2, 2, 2]", lseShapes);
  const refusedOut = (name: string) =>
    wrong(name, "of shape [2, 2, 2, 8]", [...notFour, [2, 2, 2, 7], [1, 2, 2, 8]]);
  return calleeOf({
    op: "mergeAttention",
    inputs: {
      outA: headRows(
        [
          ...wrong("outA", "to have 4 dimensions", notFour),
          ["outA of another batch", [3, 2, 2, 8], "lseA of shape [3, 2, 2], got [2, 2, 2]"],
        ],
        seqlen,
      ),
      lseA: lseRows(refusedLse("lseA"), seqlen),
      outB: headRows(refusedOut("outB"), seqlen),
      lseB: lseRows(refusedLse("lseB"), seqlen),
    },
    outputs: {
      out: { ...headRows(refusedOut("out"), seqlen), mayBe: ["outA", "outB"] },
      lse: { ...lseRows(refusedLse("lse"), seqlen), mayBe: ["lseA", "lseB"] },
    },
    options: { layout: options["layout"]! },
    unknown: [["outDtype", '"out"']],
    call: (given: MergeAttentionOptions, a: Tensor, lseA: Tensor, b: Tensor, lseB: Tensor) =>
      mergeAttention(a, lseA, b, lseB, given).out,
  });
}

function calleesOf(seqlen?: number): readonly Callee[] {
  return [
    attentionCallee("attention", (given, q, k, v) => attention(q, k, v, given), seqlen),
    attentionCallee(
      "attentionWithLse",
      (given, q, k, v) => attentionWithLse(q, k, v, given).out,
      seqlen,
    ),
    mergeCallee(seqlen),
  ];
}

export const callees = calleesOf();

/** With several tiles of keys and blocks of queries for each head. */
export const longCallees = calleesOf(150);

export const attentionCallees = callees.slice(0, 2);
