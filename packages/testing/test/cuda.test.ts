import { isAvailable } from "@warpwright/runtime";
import { describe, expect, type RunnerTask, test } from "vitest";

import { missingCuda, testDevices } from "../src/cuda.js";
import { describeCuda } from "../src/vitest.js";

let bodies = 0;

describeCuda("one device", () => {
  test("runs where there is one", () => void bodies++);
});

describe("describeCuda", () => {
  const suites = (tasks: readonly RunnerTask[]) =>
    tasks.filter((task) => task.type === "suite").map(({ name, mode }) => ({ name, mode }));

  test("runs, or is skipped with the reason in the suite's name", ({ task }) => {
    const missing = missingCuda();
    expect(suites(task.file.tasks)[0]).toEqual(
      missing === undefined
        ? { name: "one device", mode: "run" }
        : { name: `one device (skipped: ${missing})`, mode: "skip" },
    );
    expect(bodies).toBe(missing === undefined ? 1 : 0);
  });
});

describe("missingCuda", () => {
  test("says in one line what is missing", () => {
    const reason = missingCuda(1000);
    expect(reason).toMatch(
      isAvailable("cuda:0")
        ? /^1000 CUDA devices are needed, \d+ can be used$/
        : /^(CUDA|cuda:0 .*) is not available: .+$/,
    );
    expect(reason).not.toContain("\n");
  });
});

describe("testDevices", () => {
  test("begins with the CPU, and has the GPU where there is one", () => {
    expect(testDevices()).toEqual(isAvailable("cuda:0") ? ["cpu", "cuda:0"] : ["cpu"]);
  });
});
