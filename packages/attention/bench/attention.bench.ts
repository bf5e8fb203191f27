// npm run bench -- attention [--device cpu|cuda:N] [--json FILE]
import { parseArgs } from "node:util";
import { attention } from "@warpwright/attention";
import { type Device, defaultDevice, empty, randn, type Tensor } from "@warpwright/runtime";
import { type BenchCase, benchmark, expectClose, type FloatDType } from "@warpwright/testing";
import { attentionReference, type Values } from "../test/reference.js";

interface Buffers {
  q: Tensor;
  k: Tensor;
  v: Tensor;
  out: Tensor;
}

interface Case {
  b: number;
  s: number;
  h: number;
  hk: number;
  d: number;
  /** Of v and out. */
  dv: number;
  causal: boolean;
  dtype: FloatDType;
}

/** Hidden size 2048 and 16 Ki tokens, cut into heads of 64, 128 and 256 and sequences of 512 on. */
const gpuCases: readonly Case[] = [64, 128, 256].flatMap((d) =>
  [512, 1024, 2048, 4096, 8192, 16_384].flatMap((s) =>
    [false, true].map((causal): Case => {
      const h = 2048 / d;
      return { b: 16_384 / s, s, h, hk: h, d, dv: d, causal, dtype: "bfloat16" };
    }),
  ),
);
/** Other heads; one long sequence with eight query heads to a head of k and v; other dtypes. */
const moreGpuCases: readonly Case[] = [
  ...[
    [96, 96],
    [192, 128],
  ].flatMap(([d, dv]) =>
    [false, true].map(
      (causal): Case => ({
        b: 4,
        s: 4096,
        h: 16,
        hk: 16,
        d: d!,
        dv: dv!,
        causal,
        dtype: "bfloat16",
      }),
    ),
  ),
  ...[2048, 8192, 32_768].map(
    (s): Case => ({ b: 1, s, h: 64, hk: 8, d: 128, dv: 128, causal: true, dtype: "bfloat16" }),
  ),
  { b: 4, s: 2048, h: 16, hk: 16, d: 128, dv: 128, causal: false, dtype: "float16" },
  { b: 4, s: 2048, h: 16, hk: 16, d: 128, dv: 128, causal: false, dtype: "float32" },
];
const cpuCases: readonly Case[] = [
  { b: 1, s: 1024, h: 16, hk: 16, d: 64, dv: 64, causal: false, dtype: "float32" },
  { b: 1, s: 1024, h: 16, hk: 16, d: 128, dv: 128, causal: false, dtype: "float32" },
  { b: 1, s: 1024, h: 16, hk: 16, d: 128, dv: 128, causal: true, dtype: "float32" },
  { b: 1, s: 1024, h: 16, hk: 4, d: 128, dv: 128, causal: true, dtype: "bfloat16" },
];

// Two products, of 2 s^2 d and 2 s^2 dv, for every head; a causal mask leaves half of them.
function flopsOf({ b, s, h, d, dv, causal }: Case): number {
  return (2 * b * h * s * s * (d + dv)) / (causal ? 2 : 1);
}

function makeCase(of: Case): BenchCase<Buffers> {
  const { b, s, h, hk, d, dv, causal, dtype } = of;
  return {
    name: `${causal ? "causal" : "full"} h${h}/${hk}`,
    shape: [b, s, h, d],
    dtype,
    // q and out once, k and v once.
    bytes: b * s * (h + hk) * (d + dv) * (dtype === "float32" ? 4 : 2),
    setup: (seed, device) => ({
      q: randn([b, s, h, d], { seed: 3 * seed, dtype, device }),
      k: randn([b, s, hk, d], { seed: 3 * seed + 1, dtype, device }),
      v: randn([b, s, hk, dv], { seed: 3 * seed + 2, dtype, device }),
      out: empty([b, s, h, dv], { dtype, device }),
    }),
    run({ q, k, v, out }) {
      attention(q, k, v, { causal, out });
    },
    verify: (buffers) => verifyQueries(buffers, of),
    dispose(buffers) {
      for (const tensor of Object.values(buffers) as Tensor[]) tensor.dispose();
    },
  };
}

/** Three queries of the last head against float64. */
function verifyQueries({ q, k, v, out }: Buffers, { b, s, h, hk, causal, dtype }: Case): void {
  for (const query of [0, s >> 1, s - 1]) {
    const keys = causal ? query + 1 : s;
    const values = (x: Tensor, heads: number, first: number, count: number): Values => {
      const rows = x
        .select(0, b - 1)
        .select(1, heads - 1)
        .narrow(0, first, count);
      const data = Float64Array.from(rows.to("float32").dataSync() as Float32Array);
      return { data, shape: [1, 1, count, x.shape[3]!] };
    };
    const wanted = attentionReference(
      values(q, h, query, 1),
      values(k, hk, 0, keys),
      values(v, hk, 0, keys),
    );
    const found = values(out, h, query, 1);
    const atol = dtype === "float32" ? 1e-5 : 0.02;
    expectClose(found.data, wanted.out, { dtype, name: "out", atol });
  }
}

const { values } = parseArgs({
  options: { device: { type: "string" }, json: { type: "string" } },
});
const device = (values.device ?? defaultDevice()) as Device;
const cases = device === "cpu" ? cpuCases : [...gpuCases, ...moreGpuCases];
const report = await benchmark("attention", cases.map(makeCase), {
  device,
  ...(values.json ? { json: values.json } : {}),
});
report.results.forEach(({ name, shape, dtype, medianUs }, i) => {
  // flops / (us * 1e-6 s) / 1e12
  const tflops = flopsOf(cases[i]!) / medianUs / 1e6;
  console.log(`${name} [${shape.join(", ")}] ${dtype}: ${tflops.toPrecision(4)} TFLOP/s`);
});
