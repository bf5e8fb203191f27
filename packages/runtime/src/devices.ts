import { availableParallelism, cpus, totalmem } from "node:os";
import { builtFor, readArchitectures } from "./architectures.js";
import { type Device, deviceOrdinal, isDeviceName, parseDevice } from "./arguments.js";
import { deviceError } from "./errors.js";
import type { DeviceName } from "./internals.js";
import { native, type Probe, type ProbedDevice } from "./native.js";

/** A device and what it is. */
export interface DeviceInfo {
  /** What to pass as `device`. */
  device: DeviceName;
  name: string;
  /** Such as "9.0"; null for the CPU. */
  computeCapability: string | null;
  /** Bytes. */
  totalMemory: number;
  /** Streaming multiprocessors of a GPU; of the CPU, the threads that run at once. */
  multiprocessorCount: number;
}

// Devices cannot come or go while a process runs, so they are counted once.
let probed: Probe | undefined;
const usable = new Set<string>(["cpu"]);

function probe(): Probe {
  probed ??= native().probe();
  return probed;
}

/**
 * The devices of this machine, the CPU first, then every CUDA device in order, whether this build
 * can use it or not. Creates no CUDA context. Without a driver, only the CPU.
 *
 * @example
 * import { devices } from "@warpwright/runtime";
 *
 * for (const { device, name } of devices()) console.log(device, name);
 */
export function devices(): DeviceInfo[] {
  return [cpuInfo(), ...cudaDevices().map(cudaInfo)];
}

function cpuInfo(): DeviceInfo {
  return {
    device: "cpu",
    name: cpus()[0]?.model.trim() || "CPU",
    computeCapability: null,
    totalMemory: totalmem(),
    multiprocessorCount: availableParallelism(),
  };
}

function cudaInfo(found: ProbedDevice, ordinal: number): DeviceInfo {
  return {
    device: `cuda:${ordinal}`,
    name: found.name,
    computeCapability: `${found.major}.${found.minor}`,
    totalMemory: found.totalMemory,
    multiprocessorCount: found.multiprocessorCount,
  };
}

function cudaDevices(): ProbedDevice[] {
  try {
    return probe().devices;
  } catch {
    return []; // explain() says why
  }
}

/**
 * Whether tensors can live on the device. explain() says why not.
 *
 * @param device "cuda" for cuda:0. Default "cuda"
 * @throws TypeError ERR_KIND, RangeError ERR_VALUE for what is no device's name
 *
 * @example
 * import { isAvailable } from "@warpwright/runtime";
 *
 * console.log(isAvailable("cuda") ? "on the GPU" : "on the CPU");
 */
export function isAvailable(device: Device = "cuda"): boolean {
  return whyUnavailable(parseDevice("isAvailable", device)) === null;
}

/**
 * What CUDA can be used for on this machine, one line a device, or one line that says what is
 * missing: the addon, a driver, a driver that is new enough, a device, an architecture.
 *
 * @example
 * import { explain } from "@warpwright/runtime";
 *
 * console.log(explain());
 */
export function explain(): string {
  const missing = whyNoCuda();
  if (missing !== null) return `CUDA is not available: ${missing}`;
  return cudaDevices()
    .map(({ name, major, minor }, ordinal) => {
      const reason = whyUnavailable(`cuda:${ordinal}`);
      const state = reason === null ? "is available" : `is not available: ${reason}`;
      return `cuda:${ordinal} (${name}, compute capability ${major}.${minor}) ${state}`;
    })
    .join("\n");
}

/**
 * "cuda:0" if it can be used, else "cpu": for callers to pass on. Nothing in the library uses it
 * by itself; the default of every `device` option is "cpu".
 *
 * @example
 * import { defaultDevice, zeros } from "@warpwright/runtime";
 *
 * const x = zeros([2, 3], { device: defaultDevice() });
 */
export function defaultDevice(): "cpu" | "cuda:0" {
  return isAvailable("cuda:0") ? "cuda:0" : "cpu";
}

/** The device's full name, or ERR_KIND, ERR_VALUE, or ERR_DEVICE with the reason. */
export function usableDevice(op: string, device: unknown): DeviceName {
  if (typeof device === "string" && usable.has(device) && isDeviceName(device)) return device;
  const name = parseDevice(op, device);
  const reason = whyUnusable(name);
  if (reason !== null) throw deviceError(`${op}: ${name} is not available: ${reason}`);
  return name;
}

function whyUnusable(name: DeviceName): string | null {
  if (usable.has(name)) return null;
  const missing = whyNoCuda();
  if (missing !== null) return missing;
  const found = probe().devices[deviceOrdinal(name)];
  if (found === undefined) {
    const count = probe().devices.length;
    return count === 1 ? "there is 1 CUDA device" : `there are ${count} CUDA devices`;
  }
  const reason = builtFor(readArchitectures(), found.major, found.minor);
  if (reason === null) usable.add(name);
  return reason;
}

function whyUnavailable(name: DeviceName): string | null {
  const reason = whyUnusable(name);
  if (reason !== null || name === "cpu") return reason;
  const cause = native().lostCause(deviceOrdinal(name));
  return cause === null ? null : `it was lost to an earlier error, ${cause}`;
}

function whyNoCuda(): string | null {
  try {
    return cudaProblem(probe(), process.env.CUDA_VISIBLE_DEVICES);
  } catch (error) {
    return (error as Error).message;
  }
}

/** What keeps every device from being used, by what the addon found; null if nothing does. */
export function cudaProblem(found: Probe, visible: string | undefined): string | null {
  const { withCuda, driverVersion, runtimeVersion, status, message } = found;
  if (!withCuda) return "the runtime's addon was built without CUDA";
  if (driverVersion === 0) return "there is no NVIDIA driver; version 580 or later is needed";
  if (Math.floor(driverVersion / 1000) < Math.floor(runtimeVersion / 1000)) {
    return (
      `the NVIDIA driver is too old: it has CUDA ${version(driverVersion)}, and ` +
      `CUDA ${version(runtimeVersion)} needs driver 580 or later`
    );
  }
  if (status !== "cudaSuccess" && status !== "cudaErrorNoDevice") {
    return `counting the devices failed with ${status}: ${message}`;
  }
  if (found.devices.length === 0) {
    const limit = visible === undefined ? "" : `, with CUDA_VISIBLE_DEVICES=${visible}`;
    return `the driver shows no device${limit}`;
  }
  return null;
}

function version(number: number): string {
  return `${Math.floor(number / 1000)}.${Math.floor((number % 1000) / 10)}`;
}
