import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isAvailable } from "@warpwright/runtime";
import { testDevices } from "@warpwright/testing";
import { expect, test } from "vitest";
import { isEmulated } from "../../../../tooling/vitest/emulated.js";
import { compare, isRight } from "../src/check.js";
import { kernels } from "../src/kernels.js";
import { table } from "../src/table.js";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

function demo(...args: string[]) {
  return spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
}

const stages = ["embedding", "after layer \\d", "after the last norm", "logits"];

test.each(testDevices())("the model and every kernel are right on %s", (device) => {
  const tokens = isEmulated ? "2" : "160";
  const { status, stdout, stderr } = demo("--device", device, "--tokens", tokens);
  expect(stderr).toBe("");
  expect(status).toBe(0);
  expect(stdout).not.toContain("WRONG");
  for (const stage of stages) {
    expect(stdout).toMatch(new RegExp(`^${stage} +40 x 256 .* ok$`, "m"));
  }
  for (const { name } of kernels) {
    expect(stdout.match(new RegExp(`^${name} .* ok$`, "gm"))).toHaveLength(2);
  }
  expect(stdout).toContain(`${tokens} tokens written, the likeliest each; PyTorch's: ok`);
  expect(stdout).toContain("Background: Th");
});

test.each(["bfloat16", "float32"] as const)("compare notices a wrong element: %s", (dtype) => {
  const right = [1, 2, 0];
  const isRightWith = (actual: readonly number[]) =>
    isRight(compare(Float64Array.from(actual), Float64Array.from(right), dtype));
  expect(isRightWith(right)).toBe(true);
  expect(isRightWith([1.01, 2, 0])).toBe(false);
  expect(isRightWith([1, 2, 1e-3])).toBe(false);
  expect(isRightWith([Number.NaN, 2, 0])).toBe(false);
  expect(isRightWith([1, Number.NEGATIVE_INFINITY, Number.NaN])).toBe(false);
});

test.each(["-1", "161", "ten"])("%s tokens are refused", (tokens) => {
  const { status, stderr } = demo("--device", "cpu", `--tokens=${tokens}`);
  expect(status).toBe(1);
  expect(stderr).toBe(`demo: expected --tokens of 0 to 160, got ${tokens}\n`);
});

test.skipIf(isAvailable("cuda"))("a GPU that is not there is one sentence", () => {
  const { status, stdout, stderr } = demo("--device", "cuda");
  expect(status).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^\w+: cuda:0 is not available: .*\n$/);
});

test("a device that is none is one sentence", () => {
  const { status, stderr } = demo("--device", "gpu");
  expect(status).toBe(1);
  expect(stderr.trim().split("\n")).toHaveLength(1);
});

test("numbers are flush right, words flush left", () => {
  expect(
    table(
      ["name", "us"],
      [
        ["a", "10.5"],
        ["bcdef", "9"],
      ],
    ),
  ).toBe("name     us\n-----  ----\na      10.5\nbcdef     9");
});
