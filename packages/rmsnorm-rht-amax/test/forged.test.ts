// The binding, called past TypeScript's checks.
import { ones, zeros } from "@warpwright/runtime";
import { dtypeCode, handleOf, packRows, streamFor } from "@warpwright/runtime/kernel";
import { testDevices, valuesOf } from "@warpwright/testing";
import { rowGeometry, testForgedCalls } from "@warpwright/testing/vitest";
import { describe, expect, test } from "vitest";
import { type Native, native } from "../src/native.js";

testForgedCalls({
  op: "rmsnormRhtAmax",
  native: (...args: Parameters<Native["rmsnormRhtAmaxFwd"]>) => native().rmsnormRhtAmaxFwd(...args),
  first: 4,
  good(device) {
    const x = ones([4, 16], { device });
    const weight = ones([16], { device });
    const out = zeros([4, 16], { device });
    const amax = zeros([4], { device });
    return {
      x: { tensor: x },
      weight: { tensor: weight },
      out: { tensor: out },
      amax: { tensor: amax },
      stream: { stream: device },
      geometry: { geometry: rowGeometry([x, out], [weight, amax]) },
      dtype: { dtype: "float32" },
      weightDtype: { dtype: "float32" },
      rowsPerCta: { number: 1 },
      numThreads: { integer: 0, below: 1025 },
      eps: { number: 0 },
      signs: { integer: 0, below: 65_536 },
      ignoreNan: { integer: 0, below: 2 },
    };
  },
  more: () => [
    ["no rows for an amax", "rowsPerCta", 0],
    ["fewer rows for an amax", "rowsPerCta", -1],
    ["half a row for an amax", "rowsPerCta", 0.5],
    ["rows that do not divide", "rowsPerCta", 3],
    ["more rows than there are", "rowsPerCta", 8],
    ["rows beyond 2^53", "rowsPerCta", 2 ** 53],
    ["rows that are no number", "rowsPerCta", Number.NaN],
  ],
});

describe.each(testDevices())("forged sizes on %s", (device) => {
  const call = (hiddenSize: number, numAmax: number, weightDtype: "float16" | "bfloat16") => {
    const place = { dtype: "bfloat16", device } as const;
    const [x, out] = [ones([4, hiddenSize], place), zeros([4, hiddenSize], place)];
    const weight = ones([hiddenSize], { dtype: weightDtype, device });
    const amax = zeros([numAmax], { device });
    const forged = () =>
      native().rmsnormRhtAmaxFwd(
        ...([handleOf(x), handleOf(weight), handleOf(out), handleOf(amax)] as const),
        streamFor("test", x.device),
        packRows([x, out], [weight, amax])!,
        ...([dtypeCode("bfloat16"), dtypeCode(weightDtype), 2, 0, 1e-5, 0, 0] as const),
      );
    return { forged, written: () => [...valuesOf(out), ...valuesOf(amax)] };
  };

  test.each([
    ["rows that are no whole blocks", 24, 2, "bfloat16", "ERR_SHAPE"],
    ["an amax that is too short", 16, 1, "bfloat16", "ERR_SHAPE"],
    ["a weight of another 16-bit dtype", 16, 2, "float16", "ERR_VALUE"],
  ] as const)("%s", (_, hiddenSize, numAmax, weightDtype, code) => {
    const { forged, written } = call(hiddenSize, numAmax, weightDtype);
    expect(forged).toThrow(expect.objectContaining({ code }));
    expect(new Set(written())).toEqual(new Set([0]));
  });

  test("the same call without a fault", () => {
    const { forged, written } = call(16, 2, "bfloat16");
    forged();
    expect(written().at(-1)).toBeCloseTo(4, 4);
  });
});
