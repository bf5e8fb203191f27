import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { arange } from "../src/index.js";

describe("arange", () => {
  test.each<[string, () => { tolist(): Promise<unknown> }, unknown[]]>([
    ["end", () => arange(3), [0, 1, 2]],
    ["a fraction as end", () => arange(2.5), [0, 1, 2]],
    ["start and end", () => arange(1, 4), [1, 2, 3]],
    ["a step", () => arange(0, 1, 0.25), [0, 0.25, 0.5, 0.75]],
    ["a negative step", () => arange(3, 0, -1), [3, 2, 1]],
    ["nothing", () => arange(0), []],
    ["start at the end", () => arange(2, 2, -1), []],
    ["a dtype", () => arange(3, { dtype: "int64" }), [0n, 1n, 2n]],
    ["start, end, dtype", () => arange(1, 3, { dtype: "int32" }), [1, 2]],
    ["all", () => arange(0, 6, 2, { dtype: "uint8" }), [0, 2, 4]],
    ["undefined options", () => arange(2, undefined), [0, 1]],
  ])("of %s", async (_, make, list) => {
    expect(await make().tolist()).toEqual(list);
  });

  test("forms each number from the start", async () => {
    const data = await arange(0, 10_000, 0.1).data();
    expect(data[99_999]).toBe(Math.fround(99_999 * 0.1));
  });
});

const failures: Failure[] = [
  ["ERR_KIND arange: expected end to be a number, got undefined", () => arange(wrong(undefined))],
  ["ERR_KIND arange: expected start to be a number, got a string", () => arange(wrong("3"), 2)],
  ["ERR_VALUE arange: expected end to be a finite number, got NaN", () => arange(Number.NaN)],
  ["ERR_VALUE arange: expected a step that leads from 0 to 1, got 0", () => arange(0, 1, 0)],
  ["ERR_VALUE arange: expected a step that leads from 0 to 1, got -1", () => arange(0, 1, -1)],
  ["ERR_VALUE arange: expected a step that leads from 0 to -1, got 1", () => arange(-1)],
  [
    "ERR_VALUE arange: expected shape to hold integers of at least 0, got 1e+300",
    () => arange(0, 1e300, 1),
  ],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
});
