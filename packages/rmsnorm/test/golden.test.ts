import type { Tensor } from "@warpwright/runtime";
import { zeros } from "@warpwright/runtime";
import { checkGolden, goldenCases, poisonedLike, testDevices } from "@warpwright/testing";
import { describe, test } from "vitest";
import { addRmsnorm, type RmsnormOptions, rmsnorm } from "../src/index.js";

describe.each(testDevices())("rmsnorm's golden cases on %s", (device) => {
  const cases = goldenCases<RmsnormOptions>("rmsnorm", { device });
  test.each(cases.map((golden) => [golden.name, golden] as const))("%s", (_, golden) => {
    const { x, residual, weight } = golden.inputs as Record<string, Tensor | undefined>;
    const { expected, options } = golden;
    const rstd = expected["rstd"] && zeros(expected["rstd"].shape, { device });
    const all = { ...options, out: poisonedLike(x!), ...(rstd ? { rstd } : {}) };
    if (residual) {
      const residualOut = poisonedLike(residual);
      const result = addRmsnorm(x!, residual, weight ?? null, { ...all, residualOut });
      checkGolden(result.out, expected["out"]!);
      checkGolden(result.residual, expected["residualOut"]!);
    } else {
      checkGolden(rmsnorm(x!, weight ?? null, all), expected["out"]!);
    }
    if (rstd) checkGolden(rstd, expected["rstd"]!);
    golden.dispose();
  });
});
