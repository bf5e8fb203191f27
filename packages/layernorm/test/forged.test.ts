// The binding, called past TypeScript's checks: whatever it is given, it refuses, reads nothing
// outside a tensor, and works at the next good call.
import { ones, type Tensor, zeros } from "@warpwright/runtime";
import { dtypeCode, handleOf, packRows, streamFor } from "@warpwright/runtime/kernel";
import { floatDTypes, testDevices } from "@warpwright/testing";
import { rowGeometry, testForgedCalls } from "@warpwright/testing/vitest";
import { describe, expect, test } from "vitest";
import { type Native, native } from "../src/native.js";

testForgedCalls({
  op: "layernorm",
  native: (...args: Parameters<Native["layernormFwd"]>) => native().layernormFwd(...args),
  good(device) {
    const x = ones([4, 16], { device });
    const out = zeros([4, 16], { device });
    const [weight, bias] = [ones([16], { device }), ones([16], { device })];
    const [mean, rstd] = [zeros([4], { device }), zeros([4], { device })];
    return {
      x: { tensor: x },
      residual: { tensor: null },
      weight: { tensor: weight, optional: true },
      bias: { tensor: bias, optional: true },
      out: { tensor: out },
      residualOut: { tensor: null },
      mean: { tensor: mean, optional: true },
      rstd: { tensor: rstd, optional: true },
      stream: { stream: device },
      geometry: { geometry: rowGeometry([x, null, out, null], [weight, bias, mean, rstd]) },
      dtype: { dtype: "float32" },
      weightDtype: { dtype: "float32" },
      biasDtype: { dtype: "float32" },
      eps: { number: 1e-6 },
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
  const cases = floatDTypes.flatMap((dtype) =>
    floatDTypes.flatMap((other) =>
      (["weight", "bias"] as const).map((name) => [dtype, name, other] as const),
    ),
  );
  test.each(cases)("rows of %s, and a %s of %s at the end of its memory", (dtype, name, other) => {
    const x = ones([4, 16], { dtype, device });
    const out = zeros([4, 16], { dtype, device });
    const last = ones([24], { dtype: other, device }).narrow(0, 8, 16);
    const call = (param: Tensor | null) => {
      const [weight, bias] = name === "weight" ? [param, null] : [null, param];
      const [weightDtype, biasDtype] = name === "weight" ? [other, dtype] : [dtype, other];
      native().layernormFwd(
        ...([handleOf(x), null, weight && handleOf(weight), bias && handleOf(bias)] as const),
        ...([handleOf(out), null, null, null, streamFor("test", x.device)] as const),
        packRows([x, null, out, null], [weight, bias, null, null])!,
        ...([dtypeCode(dtype), dtypeCode(weightDtype), dtypeCode(biasDtype), 1e-6] as const),
      );
    };
    if (other === dtype || other === "float32") {
      call(last);
    } else {
      out.fill(2);
      expect(() => call(last)).toThrow(
        expect.objectContaining({
          code: "ERR_VALUE",
          message: `layernorm: expected ${name}Dtype to be dtype or float32`,
        }),
      );
      expect(out.dataSync()[63]).toBe(2);
      call(null);
    }
    expect(out.dataSync()[63]).toBe(
      name === "bias" && (other === dtype || other === "float32") ? 1 : 0,
    );
  });
});
