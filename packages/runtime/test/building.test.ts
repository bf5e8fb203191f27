// npx @warpwright/runtime build: what it says where something is missing, and a kernel of a few
// lines, built. CI builds the packages themselves.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Report } from "../src/cli/doctor.js";
import { type Installed, install } from "./installed.js";
import { platform } from "./planted-addons.js";
import { plantKernel, removeOthers, runCommand } from "./user.js";

let installed: Installed;
let cache: string;
beforeAll(() => {
  installed = install({ addon: true });
  cache = mkdtempSync(join(tmpdir(), "warpwright-"));
});
afterEach(() => removeOthers(installed));
afterAll(() => {
  installed.remove();
  rmSync(cache, { recursive: true });
});

function build(args: readonly string[], env: Record<string, string> = {}) {
  return runCommand(installed, ["build", ...args], { XDG_CACHE_HOME: cache, ...env });
}

const headersFolder = fileURLToPath(
  new URL("../node_modules/@warpwright/headers", import.meta.url),
);
const headersVersion = (
  JSON.parse(readFileSync(join(headersFolder, "package.json"), "utf8")) as { version: string }
).version;

const binding = `
#include <node_api.h>
NAPI_MODULE_INIT() { return exports; }
`;
const cmake = `
cmake_minimum_required(VERSION 3.25)
project(adder LANGUAGES CXX)
include("\${CMAKE_CURRENT_SOURCE_DIR}/node_modules/@warpwright/headers/cmake/warpwright.cmake")
warpwright_add_kernel(NAME adder SOURCES csrc/binding.cc)
`;

function plantAdder(): string {
  const folder = plantKernel(installed, "adder", { addon: false, headers: headersVersion });
  mkdirSync(join(folder, "csrc"));
  writeFileSync(join(folder, "csrc/binding.cc"), binding);
  writeFileSync(join(folder, "CMakeLists.txt"), cmake);
  return folder;
}

function addHeaders(): void {
  symlinkSync(headersFolder, join(installed.folder, "node_modules/@warpwright/headers"));
}

describe("build", () => {
  test("puts the addon where the package loads it", () => {
    const folder = plantAdder();
    addHeaders();
    const { stdout, status } = build(["adder", "--cpu"]);
    const staged = join(folder, "prebuilds", platform);
    expect(stdout).toMatch(/^@warpwright\/adder 0\.3\.1: building for the CPU alone\n/);
    expect(stdout).toContain(`@warpwright/adder 0.3.1: ${join(staged, "adder.node")}\n`);
    expect(status).toBe(0);
    expect(JSON.parse(readFileSync(join(staged, "build-info.json"), "utf8"))).toMatchObject({
      name: "@warpwright/adder",
      version: "0.3.1",
      cuda: false,
      archs: [],
    });
    const report = runCommand(installed, ["doctor", "--json"], { CUDA_VISIBLE_DEVICES: "" });
    const { packages } = JSON.parse(report.stdout) as Report;
    expect(packages.find(({ name }) => name === "@warpwright/adder")?.addon?.failure).toBe(null);
  });

  test("says what the compiler said", () => {
    const folder = plantAdder();
    addHeaders();
    writeFileSync(join(folder, "csrc/binding.cc"), "int broken(\n");
    const { stdout, stderr, status } = build(["adder", "--cpu"]);
    expect(stdout).toContain("binding.cc");
    expect(stderr).toMatch(/build: the compilers failed, see above\n$/);
    expect(status).toBe(1);
  });

  test("[ND-21] says that the package cannot be written to", () => {
    const folder = plantAdder();
    addHeaders();
    writeFileSync(join(folder, "prebuilds"), "");
    const { stderr, status } = build(["adder", "--cpu"]);
    expect(stderr).toMatch(/build: cannot write to .*adder\/prebuilds\/.*; run the command as /);
    expect(status).toBe(1);
  });
});

describe("build, where something is missing,", () => {
  function refusal(args: readonly string[], env?: Record<string, string>): string[] {
    const { stdout, stderr, status } = build(args, env);
    expect({ stdout, status }).toEqual({ stdout: "", status: 1 });
    return stderr.trimEnd().split("\n");
  }

  test("names each compiler in a sentence", () => {
    plantAdder();
    expect(refusal(["adder"], { PATH: "/nowhere", CUDACXX: "nvcc" })).toEqual([
      'build: g++ was not found, and 11.0 or later is needed: on Debian or Ubuntu, run "apt-get ' +
        'install g++"',
      "build: cmake was not found, and 3.25 or later is needed: on Debian or Ubuntu, run " +
        '"apt-get install cmake"',
      'build: make was not found, and 4.0 or later is needed: on Debian or Ubuntu, run "apt-get ' +
        'install make"',
      "build: nvcc was not found: install the CUDA 13 toolkit and put its bin folder into PATH, " +
        "or build for the CPU alone with --cpu",
    ]);
  });

  test("[ND-03] names a version that is too old, or none", () => {
    plantAdder();
    const cxx = join(cache, "cxx");
    for (const [answer, state] of [
      ["9.4.0", "is 9.4.0"],
      ["garbage", "was not found"],
    ]) {
      writeFileSync(cxx, `#!/bin/sh\necho ${answer}\n`, { mode: 0o755 });
      expect(refusal(["adder", "--cpu"], { CXX: cxx })[0]).toContain(
        `${cxx} ${state}, and 11.0 or later is needed`,
      );
    }
  });

  test("says where the headers come from, and fetches nothing", () => {
    plantAdder();
    const spec = `@warpwright/headers@${headersVersion}`;
    expect(refusal(["adder", "--cpu"])).toEqual([
      `build: @warpwright/adder is built with ${spec}, which is not here; run "npm install ` +
        `--save-dev ${spec}", or give --yes to have it fetched into ` +
        join(cache, "warpwright", `headers-${headersVersion}`),
    ]);
  });

  test("takes no headers of another version", () => {
    plantKernel(installed, "adder", { addon: false, headers: "9.9.9" });
    addHeaders();
    expect(refusal(["adder", "--cpu"])[0]).toContain(
      "@warpwright/headers@9.9.9, which is not here",
    );
  });

  test("says that a registry has no headers", () => {
    plantAdder();
    const { stderr, status } = build(["adder", "--cpu", "--yes"], {
      npm_config_registry: "http://127.0.0.1:9",
      npm_config_fetch_retries: "0",
    });
    expect(stderr).toMatch(/build: npm could not fetch @warpwright\/headers@\S+\n$/);
    expect(status).toBe(1);
  });

  test("names the package", () => {
    addHeaders();
    expect(refusal(["none", "--cpu"])).toEqual([
      'build: @warpwright/none is not installed here; run "npm install @warpwright/none"',
    ]);
    expect(refusal(["headers"])).toEqual([
      "build: @warpwright/headers has no addon, there is nothing to build",
    ]);
  });
});
