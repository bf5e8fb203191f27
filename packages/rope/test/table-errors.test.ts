// One test for each refusal of ropeTables.
import { describe, expect, test } from "vitest";
import { expectFailure, wrong } from "../../../tooling/vitest/failures.js";
import { ropeTables } from "../src/index.js";

const good = { dim: 8, maxPositions: 4 };
const llama3 = {
  ...{ type: "llama3", factor: 8, lowFreqFactor: 1, highFreqFactor: 4 },
  originalMaxPositionEmbeddings: 8192,
} as const;
const longrope = { type: "longrope", shortFactor: [1, 1, 1, 1], longFactor: [2, 2, 2, 2] };

const scaled = (scaling: unknown) => ({ scaling });

const refusals: readonly (readonly [error: string, options: object])[] = [
  ["ERR_KIND expected dim to be a number, got undefined", { dim: undefined }],
  ["ERR_VALUE expected dim to be an integer of at least 2, got 0", { dim: 0 }],
  ["ERR_VALUE expected dim to be even, got 7", { dim: 7 }],
  ["ERR_UNSUPPORTED expected dim of at most 16777216, got 1099511627776", { dim: 2 ** 40 }],
  ["ERR_VALUE expected maxPositions to be an integer of at least 1, got 0", { maxPositions: 0 }],
  [
    "ERR_VALUE expected maxPositions to be an integer of at least 1, got 1.5",
    { maxPositions: 1.5 },
  ],
  ["ERR_VALUE expected theta to be a finite number above 0, got 0", { theta: 0 }],
  ["ERR_KIND expected theta to be a number, got a string", { theta: "1e4" }],
  ['ERR_DTYPE expected dtype float32, float16 or bfloat16, got "int32"', { dtype: "int32" }],
  ['ERR_VALUE unknown option "base", the nearest known is *', { base: 1e4 }],
  ["ERR_KIND expected scaling to be an object, got a string", scaled("yarn")],
  ["ERR_KIND expected scaling to be an object, got null", scaled(null)],
  ["ERR_KIND expected scaling.type to be a string, got undefined", scaled({ factor: 2 })],
  ['ERR_VALUE expected scaling.type to be *, got "su"', scaled({ type: "su" })],
  [
    'ERR_VALUE unknown option "betaFast", the nearest known is *',
    scaled({ type: "linear", factor: 2, betaFast: 1 }),
  ],
  [
    'ERR_VALUE unknown option "beta_fast", the nearest known is "betaFast"',
    scaled({ type: "yarn", factor: 2, beta_fast: 1 }),
  ],
  ["ERR_KIND expected scaling.factor to be a number, got undefined", scaled({ type: "linear" })],
  [
    "ERR_VALUE expected scaling.factor to be a finite number above 0, got -1",
    scaled({ type: "dynamic", factor: -1 }),
  ],
  [
    "ERR_KIND expected scaling.lowFreqFactor to be a number, got undefined",
    scaled({ ...llama3, lowFreqFactor: undefined }),
  ],
  [
    "ERR_KIND expected scaling.originalMaxPositionEmbeddings to be a number, got undefined",
    scaled({ ...llama3, originalMaxPositionEmbeddings: undefined }),
  ],
  [
    "ERR_KIND expected scaling.truncate to be a boolean, got a number",
    scaled({ type: "yarn", factor: 2, truncate: 0 }),
  ],
  [
    "ERR_VALUE expected scaling.mscale to be a finite number of at least 0, got -1",
    scaled({ type: "yarn", factor: 2, mscale: -1 }),
  ],
  [
    "ERR_VALUE expected scaling.longFactor to be 4 numbers, got 3",
    scaled({ ...longrope, longFactor: [1, 1, 1] }),
  ],
  [
    "ERR_VALUE expected scaling.shortFactor to be 4 numbers, got no array",
    scaled({ ...longrope, shortFactor: 1 }),
  ],
  [
    "ERR_VALUE expected scaling.longFactor[1] to be a finite number above 0, got 0",
    scaled({ ...longrope, longFactor: [1, 0, 1, 1] }),
  ],
  [
    "ERR_VALUE expected theta and scaling to give finite frequencies",
    scaled({ ...longrope, originalMaxPositionEmbeddings: 1 }),
  ],
];

describe("ropeTables refuses", () => {
  test.each(refusals)("%s, given %j", async (error, options) => {
    const [code, ...words] = error.split(" ");
    await expectFailure(`${code} ropeTables: ${words.join(" ")}`, () =>
      ropeTables(wrong({ ...good, ...options })),
    );
    expect(ropeTables(good).cos.shape).toEqual([4, 4]);
  });

  test("no options at all", async () => {
    await expectFailure(
      "ERR_KIND ropeTables: expected options to be an object, got undefined",
      () => ropeTables(wrong(undefined)),
    );
  });

  test("a device that cannot be used", () => {
    expect(() => ropeTables({ ...good, device: wrong("cuda:99") })).toThrow(
      expect.objectContaining({ code: "ERR_DEVICE" }),
    );
  });
});
