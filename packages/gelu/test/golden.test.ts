import { checkGolden, goldenCases, poisonedLike, testDevices } from "@warpwright/testing";
import { describe, test } from "vitest";
import { type GeluOptions, gelu } from "../src/index.js";

describe.each(testDevices())("gelu's golden cases on %s", (device) => {
  const cases = goldenCases<GeluOptions>("gelu", { device });
  test.each(cases.map((golden) => [golden.name, golden] as const))("%s", (_, golden) => {
    const x = golden.inputs["x"]!;
    const out = gelu(x, { ...golden.options, out: poisonedLike(x) });
    checkGolden(out, golden.expected["out"]!);
    golden.dispose();
  });
});
