import { zeros } from "@warpwright/runtime";
import { checkGolden, goldenCases, poisonedLike, testDevices } from "@warpwright/testing";
import { describe, test } from "vitest";
import { type RmsnormRhtAmaxOptions, rmsnormRhtAmax } from "../src/index.js";

describe.each(testDevices())("rmsnorm-rht-amax's golden cases on %s", (device) => {
  const cases = goldenCases<RmsnormRhtAmaxOptions>("rmsnorm-rht-amax", { device });
  test.each(cases.map((golden) => [golden.name, golden] as const))("%s", (_, golden) => {
    const { inputs, options, expected } = golden;
    const amax = zeros(expected["amax"]!.shape, { device }).fill(Number.POSITIVE_INFINITY);
    const given = { ...options, out: poisonedLike(inputs["x"]!), amax };
    rmsnormRhtAmax(inputs["x"]!, inputs["weight"]!, given);
    checkGolden(given.out, expected["out"]!);
    checkGolden(amax, expected["amax"]!);
    golden.dispose();
  });
});
