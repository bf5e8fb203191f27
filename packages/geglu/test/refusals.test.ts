import { ones } from "@warpwright/runtime";
import { testDevices } from "@warpwright/testing";
import { describe, test } from "vitest";
import { testRefusals } from "../../../tooling/elementwise-suites/src/index.js";
import { expectFailure, wrong } from "../../../tooling/vitest/failures.js";
import { geglu, gegluPair } from "../src/index.js";
import { operations } from "./operations.js";

testRefusals(operations[0]!);

describe.each(testDevices())("options that are refused on %s", (device) => {
  test.each([
    ["gelu", 'ERR_VALUE * approximate to be "none", "tanh" or "quick", got "gelu"'],
    [false, "ERR_KIND * approximate to be a string, got a boolean"],
  ])("approximate is %s", async (approximate, error) => {
    const x = ones([2, 8], { device });
    const options = wrong({ approximate });
    await expectFailure(error.replace("*", "geglu: expected"), () => geglu(x, options));
    await expectFailure(error.replace("*", "gegluPair: expected"), () => gegluPair(x, x, options));
  });

  test.each([
    ["gate", "second", 'ERR_VALUE geglu: expected gate to be "first" or "last", got "second"'],
    ["interleaved", 1, "ERR_KIND geglu: expected interleaved to be a boolean, got a number"],
  ])("%s is %s", async (name, value, error) => {
    await expectFailure(error, () => geglu(ones([8], { device }), wrong({ [name]: value })));
  });
});
