import { ones, type Tensor, zeros } from "@warpwright/runtime";
import { handleOf, packRows } from "@warpwright/runtime/kernel";
import { type ForgedCalls, rowGeometry, testForgedCalls } from "@warpwright/testing/vitest";
import { describe, expect, test } from "vitest";
import { type Native, native } from "../src/native.js";
import { swigluReference } from "./reference.js";

const call = {
  op: "swiglu",
  native: (...args: Parameters<Native["swigluFwd"]>) => native().swigluFwd(...args),
  first: swigluReference(1, 1),
};

function good(gate: Tensor, up: Tensor | null): ReturnType<ForgedCalls["good"]> {
  const { device } = gate;
  const out = zeros([4, 16], { device });
  return {
    gate: { tensor: gate },
    up: { tensor: up },
    out: { tensor: out },
    stream: { stream: device },
    geometry: { geometry: rowGeometry([out, gate.narrow(-1, 0, 16), up], []) },
    dtype: { dtype: "float32" },
    limit: { number: Number.POSITIVE_INFINITY },
    alpha: { number: 1 },
    upOffset: { number: 0 },
  };
}

testForgedCalls({
  ...call,
  good: (device) => good(ones([4, 16], { device }), ones([4, 16], { device })),
});

// In turns in the gate's tensor.
testForgedCalls({ ...call, good: (device) => good(ones([4, 32], { device }), null) });

describe("forged scalars", () => {
  const [x, out] = [ones([2, 8]), zeros([2, 8])];
  const geometry = Float64Array.from(packRows([out, x, x], [])!);
  const run = (limit: number, alpha: number, upOffset: number) =>
    call.native(handleOf(x), handleOf(x), handleOf(out), null, geometry, 0, limit, alpha, upOffset);

  test.each([
    [0, 1, 0],
    [-7, 1, 0],
    [Number.NaN, 1, 0],
    [7, 0, 0],
    [7, Number.NaN, 0],
    [7, Number.POSITIVE_INFINITY, 0],
    [7, 1, Number.NaN],
    [7, 1, Number.NEGATIVE_INFINITY],
  ])("a limit of %d, an alpha of %d, an upOffset of %d", (...scalars) => {
    expect(() => run(...scalars)).toThrow("swiglu: the CPU backend refused the call");
    expect(new Set(out.dataSync())).toEqual(new Set([0]));
  });
});
