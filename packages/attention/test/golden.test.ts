import type { Tensor } from "@warpwright/runtime";
import { checkGolden, goldenCases, poisoned, testDevices } from "@warpwright/testing";
import { describe, test } from "vitest";
import { type AttentionOptions, attention } from "../src/index.js";

describe.each(testDevices())("attention's golden cases on %s", (device) => {
  const cases = goldenCases<AttentionOptions>("attention", { device });
  test.each(cases.map((golden) => [golden.name, golden] as const))("%s", (_, golden) => {
    const { q, k, v, mask, sinks } = golden.inputs as Record<string, Tensor>;
    const { expected, options } = golden;
    const lse = poisoned(expected["lse"]!.shape, { device });
    const out = attention(q!, k!, v!, { ...options, mask, sinks, lse });
    checkGolden(out, expected["out"]!);
    checkGolden(lse, expected["lse"]!);
    golden.dispose();
  });
});
