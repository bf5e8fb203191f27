import { describe, expect, test } from "vitest";
import { bestNumThreads, pickRowsPerCta } from "../src/index.js";
import { defaultNumThreads } from "../src/rules.js";

// The examples of cuDNN frontend's rules, v1.23.
describe("numThreads", () => {
  test.each([
    [512, 64],
    [1024, 128],
    [1536, 64],
    [2048, 256],
    [2560, 64],
    [3072, 128],
    [3584, 64],
    [4096, 512],
    [5120, 128],
    [6144, 256],
    [7168, 128],
    [8192, 1024],
    [9216, 128],
    [10_240, 256],
    [12_288, 512],
    [13_824, 64],
    [14_336, 256],
    [16_384, 1024],
    [18_432, 256],
    [20_480, 512],
    [24_576, 1024],
    [28_672, 512],
    [32_768, 1024],
    [65_536, 1024],
  ])("the search for %i columns gives %i", (n, threads) => {
    expect(bestNumThreads(n)).toBe(threads);
  });

  test.each([0, 16, 256, 384, 768, 1280, 2880, 11_008])("it finds none for %i columns", (n) => {
    expect(bestNumThreads(n)).toBeUndefined();
    expect(defaultNumThreads(n)).toBeUndefined();
  });

  test.each([
    [2048, 128],
    [4096, 256],
    [7168, 128],
    [8192, 512],
    [16_384, 1024],
    [32_768, 512],
    [3072, 128],
  ])("the table before the search: %i columns, %i threads", (n, threads) => {
    expect(defaultNumThreads(n)).toBe(threads);
  });
});

describe("rowsPerCta", () => {
  test.each([
    [0, 2],
    [1, 1],
    [2, 2],
    [7, 1],
    [147, 1],
    [256, 2],
    [294, 2],
    [296, 2],
    [584, 2],
    [592, 4],
    [1024, 4],
    [1180, 4],
    [1182, 2],
    [1184, 8],
    [1185, 1],
    [2048, 8],
    [16_384, 8],
    [2 ** 40, 8],
  ])("%i rows in groups of %i", (m, rows) => {
    expect(pickRowsPerCta(m)).toBe(rows);
  });
});

test.each([
  ["bestNumThreads", "n", bestNumThreads],
  ["pickRowsPerCta", "m", pickRowsPerCta],
] as const)("%s takes whole numbers", (op, name, rule) => {
  for (const value of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    const message = `${op}: expected ${name} to be an integer of at least 0, got ${value}`;
    const error = expect.objectContaining({ code: "ERR_VALUE", message });
    expect(() => rule(value)).toThrow(error);
  }
  const kind = expect.objectContaining({ code: "ERR_KIND", name: "TypeError" });
  expect(() => rule("2048" as never)).toThrow(kind);
});
