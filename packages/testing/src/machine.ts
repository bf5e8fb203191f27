import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";

import { type Device, devices, getNumThreads } from "@warpwright/runtime";

/** Where and when numbers were measured. */
export interface Machine {
  /** The GPU's name, or the CPU's with its threads. */
  device: string;
  /** NVIDIA's driver, "none" on the CPU, "unknown" where it cannot be told. */
  driver: string;
  /** The CUDA version that the driver has, "none" on the CPU. */
  cuda: string;
  /** Short commit of the working directory's repository; a "+" where it has changes. */
  commit: string;
  /** ISO 8601, UTC, to the minute. */
  date: string;
}

/**
 * Describes the machine that `device` is in, for the head of a table of measurements.
 *
 * @example
 * import { machineOf } from "@warpwright/testing";
 *
 * console.log(machineOf("cpu").device);
 */
export function machineOf(device: Device): Machine {
  const place = device === "cpu" ? cpuPlace() : gpuPlace(device);
  const date = `${new Date().toISOString().slice(0, 16)}Z`;
  return { ...place, commit: commitOf(process.cwd()), date };
}

/**
 * `GPU | driver | CUDA | commit | date` of a machine, one line.
 *
 * @example
 * import { machineLine, machineOf } from "@warpwright/testing";
 *
 * console.log(machineLine(machineOf("cpu")));
 */
export function machineLine({ device, driver, cuda, commit, date }: Machine): string {
  return `${device} | driver ${driver} | CUDA ${cuda} | ${commit} | ${date}`;
}

/**
 * Bytes of the CPU's last-level cache as Linux tells them; 32 MiB where it does not.
 *
 * @example
 * import { lastLevelCacheBytes } from "@warpwright/testing";
 *
 * console.log(lastLevelCacheBytes() / 2 ** 20, "MiB");
 */
export function lastLevelCacheBytes(): number {
  let bytes = 0;
  for (let index = 0; index < 8; index++) {
    const size = readText(`/sys/devices/system/cpu/cpu0/cache/index${index}/size`);
    if (size === undefined) break;
    const unit = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[size.trim().slice(-1)] ?? 1;
    bytes = Math.max(bytes, Number.parseInt(size, 10) * unit);
  }
  return bytes > 0 ? bytes : 32 * 2 ** 20;
}

type Place = Pick<Machine, "device" | "driver" | "cuda">;

function cpuPlace(): Place {
  const model = cpus()[0]?.model.trim() ?? "CPU";
  const threads = `${getNumThreads()} of ${availableParallelism()} threads`;
  return { device: `${model}, ${threads}`, driver: "none", cuda: "none" };
}

function gpuPlace(device: Device): Place {
  const ordinal = device === "cuda" ? 0 : Number(device.slice("cuda:".length));
  const name = devices()[ordinal + 1]?.name ?? device;
  const driver = readText("/proc/driver/nvidia/version")?.match(/\s(\d{3,}\.[\d.]+)\s/)?.[1];
  const cuda = run("nvidia-smi", [])?.match(/CUDA Version:\s*([\d.]+)/)?.[1];
  return { device: name, driver: driver ?? "unknown", cuda: cuda ?? "unknown" };
}

function commitOf(directory: string): string {
  const commit = run("git", ["-C", directory, "rev-parse", "--short", "HEAD"])?.trim();
  if (commit === undefined) return "unknown";
  return run("git", ["-C", directory, "status", "--porcelain"])?.trim() ? `${commit}+` : commit;
}

function run(command: string, args: string[]): string | undefined {
  try {
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return undefined;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
