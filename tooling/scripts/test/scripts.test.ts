import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lineProblems } from "../check-lines.mjs";
import { isAtLeast, repoRoot, writeJson } from "../lib.mjs";

const scripts = path.join(repoRoot, "tooling/scripts");

let folder: string;
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "warpwright scripts "));
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

describe("requirements", () => {
  test.each([
    ["20.19.0", "20.19.0", true],
    ["20.9.0", "20.19.0", false],
    ["22.0", "20.19.0", true],
    ["3.25.1", "3.25", true],
    ["3.9", "3.25", false],
  ])("%s is at least %s: %s", (version, lowest, expected) => {
    expect(isAtLeast(version, lowest)).toBe(expected);
  });

  test("a machine without compilers is told so in one sentence", () => {
    const program = `import("${scripts}/requirements.mjs").then((m) => m.requireCompilers())`;
    const run = spawnSync(process.execPath, ["--eval", program], {
      env: { PATH: folder },
      encoding: "utf8",
    });
    expect(run.stderr).toContain(
      "building needs g++ (not found), make (not found), cmake (not found)",
    );
  });
});

describe("tasks", () => {
  const bootstrap = path.join(scripts, "bootstrap.mjs");

  test.each([
    [["bench", "--help"], 0, "usage: npm run bench -- [<package's folder>"],
    [["release", "-h"], 0, "usage: npm run release -- [--build] [--publish] [--rehearsal]"],
    [["lint", "--help"], 0, "usage: npm run lint\n"],
    [["version", "patch"], 1, "version takes no arguments, got patch"],
    [["constructor"], 1, "expected a task of install, build"],
    [[], 1, "expected a task of install, build"],
  ])("%j", (args, status, expected) => {
    const run = spawnSync(process.execPath, [bootstrap, ...args], { encoding: "utf8" });
    expect(run.status).toBe(status);
    expect(run.stdout + run.stderr).toContain(expected);
    expect(run.stderr).not.toContain("    at ");
  });
});

describe("check-lines", () => {
  test("a line of 100 characters and a file of 300 lines are long enough", () => {
    const line = "é".repeat(100);
    expect(lineProblems("a.ts", `${line}\n`.repeat(300))).toEqual([]);
    expect(lineProblems("a.ts", `x\n${line}.\nx\n`)).toEqual(["a.ts:2 has 101 columns"]);
    expect(lineProblems("a.ts", "\n".repeat(301))).toEqual(["a.ts has 301 lines"]);
  });
});

describe("build-native", () => {
  test.each([
    [{ WARPWRIGHT_REQUIRE_CUDA: "1" }, "nvcc not found, and this build requires it"],
    [{ WARPWRIGHT_CUDA: "on" }, "nvcc not found, and this build requires it"],
    [{ WARPWRIGHT_CUDA: "yes" }, "expected WARPWRIGHT_CUDA to be auto, on or off, got yes"],
    [{ TURBO_HASH: "0" }, ".toolchain.json does not describe this toolchain"],
  ])("%o is refused", (options, expected) => {
    writeJson(path.join(folder, "package.json"), { name: "@warpwright/none", version: "0.0.0" });
    const run = spawnSync(process.execPath, [path.join(scripts, "build-native.mjs")], {
      cwd: folder,
      // No program of that name: hides nvcc, and is not what .toolchain.json says of the compiler.
      env: { PATH: process.env.PATH, CUDACXX: "no-such-nvcc", CXX: "no-such-cxx", ...options },
      encoding: "utf8",
    });
    expect(run.status).toBe(1);
    expect(run.stderr).toContain(expected);
  });
});
