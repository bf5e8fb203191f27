import { testOptionErrors, testOverlaps, testTensorErrors } from "@warpwright/testing/vitest";
import { callees } from "./callees.js";

/** Positive numbers that are 0 in float32. */
const faded = [
  ["limit", 1e-50],
  ["alpha", 1e-46],
] as const;

testTensorErrors(callees);
testOptionErrors(callees, () =>
  callees.flatMap((callee) =>
    faded.map(([name, value]) => ({
      callee,
      fault: `${name} is ${value}`,
      spoil: () => ({ [name]: value }),
      error: `ERR_VALUE ${callee.op}: expected ${name} to be above 0 in float32, got ${value}`,
    })),
  ),
);
testOverlaps(callees);
