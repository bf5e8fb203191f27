import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isAvailable } from "@warpwright/runtime";
import { testDevices } from "@warpwright/testing";
import { expect, test } from "vitest";
import { table } from "../src/table.js";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

function demo(...args: string[]) {
  return spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
}

test.each(testDevices())("every layer is right on %s", (device) => {
  const { status, stdout, stderr } = demo("--device", device);
  expect(stderr).toBe("");
  expect(status).toBe(0);
  expect(stdout).toContain("prompt of 40 tokens embedded");
  for (let layer = 0; layer < 5; layer++) {
    expect(stdout.match(new RegExp(`^layer ${layer} input .* ok$`, "gm"))).toHaveLength(2);
  }
  expect(stdout).not.toContain("WRONG");
});

test.skipIf(isAvailable("cuda"))("a GPU that is not there is one sentence", () => {
  const { status, stdout, stderr } = demo("--device", "cuda");
  expect(status).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^loadSafetensors: .*\n$/);
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
