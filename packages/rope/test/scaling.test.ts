// What each scaling is by its closed form, and transformers' formulas in Python's float64 for
// configurations that models have.
import { tensor } from "@warpwright/runtime";
import { expectClose, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { type RopeScaling, rope, ropeTables } from "../src/index.js";
import { frequenciesOf, plainFrequencies } from "../src/scaling.js";

type Column = readonly [column: number, frequency: number];

function expectColumns(frequencies: Float64Array, wanted: readonly Column[]): void {
  for (const [column, frequency] of wanted) {
    expect(frequencies[column]! / frequency).toBeCloseTo(1, 13);
  }
}

describe("frequencies", () => {
  test("plain: from 1 down, theta ** (-2 i / dim)", () => {
    expect([...plainFrequencies(4, 10_000)]).toEqual([1, 0.01]);
    expectColumns(plainFrequencies(128, 500_000), [
      [0, 1],
      [32, 500_000 ** -0.5],
      [63, 500_000 ** (-126 / 128)],
    ]);
  });

  test("linear: row 12 of factor 4 is row 3 without", () => {
    const scaling: RopeScaling = { type: "linear", factor: 4 };
    const scaled = ropeTables({ dim: 32, maxPositions: 16, scaling });
    const plain = ropeTables({ dim: 32, maxPositions: 16 });
    for (const table of ["cos", "sin"] as const) {
      const wanted = valuesOf(plain[table].select(0, 3));
      expectClose(scaled[table].select(0, 12), wanted, { rtol: 1e-7 });
    }
  });

  test("dynamic: the slowest turns factor length / original - factor + 1 times more slowly", () => {
    const scaling: RopeScaling = {
      type: "dynamic",
      factor: 4,
      originalMaxPositionEmbeddings: 2048,
    };
    const plain = plainFrequencies(64, 10_000);
    const at = (maxPositions: number) =>
      frequenciesOf({ dim: 64, theta: 10_000, maxPositions }, scaling).frequencies;
    expectColumns(at(8192), [
      [0, 1],
      [1, 0.6903452539581781],
      [16, 0.002661101841987007],
      [31, plain[31]! / 13],
    ]);
    expect(at(2048)).toEqual(plain);
    expect(at(100)).toEqual(plain);
    expect(at(2049)).not.toEqual(plain);
    // One pair alone has nothing to stretch.
    expect([
      ...frequenciesOf({ dim: 2, theta: 1e4, maxPositions: 8192 }, scaling).frequencies,
    ]).toEqual([1]);
  });

  test("llama3: short wavelengths as they are, long ones divided, a ramp between", () => {
    const scaling: RopeScaling = {
      type: "llama3",
      factor: 8,
      lowFreqFactor: 1,
      highFreqFactor: 4,
      originalMaxPositionEmbeddings: 8192,
    };
    const plan = { dim: 128, theta: 500_000, maxPositions: 131_072 };
    const { frequencies, attentionFactor } = frequenciesOf(plan, scaling);
    const plain = plainFrequencies(128, 500_000);
    expect(attentionFactor).toBe(1);
    expect(frequencies.subarray(0, 29)).toEqual(plain.subarray(0, 29));
    expect(frequencies.subarray(35)).toEqual(plain.subarray(35).map((value) => value / 8));
    expectColumns(frequencies, [
      [29, 0.002166570763503359],
      [31, 0.0008567514129196321],
      [33, 0.00031269375038406517],
    ]);
  });

  test("yarn: a ramp from column 23 to 40 for Qwen's 32,768 x 4", () => {
    const scaling: RopeScaling = {
      type: "yarn",
      factor: 4,
      originalMaxPositionEmbeddings: 32_768,
    };
    const plan = { dim: 128, theta: 1e6, maxPositions: 131_072 };
    const { frequencies, attentionFactor } = frequenciesOf(plan, scaling);
    const plain = plainFrequencies(128, 1e6);
    expect(attentionFactor).toBe(0.1 * Math.log(4) + 1);
    expect(frequencies.subarray(0, 24)).toEqual(plain.subarray(0, 24));
    expect(frequencies.subarray(40)).toEqual(plain.subarray(40).map((value) => value / 4));
    expectColumns(frequencies, [
      [24, 0.005375321490790102],
      [30, 0.0010643609812470017],
      [39, 6.490394320837028e-5],
    ]);
  });

  test("yarn: gpt-oss does not truncate, DeepSeek has mscales", () => {
    const plan = { dim: 64, theta: 150_000, maxPositions: 131_072 };
    const scaling: RopeScaling = {
      ...{ type: "yarn", factor: 32, originalMaxPositionEmbeddings: 4096 },
      ...{ betaFast: 32, betaSlow: 1, truncate: false },
    };
    expectColumns(frequenciesOf(plan, scaling).frequencies, [
      [8, 0.050813274815461475],
      [9, 0.03170569618466377],
      [12, 0.006794959489732219],
      [17, 0.00012931870124506317],
      [31, 3.0235114281192144e-7],
    ]);
    const factorOf = (mscales: object) =>
      frequenciesOf(plan, { type: "yarn", factor: 40, ...mscales }).attentionFactor;
    expect(factorOf({})).toBeCloseTo(1.3688879454113936, 14);
    expect(factorOf({ mscale: 0.8, mscaleAllDim: 1 })).toBeCloseTo(0.9461039968029624, 14);
    expect(factorOf({ mscale: 1, mscaleAllDim: 1 })).toBe(1);
    expect(factorOf({ mscale: 1 })).toBeCloseTo(1.3688879454113936, 14);
    expect(factorOf({ mscale: 1, mscaleAllDim: 2, attentionFactor: 1.5 })).toBe(1.5);
    expect(frequenciesOf(plan, { type: "yarn", factor: 0.5 }).attentionFactor).toBe(1);
  });

  test("longrope: a divisor for each column, by the length; Phi-3's attention factor", () => {
    const scaling: RopeScaling = {
      type: "longrope",
      shortFactor: [1, 2],
      longFactor: [4, 8],
      originalMaxPositionEmbeddings: 4096,
    };
    const at = (maxPositions: number, more: object = {}) =>
      frequenciesOf({ dim: 4, theta: 10_000, maxPositions }, { ...scaling, ...more });
    expect([...at(4096).frequencies]).toEqual([1, 0.005]);
    expect([...at(4097).frequencies]).toEqual([0.25, 0.00125]);
    expect(at(131_072).attentionFactor).toBeCloseTo(1.1902380714238083, 14);
    expect(at(4096).attentionFactor).toBe(1);
    expect(at(4096, { factor: 32 }).attentionFactor).toBeCloseTo(1.1902380714238083, 14);
    expect(at(131_072, { attentionFactor: 1.25 }).attentionFactor).toBe(1.25);
  });

  test.each([
    { type: "yarn", factor: 4, originalMaxPositionEmbeddings: 16 },
    { type: "longrope", shortFactor: [1, 1], longFactor: [2, 2], factor: 32 },
  ] as const)("the attention factor is in both tables: $type", (scaling) => {
    const plan = { dim: 4, theta: 10_000, maxPositions: 64 };
    const { frequencies, attentionFactor } = frequenciesOf(plan, scaling);
    const { cos, sin } = ropeTables({ ...plan, scaling });
    expectClose(cos.select(0, 0), [attentionFactor, attentionFactor], { ulps: 0.5 });
    const wanted = [...frequencies].map((one) => attentionFactor * Math.sin(63 * one));
    expectClose(sin.select(0, 63), wanted, { ulps: 0.5 });
    // A vector grows by it when rotated.
    const out = rope(tensor([[[[1, 1, 1, 1]]]]), cos, sin, { offset: 30 });
    expect(Math.hypot(...valuesOf(out))).toBeCloseTo(2 * attentionFactor, 5);
  });
});
