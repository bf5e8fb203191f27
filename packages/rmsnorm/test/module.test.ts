import { randn, tensor } from "@warpwright/runtime";
import { bitsOf, testDevices } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { RMSNorm, rmsnorm } from "../src/index.js";

describe.each(testDevices())("RMSNorm on %s", (device) => {
  const x = randn([3, 16], { seed: 1, dtype: "bfloat16", device });

  test("starts as the identity weight", async () => {
    const norm = new RMSNorm(16, { dtype: "bfloat16", device });
    expect(await bitsOf(norm.forward(x))).toBe(await bitsOf(rmsnorm(x)));
  });

  test("with Gemma's offset the weight starts at 0", async () => {
    const norm = new RMSNorm(16, { weightOffset: 1, device });
    expect(await norm.weight!.data()).toEqual(new Float32Array(16));
    expect(await bitsOf(norm.forward(x))).toBe(await bitsOf(rmsnorm(x)));
  });

  test("passes its options on", async () => {
    const norm = new RMSNorm(16, { eps: 0.5, casting: "llama", device });
    norm.weight = randn([16], { seed: 2, device });
    const out = randn(x.shape, { dtype: "bfloat16", device });
    expect(norm.forward(x, { out })).toBe(out);
    const wanted = rmsnorm(x, norm.weight, { eps: 0.5, casting: "llama" });
    expect(await bitsOf(out)).toBe(await bitsOf(wanted));
  });

  test("without a weight", async () => {
    const norm = new RMSNorm(16, { elementwiseAffine: false });
    expect(norm.weight).toBeNull();
    expect(await bitsOf(norm.forward(x))).toBe(await bitsOf(rmsnorm(x)));
  });
});

test("says what it is", () => {
  expect(`${new RMSNorm(64)}`).toBe("RMSNorm(64, eps=0.000001)");
  const norm = new RMSNorm(8, { eps: 0.1, weightOffset: 1, casting: "llama" });
  expect(String(norm)).toBe("RMSNorm(8, eps=0.1, weightOffset=1, casting=llama)");
  expect(String(new RMSNorm(8, { elementwiseAffine: false }))).toContain("elementwiseAffine=false");
});

test("a weight may be replaced by a loaded one", async () => {
  const norm = new RMSNorm(2);
  norm.weight!.copyFrom(tensor([2, 3], { dtype: "bfloat16" }));
  const [first, second] = await norm.forward(tensor([1, 1])).data();
  expect(first).toBeCloseTo(2, 4);
  expect(second).toBeCloseTo(3, 4);
});
