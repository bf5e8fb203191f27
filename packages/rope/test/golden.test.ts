import type { Tensor } from "@warpwright/runtime";
import { checkGolden, goldenCases, poisonedLike, testDevices } from "@warpwright/testing";
import { describe, test } from "vitest";
import { type RopeQKOptions, rope, ropeQK } from "../src/index.js";

describe.each(testDevices())("rope's golden cases on %s", (device) => {
  const cases = goldenCases<RopeQKOptions>("rope", { device });
  test.each(cases.map((golden) => [golden.name, golden] as const))("%s", (_, golden) => {
    const { q, k, cos, sin, ...index } = golden.inputs as Record<string, Tensor>;
    const options = { ...golden.options, ...index };
    const qOut = poisonedLike(q!);
    if (k) {
      const rotated = ropeQK(q!, k, cos!, sin!, { ...options, qOut, kOut: poisonedLike(k) });
      checkGolden(rotated.q, golden.expected["q"]!);
      checkGolden(rotated.k, golden.expected["k"]!);
    } else {
      checkGolden(rope(q!, cos!, sin!, { ...options, out: qOut }), golden.expected["q"]!);
    }
    golden.dispose();
  });
});
