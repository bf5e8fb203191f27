import { ones } from "@warpwright/runtime";
import { testDevices } from "@warpwright/testing";
import { describe, test } from "vitest";
import { testRefusals } from "../../../tooling/elementwise-suites/src/index.js";
import { expectFailure, wrong } from "../../../tooling/vitest/failures.js";
import { gelu } from "../src/index.js";
import { operations } from "./operations.js";

testRefusals(operations[0]!);

describe.each(testDevices())("options that are refused on %s", (device) => {
  test.each([
    ["erf", 'ERR_VALUE gelu: expected approximate to be "none", "tanh" or "quick", got "erf"'],
    ["Tanh", 'ERR_VALUE gelu: expected approximate to be "none", "tanh" or "quick", got "Tanh"'],
    [true, "ERR_KIND gelu: expected approximate to be a string, got a boolean"],
    [null, "ERR_KIND gelu: expected approximate to be a string, got null"],
  ])("approximate is %s", async (approximate, error) => {
    await expectFailure(error, () => gelu(ones([8], { device }), wrong({ approximate })));
  });
});
