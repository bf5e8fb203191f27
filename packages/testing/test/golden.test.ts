import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { tensor } from "@warpwright/runtime";
import { describe, expect, test } from "vitest";

import { testDevices } from "../src/cuda.js";
import { type FloatDType, roundAll, valuesOf } from "../src/float64.js";
import {
  checkGolden,
  type GoldenKernel,
  type GoldenRule,
  type GoldenValue,
  goldenCases,
} from "../src/golden.js";
import { ulpOf } from "../src/ulp.js";

const kernels: [GoldenKernel, number][] = [
  ["attention", 69],
  ["geglu", 51],
  ["gelu", 36],
  ["layernorm", 39],
  ["rmsnorm", 49],
  ["rmsnorm-rht-amax", 36],
  ["rope", 61],
];
const named = (kernel: GoldenKernel, name: string) =>
  goldenCases(kernel).find((golden) => golden.name === name)!;

/** Why a tensor of these values is refused, or "". */
function refusal(
  values: ArrayLike<number>,
  expected: ArrayLike<number>,
  dtype: FloatDType,
  rule: GoldenRule = { kind: "float64" },
): string {
  const shape = [values.length];
  const golden = { name: "case/out", data: Float32Array.from(expected), shape, dtype, rule };
  return refusalOf(tensor(Float64Array.from(values), { dtype }), golden);
}

