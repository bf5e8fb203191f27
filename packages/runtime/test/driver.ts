// A library in the place of the NVIDIA driver's, which knows its version and how it starts: what
// CUDA itself makes of it is told by the runtime.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Driver {
  /** For the environment of a program. */
  env(version: number, start: number): Record<string, string>;
  remove(): void;
}

const source = `
#include <cstdlib>
extern "C" int cuDriverGetVersion(int* version) {
  *version = std::atoi(std::getenv("DRIVER_VERSION"));
  return 0;
}
extern "C" int cuInit(unsigned) { return std::atoi(std::getenv("DRIVER_START")); }
`;

export function buildDriver(): Driver {
  const folder = mkdtempSync(join(tmpdir(), "warpwright-"));
  writeFileSync(join(folder, "driver.cc"), source);
  execFileSync("g++", ["-shared", "-fPIC", "-o", "libcuda.so.1", "driver.cc"], { cwd: folder });
  return {
    env: (version, start) => ({
      LD_LIBRARY_PATH: folder,
      DRIVER_VERSION: String(version),
      DRIVER_START: String(start),
    }),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
