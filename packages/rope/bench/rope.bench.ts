// npm run bench -- rope [--device cpu|cuda:N] [--json FILE]
import { parseArgs } from "node:util";
import { type RopeLayout, ropeQK, ropeTables } from "@warpwright/rope";
import { type Device, defaultDevice, empty, randn, type Tensor } from "@warpwright/runtime";
import {
  type BenchCase,
  benchmark,
  expectClose,
  type FloatDType,
  tolerances,
  valuesOf,
} from "@warpwright/testing";
import { ropeReference } from "../test/reference.js";

interface Shape {
  batch: number;
  seqlen: number;
  headsQ: number;
  headsK: number;
  headDim: number;
  rotaryDim?: number;
}

interface Options {
  layout: RopeLayout;
  interleaved: boolean;
  inPlace?: boolean;
}

interface Buffers {
  q: Tensor;
  k: Tensor;
  qOut: Tensor;
  kOut: Tensor;
  cos: Tensor;
  sin: Tensor;
  /** The tokens that are compared, as they were. */
  before: readonly (readonly [token: number, Tensor])[];
}

const full: Shape = { batch: 4, seqlen: 8192, headsQ: 32, headsK: 32, headDim: 128 };
// As many heads of k as q has; Llama's and Qwen's; small heads; GLM's half rotary range; heads that
// 16 bytes do not divide; and as many tokens as a decoder has.
const gpuShapes: readonly Shape[] = [
  full,
  { ...full, headsK: 8 },
  { batch: 8, seqlen: 8192, headsQ: 16, headsK: 16, headDim: 64 },
  { ...full, headsK: 8, rotaryDim: 64 },
  { batch: 4, seqlen: 8192, headsQ: 16, headsK: 16, headDim: 72 },
  { batch: 128, seqlen: 1, headsQ: 32, headsK: 8, headDim: 128 },
];
const cpuShapes: readonly Shape[] = [
  { batch: 1, seqlen: 2048, headsQ: 32, headsK: 8, headDim: 128 },
  { batch: 1, seqlen: 2048, headsQ: 16, headsK: 16, headDim: 64 },
];

function shapeOf({ batch, seqlen, headDim }: Shape, heads: number, layout: RopeLayout): number[] {
  return layout === "bhsd" ? [batch, heads, seqlen, headDim] : [batch, seqlen, heads, headDim];
}

function makeCase(shape: Shape, dtype: FloatDType, options: Options): BenchCase<Buffers> {
  const { batch, seqlen, headsQ, headsK, headDim, rotaryDim = headDim } = shape;
  const { layout, interleaved, inPlace = false } = options;
  const width = dtype === "float32" ? 4 : 2;
  // Of q and k every rotated column is read and written, the others where they are not in place;
  // of both tables, in float32, a row for each position.
  const columns = inPlace ? rotaryDim : headDim;
  const bytes = 2 * batch * seqlen * (headsQ + headsK) * columns * width + 4 * seqlen * rotaryDim;
  const words = [layout, interleaved ? "interleaved" : "halves", ...(inPlace ? ["in place"] : [])];
  return {
    name: words.join(" "),
    shape: [batch, seqlen, headsQ, headsK, headDim, rotaryDim],
    dtype,
    bytes,
    setup: (seed, device) => {
      const { cos, sin } = ropeTables({ dim: rotaryDim, maxPositions: seqlen, device });
      const [q, k] = [headsQ, headsK].map((heads) =>
        randomTokens(shapeOf(shape, heads, layout), seed + heads, dtype, device),
      ) as [Tensor, Tensor];
      const [qOut, kOut] = inPlace ? [q, k] : [q, k].map((x) => empty(x.shape, { dtype, device }));
      const before = [0, seqlen >> 1, seqlen - 1].map(
        (token) => [token, tokenOf(q, layout, token).clone()] as const,
      );
      return { q, k, qOut: qOut!, kOut: kOut!, cos, sin, before };
    },
    run: ({ q, k, cos, sin, qOut, kOut }) => {
      ropeQK(q, k, cos, sin, { layout, interleaved, qOut, kOut });
    },
    verify: (buffers) => verify(buffers, shape, dtype, options),
    dispose({ before, ...tensors }) {
      for (const tensor of [...Object.values(tensors), ...before.map(([, x]) => x)]) {
        tensor.dispose();
      }
    },
  };
}

// Random numbers by the gigabyte take longer than the measurement: the last batch's, over and over.
function randomTokens(shape: number[], seed: number, dtype: FloatDType, device: Device): Tensor {
  const one = randn([1, ...shape.slice(1)], { seed, dtype, device });
  const x = empty(shape, { dtype, device });
  for (let batch = 0; batch < shape[0]!; batch++) x.narrow(0, batch, 1).copyFrom(one);
  one.dispose();
  return x;
}

/** The token's heads in the last sequence, [heads, head_dim]. */
function tokenOf(x: Tensor, layout: RopeLayout, token: number): Tensor {
  return x.select(0, -1).select(layout === "bhsd" ? 1 : 0, token);
}

function verify(
  { qOut, cos, sin, before }: Buffers,
  { headDim, rotaryDim = headDim }: Shape,
  dtype: FloatDType,
  { layout, interleaved }: Options,
): void {
  for (const [token, x] of before) {
    const [values, found] = [valuesOf(x), valuesOf(tokenOf(qOut, layout, token))];
    const [cosines, sines] = [cos, sin].map((table) => valuesOf(table.select(0, token)));
    for (let at = 0; at < values.length; at += headDim) {
      const head = values.subarray(at, at + headDim);
      const wanted = ropeReference(head, cosines!, sines!, { rotaryDim, interleaved });
      const out = found.subarray(at, at + headDim);
      expectClose(out, wanted, { dtype, name: "q", ...tolerances.roundedOnce[dtype] });
    }
  }
}

const { values } = parseArgs({
  options: { device: { type: "string" }, json: { type: "string" } },
});
const device = (values.device ?? defaultDevice()) as Device;
const shapes = device === "cpu" ? cpuShapes : gpuShapes;
const ways: readonly Options[] = [
  { layout: "bshd", interleaved: false },
  { layout: "bhsd", interleaved: false },
  { layout: "bshd", interleaved: true },
  { layout: "bhsd", interleaved: true },
];
const cases = [
  ...shapes.flatMap((shape) => ways.map((way) => makeCase(shape, "bfloat16", way))),
  makeCase(shapes[0]!, "bfloat16", { ...ways[0]!, inPlace: true }),
  ...(["float16", "float32"] as const).map((dtype) => makeCase(shapes[1]!, dtype, ways[0]!)),
];
await benchmark("rope", cases, { device, ...(values.json ? { json: values.json } : {}) });
