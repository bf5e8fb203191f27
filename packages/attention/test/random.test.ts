// Sizes, options and layouts of memory in random combinations.
import { type Device, randn, type Tensor, tensor } from "@warpwright/runtime";
import { expectClose, inputLayouts, poisoned, testDevices, valuesOf } from "@warpwright/testing";
import { describe, test } from "vitest";
import { Draw, seeds } from "../../../tooling/vitest/draw.js";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { type AttentionOptions, attentionWithLse, mergeAttention } from "../src/index.js";
import { dtypes, expectAttention, type Inputs } from "./support.js";

// Around tiles and blocks, and none of all.
const seqlens = [0, 1, 2, 5, 16, 31, 63, 64, 65, 97];
// Around the padded widths, multiples of 16 bytes and not.
const headDims = [1, 3, 8, 40, 63, 64, 65, 96, 100, 128, 160, 193, 256];
const windows = [-1, 0, 1, 7, 64, 2 ** 53 - 1];
// Products in q kᵀ and p v: the reference forms them one by one.
const mostProducts = isEmulated ? 40_000 : 300_000;

interface Drawn {
  inputs: Inputs;
  options: AttentionOptions;
  /** [batch, heads, seqlen of q, seqlen of k] */
  scores: readonly number[];
}

function drawSizes(draw: Draw): { b: number; hk: number; h: number; d: number; dv: number } {
  const [b, hk] = [1 + draw.below(3), 1 + draw.below(3)];
  const d = draw.of(headDims);
  return { b, hk, h: hk * draw.of([1, 2, 3, 8]), d, dv: draw.oneIn(2) ? d : draw.of(headDims) };
}

function drawCall(draw: Draw, device: Device): Drawn {
  const { b, hk, h, d, dv } = drawSizes(draw);
  const fits = seqlens.filter((size) => b * h * size * size * (d + dv) <= mostProducts);
  const [sq, sk] = [draw.of(fits), draw.of(fits)];
  const layout = draw.of(["bshd", "bhsd"] as const);
  const dtype = draw.of(dtypes);
  const make = (heads: number, seqlen: number, columns: number, seed: number): Tensor => {
    const shape = layout === "bshd" ? [b, seqlen, heads, columns] : [b, heads, seqlen, columns];
    const place = draw.of(inputLayouts);
    return place.make(randn(shape, { seed: 3 * draw.seed + seed, dtype, device }));
  };
  const inputs = { q: make(h, sq, d, 0), k: make(hk, sk, d, 1), v: make(hk, sk, dv, 2) };
  const scores = [b, h, sq, sk];
  return { inputs, scores, options: { layout, ...drawOptions(draw, scores, device) } };
}

function drawOptions(draw: Draw, scores: readonly number[], device: Device): AttentionOptions {
  const [, heads] = scores as [number, number];
  return {
    causal: draw.oneIn(3),
    windowLeft: draw.of(windows),
    windowRight: draw.of(windows),
    softcap: draw.of([0, 0, 1, 30]),
    softmaxScale: draw.of([undefined, undefined, 0.05, 1]),
    mask: draw.oneIn(2) ? drawMask(draw, scores, device) : undefined,
    sinks: draw.oneIn(3) ? randn([heads], { seed: draw.seed, device }) : undefined,
    outDtype: draw.oneIn(3) ? draw.of(dtypes) : undefined,
  };
}

/** Dimensions of the scores, or 1, or left out; cut from a larger mask, to hide one key in five. */
function drawMask(draw: Draw, scores: readonly number[], device: Device): Tensor {
  const shape = scores.slice(draw.below(4)).map((size) => (draw.oneIn(3) ? 1 : size));
  const [last, cut] = [shape.at(-1)!, draw.below(4)];
  const larger = [...shape.slice(0, -1), last + cut];
  const values = valuesOf(randn(larger, { seed: draw.seed }));
  const isHidden = (value: number) => value < -0.85;
  const mask = draw.oneIn(2)
    ? tensor(
        Uint8Array.from(values, (value) => (isHidden(value) ? 0 : 1)),
        { shape: larger, dtype: "bool", device },
      )
    : tensor(
        values.map((value) => (isHidden(value) ? -Infinity : value)),
        { shape: larger, dtype: draw.of(dtypes), device },
      );
  return mask.narrow(-1, cut, last);
}

describe.each(testDevices())("random calls on %s", (device) => {
  test.each(seeds(isEmulated ? 16 : 120))("draw %i", (seed) => {
    const draw = new Draw(seed);
    const { inputs, options } = drawCall(draw, device);
    const { out, lse } = expectAttention(inputs, options);
    const place = draw.of(inputLayouts);
    const given = {
      out: place.make(poisoned(out.shape, { dtype: out.dtype, device })),
      lse: place.make(poisoned(lse.shape, { device })),
    };
    attentionWithLse(inputs.q, inputs.k, inputs.v, { ...options, ...given });
    expectClose(given.out, valuesOf(out), { atol: 0 });
    expectClose(given.lse, valuesOf(lse), { atol: 0 });
  });

  test.each(seeds(isEmulated ? 8 : 60))("draw %i, merged from parts of the keys", (seed) => {
    const draw = new Draw(-seed);
    const { inputs, options, scores } = drawCall(draw, device);
    const { q, k, v } = inputs;
    const { layout, mask, softcap, softmaxScale } = options;
    const shared = { layout, softcap, softmaxScale, outDtype: "float32" } as const;
    const axis = layout === "bshd" ? 1 : 2;
    const sk = scores[3]!;
    const cuts = [0, draw.below(sk + 1), draw.below(sk + 1), sk].sort((a, b) => a - b);
    const parts = cuts.slice(1).map((end, i) => {
      const [begin, count] = [cuts[i]!, end - cuts[i]!];
      const [keys, values] = [k, v].map((x) => x.narrow(axis, begin, count));
      const part = mask?.shape.at(-1) === sk && sk > 1 ? mask.narrow(-1, begin, count) : mask;
      const sinks = i === 1 ? options.sinks : undefined;
      return attentionWithLse(q, keys!, values!, { ...shared, mask: part, sinks });
    });
    const merged = parts.reduce((a, b) => mergeAttention(a.out, a.lse, b.out, b.lse, { layout }));
    const whole = attentionWithLse(q, k, v, { ...shared, mask, sinks: options.sinks });
    // Weights of 16 bits are relative to the largest of their own part.
    const atol = q.dtype === "float32" || device === "cpu" ? 1e-5 : 0.02;
    expectClose(merged.out, valuesOf(whole.out), { atol, rtol: 1e-5 });
    expectClose(merged.lse, valuesOf(whole.lse), { atol: 1e-5, rtol: 1e-5 });
  });
});
