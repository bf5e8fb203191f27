import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { CommandFailure } from "./failures.js";
import { isAtLeast } from "./packages.js";

export interface BuildSettings {
  /** nvcc's path; null builds without CUDA. */
  nvcc: string | null;
  /** In CMake's notation, or "default". */
  archs: string;
}

export interface BuildWishes {
  cpu: boolean;
  archs: string | undefined;
}

const lowestArch = 80;

/** What a build runs with; one sentence for each thing that is missing. */
export function findTools({ cpu, archs }: BuildWishes): BuildSettings {
  const nvcc = cpu ? null : findNvcc();
  const missing = [
    missingTool(process.env.CXX || "g++", "11.0", "g++"),
    missingTool("cmake", "3.25", "cmake"),
    findProgram("ninja") ? null : missingTool("make", "4.0", "make"),
    cpu || nvcc !== null ? null : missingNvcc,
  ].filter((each) => each !== null);
  if (missing.length > 0) throw new CommandFailure(missing.join("\n"));
  return { nvcc, archs: archs ?? (gpuArchs().join(";") || "default") };
}

const missingNvcc =
  "build: nvcc was not found: install the CUDA 13 toolkit and put its bin folder into PATH, or " +
  "build for the CPU alone with --cpu";

function missingTool(command: string, lowest: string, debian: string): string | null {
  const text = run(command, ["-dumpfullversion"]) ?? run(command, ["--version"]);
  const version = /\d+\.\d+(\.\d+)?/.exec(text ?? "")?.[0];
  if (version !== undefined && isAtLeast(version, lowest)) return null;
  const state = version === undefined ? "was not found" : `is ${version}`;
  return (
    `build: ${command} ${state}, and ${lowest} or later is needed: on Debian or Ubuntu, run ` +
    `"apt-get install ${debian}"`
  );
}

/** CUDACXX alone if it is set, else where toolkits are. */
function findNvcc(): string | null {
  const { CUDACXX, CUDA_HOME, CUDA_PATH } = process.env;
  if (CUDACXX) return isAbsolute(CUDACXX) ? executable(CUDACXX) : findProgram(CUDACXX);
  const toolkits = [CUDA_HOME, CUDA_PATH].filter(Boolean).map((folder) => join(folder!, "bin"));
  return findProgram("nvcc", [...toolkits, ...pathFolders(), "/usr/local/cuda/bin"]);
}

function findProgram(name: string, folders = pathFolders()): string | null {
  return folders.map((folder) => executable(join(folder, name))).find(Boolean) ?? null;
}

function executable(path: string): string | null {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return null;
  }
}

function pathFolders(): string[] {
  return (process.env.PATH ?? "").split(delimiter).filter(Boolean);
}

/** As the driver tells them: the runtime's own addon may be what has to be built. */
function gpuArchs(): string[] {
  const text = run("nvidia-smi", ["--query-gpu=compute_cap", "--format=csv,noheader"]) ?? "";
  const archs = (text.match(/^\d+\.\d+$/gm) ?? []).map((each) => each.replace(".", ""));
  const built = archs.filter((arch) => Number(arch) >= lowestArch);
  // wgmma and TMA are in the variant of 9.0 that runs on nothing else.
  return [...new Set(built)].map((arch) => (arch === "90" ? "90a" : arch)).sort();
}

function run(command: string, args: readonly string[]): string | null {
  const { error, status, stdout } = spawnSync(command, args, { encoding: "utf8" });
  return error || status !== 0 ? null : stdout;
}
