import { describe } from "vitest";

import { missingCuda } from "../cuda.js";

export interface DescribeCudaOptions {
  /** How many CUDA devices the tests need. Default 1. */
  devices?: number;
}

/**
 * vitest's `describe` for tests that need CUDA. Without the devices the tests are skipped and the
 * suite's name says why, so that a run that left them out cannot be taken for a full one.
 *
 * @example
 * import { randn } from "@warpwright/runtime";
 * import { describeCuda } from "@warpwright/testing/vitest";
 * import { expect, test } from "vitest";
 *
 * describeCuda("randn", () => {
 *   test("is on the device", () => {
 *     expect(randn([4], { seed: 1, device: "cuda" }).device).toBe("cuda:0");
 *   });
 * });
 */
export function describeCuda(
  name: string,
  fn: () => void,
  { devices = 1 }: DescribeCudaOptions = {},
): void {
  const missing = missingCuda(devices);
  if (missing === undefined) describe(name, fn);
  else describe.skip(`${name} (skipped: ${missing})`, fn);
}
