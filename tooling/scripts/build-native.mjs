// build:native of every package with an addon; run in the package's folder. CMake owns build/,
// turbo owns prebuilds/, and this script's last step copies from one to the other: a .node that
// turbo restored into build/ would look newer than its objects, and CMake would keep it for other
// sources.
//
// Environment, all of it part of turbo's hash:
//   WARPWRIGHT_CUDA          auto (default), on, or off: builds without CUDA though nvcc is there
//   WARPWRIGHT_CUDA_ARCHS    CMake's notation; default: this machine's GPU, else the kernel's own
//   WARPWRIGHT_REQUIRE_CUDA  1: no nvcc is an error
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { inspectAddon } from "./elf.mjs";
import {
  addonName,
  Failure,
  findNvcc,
  findProgram,
  platformFolder,
  readJson,
  run,
  runMain,
  writeJson,
} from "./lib.mjs";
import { describeToolchain, toolchainFile } from "./toolchain.mjs";

const lowestArch = 80;

runMain(() => {
  const manifest = readJson("package.json");
  const toolchain = describeToolchain();
  checkHashed(toolchain);
  const nvcc = findNvcc();
  const options = cmakeOptions(nvcc, toolchain);
  dropForeignBuild({ folder: process.cwd(), nvcc, ninja: findProgram("ninja"), toolchain });
  build(options);
  stage(manifest);
});

/**
 * turbo hashed the file, so building with another toolchain would be cached under the wrong name.
 */
function checkHashed(toolchain) {
  if (process.env.TURBO_HASH === undefined) return;
  const written = fs.existsSync(toolchainFile) ? fs.readFileSync(toolchainFile, "utf8") : "";
  if (written === `${JSON.stringify(toolchain, null, 2)}\n`) return;
  throw new Failure(".toolchain.json does not describe this toolchain; start with: npm run build");
}

/** Explicit in every case: CMake would search more places than the toolchain's record knows of. */
function cmakeOptions(nvcc, { gpus }) {
  const required = process.env.WARPWRIGHT_REQUIRE_CUDA === "1";
  const mode = process.env.WARPWRIGHT_CUDA || (required ? "on" : "auto");
  if (!["auto", "on", "off"].includes(mode)) {
    throw new Failure(`expected WARPWRIGHT_CUDA to be auto, on or off, got ${mode}`);
  }
  if (required && mode === "off") {
    throw new Failure("WARPWRIGHT_REQUIRE_CUDA is set and WARPWRIGHT_CUDA is off");
  }
  if (mode !== "off" && nvcc === null) {
    if (mode === "on" || required) throw new Failure("nvcc not found, and this build requires it");
    const { CUDACXX } = process.env;
    const reason = CUDACXX ? `CUDACXX=${CUDACXX} is no compiler here` : "nvcc not found";
    console.log(`${reason}: the CUDA build is skipped`);
  }
  const built = gpus.filter((arch) => Number.parseInt(arch, 10) >= lowestArch);
  const archs = process.env.WARPWRIGHT_CUDA_ARCHS || built.join(";") || "default";
  const options = { WARPWRIGHT_CUDA: nvcc === null ? "off" : mode, WARPWRIGHT_CUDA_ARCHS: archs };
  if (nvcc !== null && mode !== "off") options.CMAKE_CUDA_COMPILER = nvcc;
  return options;
}

/**
 * CMake keeps the compiler, generator and paths it was first configured with: start anew if one
 * changed.
 */
function dropForeignBuild(configuredWith) {
  const stamp = "build/configured-with.json";
  const text = `${JSON.stringify(configuredWith, null, 2)}\n`;
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === text) return;
  fs.rmSync("build", { recursive: true, force: true });
  fs.mkdirSync("build");
  fs.writeFileSync(stamp, text);
}

/** `cmake-js build` alone would ignore the options wherever a CMakeCache.txt is left. */
function build(options) {
  const headers = createRequire(path.resolve("package.json")).resolve(
    "@warpwright/headers/package.json",
  );
  const manifest = createRequire(headers).resolve("cmake-js/package.json");
  const cli = path.join(path.dirname(manifest), readJson(manifest).bin["cmake-js"]);
  const definitions = Object.entries(options).map(([name, value]) => `--CD${name}=${value}`);
  run(process.execPath, [cli, "configure", "--log-level=warn", ...definitions]);
  run(process.execPath, [
    cli,
    "build",
    "--log-level=warn",
    `--parallel=${os.availableParallelism()}`,
  ]);
}

function stage(manifest) {
  const name = addonName(manifest);
  const folder = path.join("prebuilds", platformFolder);
  const addon = path.join(folder, `${name}.node`);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  fs.copyFileSync(`build/Release/${name}.node`, addon);
  writeJson(path.join(folder, "build-info.json"), {
    ...readJson("build/warpwright-build.json"),
    name: manifest.name,
    version: manifest.version,
    napi: manifest.binary.napi_versions[0],
    glibc: inspectAddon(addon).glibc,
  });
}
