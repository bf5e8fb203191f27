import { type Device, devices, explain, isAvailable } from "@warpwright/runtime";

/**
 * The devices a test runs on: "cpu", and "cuda:0" where it is usable. For `describe.each`; tests of
 * CUDA alone are for `describeCuda`, which says so when it skips them.
 *
 * @example
 * import { testDevices } from "@warpwright/testing";
 *
 * console.log(testDevices()); // ["cpu"] on a machine without a GPU
 */
export function testDevices(): Device[] {
  return isAvailable("cuda:0") ? ["cpu", "cuda:0"] : ["cpu"];
}

/**
 * Why a test that needs the first `count` CUDA devices cannot run here, in one line; undefined
 * where it can.
 *
 * @param count Default 1
 * @example
 * import { missingCuda } from "@warpwright/testing";
 *
 * console.log(missingCuda(2) ?? "two GPUs are here");
 */
export function missingCuda(count = 1): string | undefined {
  if (!isAvailable("cuda:0")) return explain().split("\n")[0];
  let usable = 1;
  while (usable < devices().length - 1 && isAvailable(`cuda:${usable}`)) usable++;
  return usable >= count ? undefined : `${count} CUDA devices are needed, ${usable} can be used`;
}
