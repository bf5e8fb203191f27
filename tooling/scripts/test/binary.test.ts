// Each gate on an addon, with an addon that has the fault.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkAddon } from "../check-binary.mjs";
import { expandArchs } from "../elf.mjs";
import { platformFolder, writeJson } from "../lib.mjs";

const manifest = { name: "@warpwright/none", version: "0.0.0", binary: { napi_versions: [9] } };
const goodInfo = { version: "0.0.0", cuda: false, archs: [] as string[], glibc: "0" };
const entryPoints =
  'extern "C" void napi_register_module_v1() {}\n' +
  'extern "C" int node_api_module_get_api_version_v1() { return 9; }\n';

let folder: string;
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "warpwright binary "));
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

interface Addon {
  source?: string;
  flags?: readonly string[];
  info?: Partial<typeof goodInfo>;
}

function gpp(...args: string[]): void {
  execFileSync("g++", ["-shared", "-fPIC", "-nostdlib", ...args], { cwd: folder });
}

/** Builds and stages an addon that is good but for what it is given, and returns its path. */
function stage({ source = "", flags = [], info = {} }: Addon): string {
  const staged = path.join(folder, "prebuilds", platformFolder);
  fs.mkdirSync(staged, { recursive: true });
  fs.writeFileSync(path.join(folder, "none.cc"), entryPoints + source);
  const file = path.join(staged, "none.node");
  gpp("-o", file, "none.cc", "-lc", ...flags);
  writeJson(path.join(staged, "build-info.json"), { ...goodInfo, ...info });
  return file;
}

/** Stages a library that addons link with, whose one function has a version if it is given. */
function addLibrary(name: string, version?: string): void {
  fs.writeFileSync(path.join(folder, "library.cc"), 'extern "C" void absent() {}\n');
  fs.writeFileSync(path.join(folder, "library.map"), `${version ?? ""} { global: absent; };\n`);
  gpp("-o", name, `-Wl,-soname=${name}`, "-Wl,--version-script=library.map", "library.cc");
}

/** The section of CUDA code, with one image: kind 2 is machine code, 1 is PTX. */
function cudaCode(kind: number, capability: number, flags: number): string {
  const header = "0xba55ed50\\n.short 1, 16\\n.quad 64";
  const image = `.short ${kind}, 0\\n.long 64\\n.quad 0\\n.zero 12\\n.long ${capability}\\n.zero 8`;
  const rest = `.quad ${flags}\\n.zero 16`;
  const section = '.pushsection .nv_fatbin,\\"a\\"';
  return `asm("${section}\\n.long ${header}\\n${image}\\n${rest}\\n.popsection");\n`;
}

/** A call of a function from elsewhere. */
function calling(name: string): string {
  const use = `__attribute__((visibility("hidden"))) void use() { ${name}(); }`;
  return `extern "C" void ${name}();\n${use}\n`;
}

describe("an addon", () => {
  test("as it must be", () => {
    stage({});
    expect(checkAddon(folder, manifest)).toEqual([]);
  });

  test("with the architectures that build-info names", () => {
    const source = cudaCode(2, 90, 0x100000);
    stage({ source, info: { cuda: true, archs: ["90a-real"] } });
    expect(checkAddon(folder, manifest)).toEqual([]);
  });

  test.each<[string, string, Addon]>([
    [
      "[XC-07] code for an architecture that build-info does not name",
      "holds [90a-real], build-info says [80-real,90a-real]",
      { source: cudaCode(2, 90, 0x100000), info: { cuda: true, archs: ["80-real", "90a-real"] } },
    ],
    [
      "PTX in the place of code",
      "holds [80-virtual], build-info says [80-real]",
      { source: cudaCode(1, 80, 0), info: { cuda: true, archs: ["80-real"] } },
    ],
    ["a symbol too many", "exports _Z5extrav, napi_", { source: "void extra() {}\n" }],
    [
      "[ND-13] a library that is not everywhere",
      "needs libstdc++.so.6",
      { flags: ["-Wl,--no-as-needed", "-lstdc++"] },
    ],
    [
      "[ND-15] external buffers",
      "uses napi_create_external_arraybuffer",
      { source: calling("napi_create_external_arraybuffer") },
    ],
    ["libuv, which Bun has not", "uses uv_queue_work", { source: calling("uv_queue_work") }],
    [
      "V8 itself",
      "uses _ZN2v87Isolate10GetCurrentEv",
      { source: calling("_ZN2v87Isolate10GetCurrentEv") },
    ],
    ["a build-info of another version", "is of version 0.0.1", { info: { version: "0.0.1" } }],
    [
      "a build-info of another glibc",
      "needs glibc 0, build-info says 2.17",
      { info: { glibc: "2.17" } },
    ],
    ["a path of the building machine", "looks for libraries in /x", { flags: ["-Wl,-rpath,/x"] }],
  ])("%s", (_, problem, addon) => {
    stage(addon);
    expect(checkAddon(folder, manifest)).toEqual([
      expect.stringContaining(`@warpwright/none ${problem}`),
    ]);
  });

  test("[ND-13] of a glibc that is too new", () => {
    addLibrary("libc.so.6", "GLIBC_9.9");
    stage({ source: calling("absent"), flags: ["./libc.so.6"] });
    fs.rmSync(path.join(folder, "libc.so.6"));
    expect(checkAddon(folder, manifest)).toContain("@warpwright/none needs glibc 9.9, above 2.34");
  });

  test("[ND-18] linked with the driver", () => {
    addLibrary("libcuda.so.1");
    stage({ source: calling("absent"), flags: ["./libcuda.so.1"] });
    expect(checkAddon(folder, manifest)).toEqual(["@warpwright/none needs libcuda.so.1"]);
  });

  test("above its size", () => {
    const { size } = fs.statSync(stage({}));
    const binary = { ...manifest.binary, max_bytes: size - 1 };
    expect(checkAddon(folder, { ...manifest, binary })).toEqual([
      `@warpwright/none has ${size} bytes, above ${size - 1}`,
    ]);
    binary.max_bytes = size;
    expect(checkAddon(folder, { ...manifest, binary })).toEqual([]);
  });

  test("[ND-12] for another processor", () => {
    const file = stage({});
    const bytes = fs.readFileSync(file);
    bytes.writeUInt16LE(process.arch === "arm64" ? 62 : 183, 18);
    fs.writeFileSync(file, bytes);
    expect(checkAddon(folder, manifest)).toEqual([
      expect.stringMatching(/^@warpwright\/none is for (x64|arm64), in the folder of linux-/),
    ]);
  });

  test("that is not there", () => {
    fs.rmSync(stage({}));
    expect(checkAddon(folder, manifest)).toEqual([expect.stringMatching(/none\.node is missing$/)]);
  });
});

describe("an addon of a release", () => {
  test("without CUDA", () => {
    stage({});
    const problems = checkAddon(folder, manifest, { requiredArchs: ["80"] });
    expect(problems).toEqual(["@warpwright/none was built without CUDA"]);
  });

  test("for other architectures", () => {
    stage({ source: cudaCode(2, 90, 0x100000), info: { cuda: true, archs: ["90a-real"] } });
    const problems = checkAddon(folder, manifest, { requiredArchs: ["90a-real", "80"] });
    expect(problems).toEqual(["@warpwright/none lacks one of [80-real,80-virtual,90a-real]"]);
  });
});

test("architectures in CMake's notation", () => {
  expect(expandArchs(["90a-real", "80"])).toEqual(["80-real", "80-virtual", "90a-real"]);
});
