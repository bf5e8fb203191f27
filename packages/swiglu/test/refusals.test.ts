import { ones } from "@warpwright/runtime";
import { testDevices } from "@warpwright/testing";
import { describe, test } from "vitest";
import { testRefusals } from "../../../tooling/elementwise-suites/src/index.js";
import { expectFailure, wrong } from "../../../tooling/vitest/failures.js";
import { swiglu, swigluPair } from "../src/index.js";
import { plain } from "./operations.js";

testRefusals(plain);

const nan = Number.NaN;
const infinity = Number.POSITIVE_INFINITY;

/** An option, a value that it does not take, and what is said of it. */
const scalars: readonly (readonly [name: string, value: unknown, found: string])[] = [
  // A limit of 0 would make everything 0; who has none leaves it out. GL-05.
  ...[0, -7, nan, -infinity].map(
    (value) =>
      ["limit", value, `ERR_VALUE * limit to be a finite number above 0, got ${value}`] as const,
  ),
  ["limit", 1e-50, "ERR_VALUE * limit to be above 0 in float32, got 1e-50"],
  ["limit", 1e39, "ERR_VALUE * limit to be a finite float32 number, got 1e+39"],
  ["limit", null, "ERR_KIND * limit to be a number, got null"],
  ["limit", "7", "ERR_KIND * limit to be a number, got a string"],
  ...[0, -1.702, nan, infinity].map(
    (value) =>
      ["alpha", value, `ERR_VALUE * alpha to be a finite number above 0, got ${value}`] as const,
  ),
  ["alpha", 1e-46, "ERR_VALUE * alpha to be above 0 in float32, got 1e-46"],
  ["alpha", 1e300, "ERR_VALUE * alpha to be a finite float32 number, got 1e+300"],
  ["alpha", "1", "ERR_KIND * alpha to be a number, got a string"],
  ...[nan, infinity].map(
    (value) =>
      ["upOffset", value, `ERR_VALUE * upOffset to be a finite number, got ${value}`] as const,
  ),
  ["upOffset", -1e300, "ERR_VALUE * upOffset to be a finite float32 number, got -1e+300"],
  ["upOffset", true, "ERR_KIND * upOffset to be a number, got a boolean"],
];

describe.each(testDevices())("options that are refused on %s", (device) => {
  test.each(scalars)("%s is %s", async (name, value, found) => {
    const options = wrong({ [name]: value });
    const x = ones([2, 8], { device });
    await expectFailure(found.replace("*", "swiglu: expected"), () => swiglu(x, options));
    await expectFailure(found.replace("*", "swigluPair: expected"), () =>
      swigluPair(x, x, options),
    );
  });

  test.each([
    ["gate", "second", 'ERR_VALUE swiglu: expected gate to be "first" or "last", got "second"'],
    ["gate", 1, "ERR_KIND swiglu: expected gate to be a string, got a number"],
    ["interleaved", 1, "ERR_KIND swiglu: expected interleaved to be a boolean, got a number"],
  ])("%s is %s", async (name, value, error) => {
    const x = ones([2, 8], { device });
    await expectFailure(error, () => swiglu(x, wrong({ [name]: value })));
    await expectFailure(
      `ERR_VALUE swigluPair: unknown option "${name}", the nearest known is "*`,
      () => swigluPair(x, x, wrong({ [name]: value })),
    );
  });
});
