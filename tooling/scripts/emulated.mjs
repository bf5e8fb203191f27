// Building for the CUDA emulator (tooling/cuda-emulator) in folders of its own: build-emulated/ is
// CMake's and prebuilds-emulated/ is turbo's, for the same reason as build/ and prebuilds/.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {
  addonName,
  findProgram,
  platformFolder,
  repoRoot,
  run,
  workspacePackages,
} from "./lib.mjs";
import { describeToolchain } from "./toolchain.mjs";

export const emulatorFolder = path.join(repoRoot, "tooling/cuda-emulator");
export const libraryName = "libwarpwright-cudaemu.so";
export const emulatorLibrary = path.join(
  stagingFolder(emulatorFolder, "library"),
  platformFolder,
  libraryName,
);

/** The instrumented builds, which the suites run on. */
export const instrumented = ["check", "asan"];

/** What emulated.cmake is given for each build; gdb is for debugging kernels. */
export const emulatedBuilds = {
  plain: { check: "plain", type: "Release" },
  check: { check: "check", type: "Release" },
  asan: { check: "asan", type: "Release" },
  gdb: { check: "plain", type: "Debug" },
};

/** For vitest: all but the CPU's tests, whose code the check build does not look at. */
export const onDevices = "--testNamePattern=^(?!.* (on|to) cpu( |$))";

export function stagingFolder(packageFolder, build) {
  return path.join(packageFolder, "prebuilds-emulated", build);
}

/** Builds the CMake project in `source` in the folder, with these cache variables. */
export function buildWithCMake(source, folder, variables) {
  const generator = findProgram("ninja") ? "Ninja" : "Unix Makefiles";
  const options = { CMAKE_BUILD_TYPE: "Release", ...variables };
  const definitions = Object.entries(options).map(([name, value]) => `-D${name}=${value}`);
  const args = ["-S", source, "-B", folder, "-G", generator, "--log-level=WARNING", ...definitions];
  if (isForeign(folder, { args, toolchain: describeToolchain() })) args.push("--fresh");
  run("cmake", args, { stdio: ["ignore", "ignore", "inherit"] });
  run("cmake", ["--build", folder, `--parallel=${os.availableParallelism()}`]);
}

/** The cache variables of one of emulatedBuilds. */
export function emulatedVariables(build) {
  const { check, type } = emulatedBuilds[build];
  return {
    CMAKE_BUILD_TYPE: type,
    WARPWRIGHT_CUDA: "emulated",
    WARPWRIGHT_EMULATOR_DIR: emulatorFolder,
    WARPWRIGHT_EMULATOR_LIBRARY: emulatorLibrary,
    WARPWRIGHT_EMULATOR_CHECK: check,
  };
}

/** The variable by which the loader takes another file for a package's addon. */
export function addonVariable(manifest) {
  const name = addonName(manifest).toUpperCase();
  return `WARPWRIGHT_${name.replaceAll(/[^A-Z0-9]/g, "_")}_NATIVE_PATH`;
}

/** These variables for all addons of a build; the suites get theirs from tooling/vitest. */
export function emulatedAddons(build) {
  const emulated = workspacePackages().filter(
    ({ manifest }) => manifest.scripts?.["build:emulated"],
  );
  return Object.fromEntries(
    emulated.map(({ folder, manifest }) => {
      const staged = path.join(stagingFolder(path.join(repoRoot, folder), build), platformFolder);
      return [addonVariable(manifest), path.join(staged, `${addonName(manifest)}.node`)];
    }),
  );
}

/** CMake keeps what it was first configured with; --fresh makes it forget. */
function isForeign(folder, configuredWith) {
  const stamp = path.join(folder, "configured-with.json");
  const text = `${JSON.stringify(configuredWith, null, 2)}\n`;
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === text) return false;
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(stamp, text);
  return true;
}

/** Copies the files to the folder, by way of a new name: a process may have the old one mapped. */
export function stageFiles(files, folder) {
  fs.mkdirSync(folder, { recursive: true });
  for (const file of files) {
    const staged = path.join(folder, path.basename(file));
    fs.copyFileSync(file, `${staged}.new`);
    fs.renameSync(`${staged}.new`, staged);
  }
}
