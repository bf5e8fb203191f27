import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectedFiles, fileProblems, manifestProblems } from "../../ci/contents.mjs";
import { platformFolder } from "../lib.mjs";
import { copyWorkspace, type WorkspaceCopy } from "./workspace-copy.js";

const folder = "packages/none";
const native = { name: "@warpwright/none", scripts: { "build:native": "node build.mjs" } };

describe("what a tarball may hold", () => {
  let copy: WorkspaceCopy;
  beforeEach(() => {
    copy = copyWorkspace();
  });
  afterEach(() => copy.remove());

  function write(...names: string[]): void {
    for (const name of names) {
      const file = path.join(copy.root, folder, name);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, "");
    }
  }

  test("of a native package", () => {
    write("src/index.ts", "src/cli/main.ts", "csrc/none.cu", "CMakeLists.txt");
    write("test/none.test.ts", "bench/none.bench.ts", "dist/index.js", "build/CMakeCache.txt");
    expect(expectedFiles(folder, native, copy.root).sort()).toEqual([
      "CMakeLists.txt",
      "LICENSE",
      "README.md",
      "csrc/none.cu",
      "dist/cli/main.d.ts",
      "dist/cli/main.js",
      "dist/index.d.ts",
      "dist/index.js",
      "package.json",
      `prebuilds/${platformFolder}/build-info.json`,
      `prebuilds/${platformFolder}/none.node`,
    ]);
  });

  test("of the headers, after a version", () => {
    write("include/none.h", "cmake/none.cmake", "CHANGELOG.md");
    expect(expectedFiles(folder, { name: "@warpwright/none" }, copy.root).sort()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "cmake/none.cmake",
      "include/none.h",
      "package.json",
    ]);
  });

  test("nothing more, and nothing less", () => {
    expect(fileProblems(["a", "b"], ["b", "a"])).toEqual([]);
    expect(fileProblems(["a", "dist/old.js"], ["a", "b"])).toEqual([
      "lacks b",
      "holds dist/old.js",
    ]);
  });
});

describe("a packed manifest", () => {
  test("as it must be", () => {
    const peerDependencies = { "@warpwright/runtime": ">=0.1.0 <1.0.0" };
    expect(manifestProblems({ scripts: { test: "vitest run" }, peerDependencies })).toEqual([]);
  });

  test.each([
    [{ scripts: { postinstall: "node get.mjs" } }, "[ND-11] has a script postinstall"],
    [{ gypfile: true }, "[ND-11] has gypfile"],
    [{ devDependencies: { a: "workspace:*" } }, "depends on a as workspace:*"],
    [{ optionalDependencies: { a: "catalog:" } }, "depends on a as catalog:"],
  ])("%j", (manifest, problem) => {
    expect(manifestProblems(manifest)).toEqual([problem.replace("[ND-11] ", "")]);
  });
});
