import { afterAll, beforeAll, expect, test } from "vitest";
import { readArchitectures } from "../src/architectures.js";
import { driverProblem } from "../src/cli/cuda.js";
import { cudaProblem } from "../src/devices.js";
import type { Probe } from "../src/native.js";
import { buildDriver, type Driver } from "./driver.js";
import { type Installed, install, runModule } from "./installed.js";

let installed: Installed;
let driver: Driver;
beforeAll(() => {
  installed = install({ addon: true });
  driver = buildDriver();
});
afterAll(() => {
  installed.remove();
  driver.remove();
});

const explain = 'import * as ww from "@warpwright/runtime"; console.log(ww.explain());';
const withoutCuda = readArchitectures().length === 0;

// 100: no device; 803: the kernel's part and the library differ; 804: forward compatibility on a
// device that does not have it.
const drivers: [version: number, start: number, explanation: string][] = [
  [
    11040,
    0,
    "the NVIDIA driver is too old: it has CUDA 11.4, and CUDA 13.0 needs driver 580 or later",
  ],
  [
    12080,
    0,
    "the NVIDIA driver is too old: it has CUDA 12.8, and CUDA 13.0 needs driver 580 or later",
  ],
  [13000, 100, "the driver shows no device"],
  [14020, 100, "the driver shows no device"],
  [
    13000,
    803,
    "counting the devices failed with cudaErrorSystemDriverMismatch: system has unsupported " +
      "display driver / cuda driver combination",
  ],
  [
    13000,
    804,
    "counting the devices failed with cudaErrorCompatNotSupportedOnDevice: forward compatibility " +
      "was attempted on non supported HW",
  ],
];

test.skipIf(withoutCuda).each(drivers)(
  "[ND-10] a driver of CUDA %i that starts with %i: %s",
  (version, start, explanation) => {
    const { stdout, stderr } = runModule(installed, explain, driver.env(version, start));
    expect({ stdout, stderr }).toEqual({
      stdout: `CUDA is not available: ${explanation}\n`,
      stderr: "",
    });
  },
);

const usable: Probe = {
  withCuda: true,
  driverVersion: 13000,
  runtimeVersion: 13000,
  status: "cudaSuccess",
  message: "no error",
  devices: [{ name: "GPU", major: 9, minor: 0, totalMemory: 2 ** 36, multiprocessorCount: 132 }],
};

const tooOld =
  "the NVIDIA driver is too old: it has CUDA 12.9, and CUDA 13.0 needs driver 580 or later";

test.each<[string, Partial<Probe>, string | undefined, string | null, string]>([
  ["a driver as old as the build", {}, undefined, null, ""],
  ["a newer minor version", { driverVersion: 13020 }, undefined, null, ""],
  ["a newer major version", { driverVersion: 14000 }, undefined, null, ""],
  ["an older minor version, which CUDA accepts", { runtimeVersion: 13010 }, undefined, null, ""],
  [
    "an older major version",
    { driverVersion: 12090 },
    undefined,
    tooOld,
    "update the NVIDIA driver",
  ],
  [
    "none",
    { driverVersion: 0 },
    undefined,
    "there is no NVIDIA driver; version 580 or later is needed",
    "install the driver's libraries",
  ],
  [
    "a choice of devices that there are not",
    { devices: [], status: "cudaErrorNoDevice" },
    "7",
    "the driver shows no device, with CUDA_VISIBLE_DEVICES=7",
    "correct CUDA_VISIBLE_DEVICES",
  ],
  [
    "an error of the driver's",
    { status: "cudaErrorSystemNotReady", message: "system not yet initialized" },
    undefined,
    "counting the devices failed with cudaErrorSystemNotReady: system not yet initialized",
    "see what nvidia-smi says",
  ],
])("[ND-10] %s", (_, differences, visible, problem, remedy) => {
  const probe = { ...usable, ...differences };
  expect(cudaProblem(probe, visible)).toBe(problem);
  expect(driverProblem(probe, visible)?.problem ?? null).toBe(problem);
  expect(driverProblem(probe, visible)?.remedy ?? "").toContain(remedy);
});

test.each(["", "-1"])("hiding all devices with CUDA_VISIBLE_DEVICES=%s is no fault", (visible) => {
  const probe = { ...usable, devices: [], status: "cudaErrorNoDevice" };
  expect(cudaProblem(probe, visible)).toMatch(/^the driver shows no device, with /);
  expect(driverProblem(probe, visible)).toBe(null);
});

test("a build without CUDA is no fault of the driver's", () => {
  const probe = { ...usable, withCuda: false };
  expect(cudaProblem(probe, undefined)).toBe("the runtime's addon was built without CUDA");
  expect(driverProblem(probe, undefined)).toBe(null);
});
