// Writes .toolchain.json, what turbo cannot hash by itself: compilers, processor, C library and
// GPU. Every native and test task has the file among its inputs, so a changed toolchain is a cache
// miss.
import fs from "node:fs";
import path from "node:path";
import { capture, findNvcc, isMain, repoRoot, runMain } from "./lib.mjs";

export const toolchainFile = path.join(repoRoot, ".toolchain.json");

export function describeToolchain() {
  const nvcc = findNvcc();
  return {
    platform: process.platform,
    arch: process.arch,
    glibc: glibcVersion(),
    cxx: firstLine(capture(process.env.CXX || "c++", ["--version"])),
    cmake: firstLine(capture("cmake", ["--version"])),
    nvcc: nvcc && (/^Build .*$/m.exec(capture(nvcc, ["--version"]) ?? "")?.[0] ?? null),
    gpus: gpuArchs(),
  };
}

/**
 * Compute capabilities of this machine's GPUs, as CMake names them; 9.0 needs its suffix for wgmma
 * and TMA.
 */
function gpuArchs() {
  const text = capture("nvidia-smi", ["--query-gpu=compute_cap", "--format=csv,noheader"]);
  const capabilities = text?.match(/^\d+\.\d+$/gm) ?? [];
  const archs = capabilities.map((capability) => capability.replace(".", ""));
  return [...new Set(archs)].map((arch) => (arch === "90" ? "90a" : arch)).sort();
}

function glibcVersion() {
  process.report.excludeNetwork = true; // the report would look up host names
  return process.report.getReport().header.glibcVersionRuntime ?? null;
}

function firstLine(text) {
  return text?.split("\n")[0] ?? null;
}

/** Leaves an unchanged file alone and returns what is in it. */
export function writeToolchain(file = toolchainFile) {
  const toolchain = describeToolchain();
  const text = `${JSON.stringify(toolchain, null, 2)}\n`;
  if (!fs.existsSync(file) || fs.readFileSync(file, "utf8") !== text) fs.writeFileSync(file, text);
  return toolchain;
}

if (isMain(import.meta.url)) runMain(() => writeToolchain());
