import type { Device } from "@warpwright/runtime";
import { ones } from "@warpwright/runtime";
import {
  type Refusal,
  testOptionErrors,
  testOverlaps,
  testTensorErrors,
} from "@warpwright/testing/vitest";
import { callees } from "./callees.js";

const [callee] = callees as [(typeof callees)[number]];

function refused(fault: string, error: string, spoil: Refusal["spoil"]): Refusal {
  return { callee, fault, spoil, error: `${error.replace(" ", " rmsnormRhtAmax: ")}` };
}

const wantedThreads = "expected numThreads to be a multiple of 32 up to 1024";
const wantedColumns = "expected 256 columns to give each of numThreads a multiple of 8";

const optionRefusals = [
  ...[1, 16, 33, 1056, 2048].map((numThreads) =>
    refused(`${numThreads} threads`, `ERR_VALUE ${wantedThreads}, got ${numThreads}`, () => ({
      numThreads,
    })),
  ),
  ...[64, 96, 1024].map((numThreads) =>
    refused(`${numThreads} threads`, `ERR_VALUE ${wantedColumns}, got ${numThreads}`, () => ({
      numThreads,
    })),
  ),
  ...[3, 4].map((rowsPerCta) =>
    refused(
      `${rowsPerCta} rows of 2`,
      `ERR_VALUE expected rowsPerCta to divide the 2 rows, got ${rowsPerCta}`,
      () => ({ rowsPerCta }),
    ),
  ),
  ...[65_536, 2 ** 31, -0x8000].map((signs) =>
    refused(
      `signs of ${signs}`,
      signs < 0
        ? `ERR_VALUE expected signs to be an integer of at least 0, got ${signs}`
        : `ERR_VALUE expected signs to be a mask of 16 bits, got ${signs}`,
      () => ({ signs }),
    ),
  ),
];

const shapeRefusals = (device: Device) => [
  ...[1, 8, 24, 2047, 17].map((size) =>
    refused(
      `${size} columns`,
      "ERR_SHAPE expected x with a last dimension that is a multiple of 16, " +
        `got shape [2, ${size}]`,
      () => ({ x: ones([2, size], { device }) }),
    ),
  ),
  refused("an amax of the default rows", "ERR_SHAPE expected amax of shape [1], got [2]", () => ({
    rowsPerCta: undefined,
  })),
];

testTensorErrors(callees, shapeRefusals);
testOptionErrors(callees, () => optionRefusals);
testOverlaps(callees);
