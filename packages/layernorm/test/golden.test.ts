import { type Tensor, zeros } from "@warpwright/runtime";
import { checkGolden, goldenCases, poisonedLike, testDevices } from "@warpwright/testing";
import { describe, test } from "vitest";
import { type LayernormOptions, layernorm } from "../src/index.js";

describe.each(testDevices())("layernorm's golden cases on %s", (device) => {
  const cases = goldenCases<LayernormOptions>("layernorm", { device });
  test.each(cases.map((golden) => [golden.name, golden] as const))("%s", (_, golden) => {
    const { x, weight, bias } = golden.inputs as Record<string, Tensor | undefined>;
    const { expected, options } = golden;
    const statistics = Object.fromEntries(
      ["mean", "rstd"].flatMap((name) =>
        expected[name] ? [[name, zeros(expected[name].shape, { device })]] : [],
      ),
    );
    const all = { ...options, ...statistics, out: poisonedLike(x!) };
    checkGolden(layernorm(x!, weight, bias, all), expected["out"]!);
    for (const [name, tensor] of Object.entries(statistics)) checkGolden(tensor, expected[name]!);
    golden.dispose();
  });
});
