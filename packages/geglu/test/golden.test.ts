import type { Tensor } from "@warpwright/runtime";
import { checkGolden, goldenCases, testDevices } from "@warpwright/testing";
import { describe, test } from "vitest";
import { type GegluOptions, geglu, gegluPair } from "../src/index.js";

describe.each(testDevices())("geglu's golden cases on %s", (device) => {
  const cases = goldenCases<GegluOptions>("geglu", { device });
  test.each(cases.map((golden) => [golden.name, golden] as const))("%s", (_, golden) => {
    const x = golden.inputs["x"]!;
    const wanted = golden.expected["out"]!;
    const { gate = "first", interleaved = false, approximate } = golden.options;
    checkGolden(geglu(x, golden.options), wanted);
    if (!interleaved) {
      const halves = x.chunk(2, -1) as [Tensor, Tensor];
      const [first, last] = gate === "first" ? halves : ([halves[1], halves[0]] as const);
      checkGolden(gegluPair(first, last, { approximate }), wanted);
    }
    golden.dispose();
  });
});
