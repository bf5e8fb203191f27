import { randn, tensor, zeros } from "@warpwright/runtime";
import { bitsOf, testDevices } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { LayerNorm, layernorm } from "../src/index.js";

describe.each(testDevices())("LayerNorm on %s", (device) => {
  const x = randn([3, 16], { seed: 1, dtype: "bfloat16", device });

  test("starts as the identity", async () => {
    const norm = new LayerNorm(16, { dtype: "bfloat16", device });
    expect([norm.weight!.dtype, norm.bias!.dtype]).toEqual(["bfloat16", "bfloat16"]);
    expect(await bitsOf(norm.forward(x))).toBe(await bitsOf(layernorm(x)));
  });

  test("passes its parameters and options on", async () => {
    const norm = new LayerNorm(16, { eps: 0.5, device });
    norm.weight = randn([16], { seed: 2, device });
    norm.bias = randn([16], { seed: 3, device });
    const out = randn(x.shape, { dtype: "bfloat16", device });
    const [mean, rstd] = [zeros([3], { device }), zeros([3], { device })];
    expect(norm.forward(x, { out, mean, rstd })).toBe(out);
    const wanted = layernorm(x, norm.weight, norm.bias, { eps: 0.5 });
    expect(await bitsOf(out)).toBe(await bitsOf(wanted));
    expect((await rstd.data()).every((value) => value > 0)).toBe(true);
  });

  test("LN-20: without a bias, and without both", async () => {
    const weightOnly = new LayerNorm(16, { bias: false, device });
    expect(weightOnly.weight).not.toBeNull();
    const neither = new LayerNorm(16, { elementwiseAffine: false });
    expect(neither.weight).toBeNull();
    for (const norm of [weightOnly, neither]) {
      expect(norm.bias).toBeNull();
      expect(await bitsOf(norm.forward(x))).toBe(await bitsOf(layernorm(x)));
    }
  });
});

test("says what it is", () => {
  expect(`${new LayerNorm(64)}`).toBe("LayerNorm(64, eps=0.00001)");
  expect(String(new LayerNorm(8, { eps: 0.1, bias: false }))).toBe(
    "LayerNorm(8, eps=0.1, bias=false)",
  );
  const neither = new LayerNorm(8, { elementwiseAffine: false, bias: false });
  expect(String(neither)).toBe("LayerNorm(8, eps=0.00001, elementwiseAffine=false)");
});

test("parameters may be replaced by loaded ones", async () => {
  const norm = new LayerNorm(2);
  norm.weight!.copyFrom(tensor([2, 3], { dtype: "bfloat16" }));
  norm.bias!.copyFrom(tensor([10, 20]));
  const [first, second] = await norm.forward(tensor([1, 3])).data();
  expect(first).toBeCloseTo(8, 4);
  expect(second).toBeCloseTo(23, 4);
});
