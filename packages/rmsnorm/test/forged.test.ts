// The binding, called past TypeScript's checks: whatever it is given, it refuses, reads nothing
// outside a tensor, and works at the next good call.
import { ones, type Tensor, zeros } from "@warpwright/runtime";
import { dtypeCode, handleOf, packRows, streamFor } from "@warpwright/runtime/kernel";
import { floatDTypes, testDevices } from "@warpwright/testing";
import { rowGeometry, testForgedCalls } from "@warpwright/testing/vitest";
import { describe, expect, test } from "vitest";
import { type Native, native } from "../src/native.js";

testForgedCalls({
  op: "rmsnorm",
  native: (...args: Parameters<Native["rmsnormFwd"]>) => native().rmsnormFwd(...args),
  good(device) {
    const x = ones([4, 16], { device });
    const out = zeros([4, 16], { device });
    const weight = ones([16], { device });
    const rstd = zeros([4], { device });
    return {
      x: { tensor: x },
      residual: { tensor: null },
      weight: { tensor: weight, optional: true },
      out: { tensor: out },
      residualOut: { tensor: null },
      rstd: { tensor: rstd, optional: true },
      stream: { stream: device },
      geometry: { geometry: rowGeometry([x, null, out, null], [weight, rstd]) },
      dtype: { dtype: "float32" },
      weightDtype: { dtype: "float32" },
      eps: { number: 1e-6 },
      weightOffset: { number: 0 },
      casting: { integer: 0, below: 2 },
    };
  },
  more(device) {
    const alone = handleOf(ones([4, 16], { device }));
    return [
      ["a residual without its sum", "residual", alone],
      ["a sum without its residual", "residualOut", alone],
    ];
  },
});

describe.each(testDevices())("forged dtypes on %s", (device) => {
  const pairs = floatDTypes.flatMap((dtype) =>
    floatDTypes.map((weightDtype) => [dtype, weightDtype] as const),
  );
  test.each(pairs)("rows of %s, and a weight of %s at the end of its memory", (dtype, other) => {
    const x = ones([4, 16], { dtype, device });
    const out = zeros([4, 16], { dtype, device });
    const last = ones([24], { dtype: other, device }).narrow(0, 8, 16);
    const call = (weight: Tensor | null) =>
      native().rmsnormFwd(
        ...([handleOf(x), null, weight && handleOf(weight), handleOf(out), null, null] as const),
        streamFor("test", x.device),
        packRows([x, null, out, null], [weight, null])!,
        ...([dtypeCode(dtype), dtypeCode(other), 1e-6, 0, 0] as const),
      );
    if (other === dtype || other === "float32") {
      call(last);
    } else {
      expect(() => call(last)).toThrow(
        expect.objectContaining({
          code: "ERR_VALUE",
          message: "rmsnorm: expected weightDtype to be dtype or float32",
        }),
      );
      expect(new Set(out.dataSync())).toEqual(new Set([0]));
      call(null);
    }
    expect(out.dataSync()[63]).toBeCloseTo(1, 2);
  });
});
