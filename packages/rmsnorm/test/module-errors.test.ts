// What RMSNorm's constructor alone refuses.
import { explain, isAvailable } from "@warpwright/runtime";
import { testDevices } from "@warpwright/testing";
import { describe, test } from "vitest";
import { expectFailure } from "../../../tooling/vitest/failures.js";
import { RMSNorm } from "../src/index.js";
import { moduleCallee as callee, kindRefusals, type Refusal, testRefusals } from "./refusals.js";

function refusal(argument: string, value: unknown, error: string): Refusal {
  return {
    callee,
    fault: `${argument} is ${String(value)}`,
    spoil: () => ({ [argument]: value }),
    error,
  };
}

const sizes = [0, -8, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53];

const otherDtypes = ["int32", "int64", "uint8", "bool", "float64", "bf16", ""];

const refusals: readonly Refusal[] = [
  ...kindRefusals(callee, "hiddenSize", "a number", ["a number"]),
  ...sizes.map((size) =>
    refusal(
      "hiddenSize",
      size,
      `ERR_VALUE RMSNorm: expected hiddenSize to be an integer of at least 1, got ${size}`,
    ),
  ),
  ...kindRefusals(callee, "elementwiseAffine", "a boolean", ["undefined", "a boolean"]),
  ...kindRefusals(callee, "dtype", "a string", ["undefined", "a string"]),
  ...otherDtypes.map((dtype) =>
    refusal(
      "dtype",
      dtype,
      `ERR_DTYPE RMSNorm: expected dtype float32, float16 or bfloat16, got "${dtype}"`,
    ),
  ),
  ...kindRefusals(callee, "device", "a string", ["undefined", "a string"]),
  ...["gpu", "", "cuda:", "cuda:-1", "cuda:01", "CPU"].map((device) =>
    refusal(
      "device",
      device,
      `ERR_VALUE RMSNorm: expected device to be "cpu", "cuda" or "cuda:N", got "${device}"`,
    ),
  ),
];

describe.each(testDevices())("RMSNorm on %s", (device) => {
  testRefusals(device, refusals);
});

describe("RMSNorm on a device that is not there", () => {
  const missing = explain().replace("CUDA is not available: ", "");

  test.skipIf(isAvailable("cuda"))("without a usable GPU nothing falls back", async () => {
    const error = `ERR_DEVICE RMSNorm: cuda:0 is not available: ${missing}`;
    await expectFailure(error, () => new RMSNorm(8, { device: "cuda" }));
  });

  test.skipIf(!isAvailable("cuda"))("beyond the GPUs there are", async () => {
    const error = "ERR_DEVICE RMSNorm: cuda:99 is not available: there *";
    await expectFailure(error, () => new RMSNorm(8, { device: "cuda:99" }));
  });
});