function refusalOf(actual: Parameters<typeof checkGolden>[0], golden: GoldenValue): string {
  try {
    checkGolden(actual, golden);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

describe("goldenCases", () => {
  test.each(kernels)("%s: the exact answers, rounded, are accepted", (kernel, count) => {
    const cases = goldenCases(kernel);
    expect(cases.length).toBe(count);
    for (const golden of cases) {
      expect(golden.op).toBe(kernel);
      for (const expected of Object.values(golden.expected)) {
        const { dtype, shape, data } = expected;
        checkGolden(tensor(data, { dtype, shape }), expected);
      }
    }
  });

  test.each(kernels)("%s: a neighbour of the nearest 16-bit number is refused", (kernel) => {
    for (const golden of goldenCases(kernel)) {
      for (const expected of Object.values(golden.expected)) {
        const { dtype, shape, data, rule } = expected;
        if (rule.kind !== "float64" || dtype === "float32") continue;
        // The element nearest to a representable number: one ulp further is most clearly wrong.
        const values = roundAll(dtype, data);
        const at = nearestToGrid(dtype, values, data);
        values[at]! += ulpOf(dtype, values[at]!) * (values[at]! < 0 ? -1 : 1);
        expect(refusalOf(tensor(values, { dtype, shape }), expected)).toContain("1 of ");
      }
    }
  });

  test("has names, options, shapes and dtypes as recorded", () => {
    const golden = named("rmsnorm", "bfloat16-weight-offset-1");
    expect(golden.options).toEqual({ eps: 1e-6, weightOffset: 1 });
    const { x, weight } = golden.inputs;
    expect([x!.shape, x!.dtype, weight!.shape]).toEqual([[4, 256], "bfloat16", [256]]);
    expect(golden.expected.out).toMatchObject({
      name: "bfloat16-weight-offset-1/out",
      shape: [4, 256],
      dtype: "bfloat16",
      rule: { kind: "float64" },
    });
    expect(golden.torchErr.out).toBeGreaterThan(0);
  });

  test.each([
    ["rmsnorm", "float16-rstd", "rstd", "float32", { kind: "float64" }],
    ["rmsnorm", "float16-llama-residual", "out", "float16", { kind: "rounded" }],
    ["rmsnorm", "float16-llama-residual", "residualOut", "float16", { kind: "rounded" }],
    ["rmsnorm", "bfloat16-residual", "residualOut", "bfloat16", { kind: "float64" }],
    ["layernorm", "bfloat16-stats", "mean", "float32", { kind: "float64" }],
    ["rmsnorm-rht-amax", "float16-signs", "amax", "float32", { kind: "float64" }],
    ["attention", "bfloat16-mha", "lse", "float32", { kind: "float64" }],
    ["rope", "bfloat16-positions", "q", "bfloat16", { kind: "float64" }],
  ] as const)("%s %s: %s is %s under its rule", (kernel, name, result, dtype, rule) => {
    expect(named(kernel, name).expected[result]).toMatchObject({ dtype, rule });
  });

  test("attention's out may be twice as far off as PyTorch's", () => {
    const { expected, torchErr } = named("attention", "bfloat16-mha");
    expect(expected.out!.rule).toEqual({ kind: "absolute", bound: 2 * torchErr.out! + 1e-5 });
  });

  test("other dtypes of inputs are read", () => {
    expect(named("attention", "bfloat16-bool-mask").inputs.mask!.dtype).toBe("bool");
    expect(named("rope", "bfloat16-positions").inputs.positions!.dtype).toBe("int64");
    const { cuSeqlens } = named("rope", "float16-thd").inputs;
    expect([...cuSeqlens!.dataSync()]).toEqual([0, 3, 3, 8]);
  });

  test.each(testDevices())("inputs are made on %s, and anew after a dispose", (device) => {
    const golden = goldenCases("rmsnorm", { device })[0]!;
    const { x } = golden.inputs;
    expect(x!.device).toBe(device);
    expect(golden.inputs.x).toBe(x);
    const values = valuesOf(x!);
    golden.dispose();
    expect(x!.disposed).toBe(true);
    expect(valuesOf(golden.inputs.x!)).toEqual(values);
  });

  test("the formula in float64 gives the recorded values, and a fault in it does not", () => {
    const golden = named("rmsnorm", "float32-eps-matters");
    const [x, weight] = [valuesOf(golden.inputs.x!), valuesOf(golden.inputs.weight!)];
    const norm = (eps: number) =>
      x.map((value, i) => {
        const row = x.subarray(i - (i % 512), i - (i % 512) + 512);
        const meanSquare = row.reduce((sum, v) => sum + v * v, 0) / 512;
        return (value / Math.sqrt(meanSquare + eps)) * weight[i % 512]!;
      });
    const { data } = golden.expected.out!;
    expect(refusal(norm(1e-5), data, "float32")).toBe("");
    expect(refusal(norm(1.001e-5), data, "float32")).toContain("elements differ");
  });
});

describe("checkGolden", () => {
  test.each([
    // bfloat16 is exact at 1; half its ulp there is 2^-8. With |y| = 1 + 2^-8 and max|y| = 2 the
    // float32 part is 6e-6 * 1.0039 + 5e-7 * 2 = 7.02e-6. The values are stored to 1.2e-7.
    ["bfloat16, within half an ulp", "bfloat16", 1 + 2 ** -8, true],
    ["bfloat16, within the float32 part", "bfloat16", 1 + 2 ** -8 + 6.8e-6, true],
    ["bfloat16, beyond both", "bfloat16", 1 + 2 ** -8 + 7.3e-6, false],
    ["float16, within half an ulp", "float16", 1 + 2 ** -11, true],
    ["float16, beyond", "float16", 1 + 2 ** -11 + 7.3e-6, false],
    // 6e-6 * 1.000007 + 5e-7 * 2
    ["float32, within", "float32", 1 + 6.8e-6, true],
    // 59 * 2^-23 = 7.03e-6, and half an ulp of float32 would be 6e-8 more
    ["float32, beyond by less than half an ulp", "float32", 1 + 59 * 2 ** -23, false],
  ] as const)("%s", (_, dtype, y, accepted) => {
    expect(refusal([1, 2], [y, 2], dtype) === "").toBe(accepted);
    expect(refusal([-1, 2], [-y, 2], dtype) === "").toBe(accepted);
  });

  test("the largest value's share leaves infinities out", () => {
    expect(refusal([Infinity, 1], [Infinity, 1 + 1e-5], "float32")).toContain("1 of 2");
  });

  test.each([
    ["NaN where it is expected", [NaN], [NaN], true],
    ["NaN elsewhere", [NaN], [1], false],
    ["a number for NaN", [1], [NaN], false],
    ["-inf where it is expected", [-Infinity], [-Infinity], true],
    ["inf for -inf", [Infinity], [-Infinity], false],
    ["a number for inf", [65504], [Infinity], false],
    ["inf for what overflows float16", [Infinity], [70000], true],
  ])("%s", (_, actual, expected, accepted) => {
    expect(refusal(actual, expected, "float16") === "").toBe(accepted);
  });

  test.each([
    // 1000 values of 1 in float16, whose ulp is 2^-10: some of them are moved by some ulp.
    ["0.2 % of them by 2 ulp", 2, 2, true],
    ["more of them by 1 ulp", 3, 1, false],
    ["one by 3 ulp", 1, 3, false],
  ])("values rounded by contract: %s", (_, count, ulps, accepted) => {
    const values = new Array(1000).fill(1).map((x, i) => (i < count ? x + ulps * 2 ** -10 : x));
    const message = refusal(values, new Array(1000).fill(1), "float16", { kind: "rounded" });
    expect(message === "").toBe(accepted);
  });

  test("names the case, the place, both values and the error", () => {
    const { expected } = named("rmsnorm", "float32-4x64");
    const { data, shape } = expected.out!;
    const values = Float64Array.from(data);
    values[65] = 100;
    const wanted = data[65]!;
    expect(refusalOf(tensor(values, { shape, dtype: "float32" }), expected.out!)).toContain(
      "float32-4x64/out: 1 of 256 elements differ; " +
        `worst at [1, 1] (65): got 100, expected ${wanted}, off by `,
    );
    expect(refusal([1, 1.5], [1, 1], "float16", { kind: "rounded" })).toBe(
      "case/out: 1 of 2 differ; worst at [1] (1): got 1.5, expected 1, off by 0.5 = 512 ulp; " +
        "allowed 0.2 % of them, by at most 2 ulp",
    );
  });

  test("another dtype or shape is refused", () => {
    const { out } = named("rmsnorm", "float32-4x64").expected;
    const x = tensor(out!.data, { shape: [4, 64] });
    expect(refusalOf(x.to("float16"), out!)).toBe(
      "float32-4x64/out: expected dtype float32, got float16",
    );
    expect(refusalOf(x.view([64, 4]), out!)).toBe(
      "float32-4x64/out: expected shape [4, 64], got [64, 4]",
    );
  });
});

describe("golden files", () => {
  const directory = mkdtempSync(join(tmpdir(), "golden-"));
  const write = (bytes: Uint8Array | string) =>
    writeFileSync(join(directory, "gelu.safetensors"), bytes);
  const refused = (message: RegExp) =>
    expect(() => goldenCases("gelu", { directory })).toThrow(
      expect.objectContaining({ code: "ERR_FILE", message: expect.stringMatching(message) }),
    );

  test("a missing one says where they are", () => {
    refused(/^testing: no golden file .*gelu\.safetensors; the npm package leaves them out/);
  });

  test("one that is something else is refused", () => {
    write("no tensors here");
    refused(/gelu\.safetensors is not a \.safetensors file$/);
    write("");
    refused(/gelu\.safetensors is not a \.safetensors file$/);
    write(Buffer.concat([Buffer.from(BigUint64Array.of(2n).buffer), Buffer.from("{}")]));
    refused(/gelu\.safetensors has no list of cases in its metadata$/);
    rmSync(directory, { recursive: true });
  });
});

function nearestToGrid(dtype: FloatDType, values: Float64Array, data: Float32Array): number {
  const largest = Math.max(...values.filter(Number.isFinite).map(Math.abs));
  let best = 0;
  let least = Infinity;
  for (const [i, value] of values.entries()) {
    // A much smaller value's neighbours are within the share of the largest.
    if (Math.abs(value) < 0.05 * largest) continue;
    const share = Math.abs(value - data[i]!) / ulpOf(dtype, value);
    if (share < least) [best, least] = [i, share];
  }
  return best;
}
