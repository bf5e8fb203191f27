import { existsSync, readFileSync } from "node:fs";
import { cudaProblem, type DeviceInfo, devices, explain, isAvailable } from "../devices.js";
import { native, type Probe } from "../native.js";
import { tryAddon } from "./addons.js";
import { ownFolder, readPackage } from "./packages.js";

/** What is wrong, and what to do about it. */
export interface Problem {
  problem: string;
  remedy: string;
}

export interface CudaState {
  /** Whether the system has a GPU of NVIDIA, usable or not. */
  present: boolean;
  /** Whether a device can be used. */
  available: boolean;
  /** As explain() says it. */
  explanation: string;
  /** Such as "580.159.04"; null where the kernel has no NVIDIA driver. */
  driver: string | null;
  /** The newest CUDA that the driver knows. */
  driverCuda: string | null;
  /** The CUDA that the runtime's addon was built with. */
  runtimeCuda: string | null;
  devices: DeviceInfo[];
  /** What keeps a GPU that is present from being used. */
  problem: Problem | null;
}

/**
 * Creates no CUDA context. An addon of the runtime that does not load is not asked: it could end
 * this program.
 */
export function findCuda(): CudaState {
  const driver = driverVersion();
  // The devices of Linux and of Windows' subsystem for it.
  const present =
    driver !== null || ["/dev/nvidiactl", "/dev/dxg"].some((path) => existsSync(path));
  if (tryAddon(readPackage(ownFolder)!)?.failure) {
    return {
      present,
      available: false,
      explanation: "CUDA is not available: the runtime's addon does not load",
      driver,
      driverCuda: null,
      runtimeCuda: null,
      devices: [],
      problem: null,
    };
  }
  const probe = native().probe();
  return {
    present,
    available: isAvailable("cuda"),
    explanation: explain(),
    driver,
    driverCuda: cudaVersion(probe.driverVersion),
    runtimeCuda: cudaVersion(probe.runtimeVersion),
    devices: devices().filter(({ device }) => device !== "cpu"),
    problem: present ? driverProblem(probe, process.env.CUDA_VISIBLE_DEVICES) : null,
  };
}

/**
 * null too for an addon without CUDA, which is said of each package, and where somebody has hidden
 * the devices.
 */
export function driverProblem(probe: Probe, visible: string | undefined): Problem | null {
  const problem = cudaProblem(probe, visible);
  if (problem === null || !probe.withCuda) return null;
  if (["", "-1"].includes(visible ?? "all") && probe.status === "cudaErrorNoDevice") return null;
  return { problem, remedy: driverRemedy(probe, visible) };
}

function driverRemedy(probe: Probe, visible: string | undefined): string {
  if (probe.driverVersion === 0) {
    return (
      "install the driver's libraries (libcuda.so.1); start a container with --gpus all and " +
      "NVIDIA_DRIVER_CAPABILITIES=compute,utility"
    );
  }
  if (probe.driverVersion < probe.runtimeVersion) return "update the NVIDIA driver to 580 or later";
  if (visible !== undefined) return "correct CUDA_VISIBLE_DEVICES, or remove it";
  return "see what nvidia-smi says; after an update of the driver, restart the machine";
}

function driverVersion(): string | null {
  try {
    const text = readFileSync("/proc/driver/nvidia/version", "utf8");
    return /Kernel Module.*? (\d+\.[\d.]+) /.exec(text)?.[1] ?? null;
  } catch {
    return null;
  }
}

function cudaVersion(number: number): string | null {
  if (number === 0) return null;
  return `${Math.floor(number / 1000)}.${Math.floor((number % 1000) / 10)}`;
}
