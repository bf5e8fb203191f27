// The binding, called past TypeScript's checks: whatever it is given, it refuses, reads nothing
// outside a tensor, and works at the next good call.
import { type Device, full, ones, zeros } from "@warpwright/runtime";
import { handleOf, streamFor } from "@warpwright/runtime/kernel";
import { testDevices } from "@warpwright/testing";
import { testForgedCalls } from "@warpwright/testing/vitest";
import { describe, expect, test } from "vitest";
import { packAttention, packMerge } from "../src/geometry.js";
import { type Native, native } from "../src/native.js";

const shape = [2, 3, 2, 8];

function attentionTensors(device: Device) {
  return {
    q: ones(shape, { device }),
    k: ones(shape, { device }),
    v: ones(shape, { device }),
    out: zeros(shape, { device }),
    lse: zeros([2, 2, 3], { device }),
    mask: zeros([2, 2, 3, 3], { device }),
    sinks: full([2], -1e30, { device }),
  };
}

testForgedCalls({
  op: "attention",
  native: (...args: Parameters<Native["attentionFwd"]>) => native().attentionFwd(...args),
  good(device) {
    const tensors = attentionTensors(device);
    const { q, k, v, out, lse, mask, sinks } = tensors;
    return {
      ...{ q: { tensor: q }, k: { tensor: k }, v: { tensor: v }, out: { tensor: out } },
      lse: { tensor: lse, optional: true },
      mask: { tensor: mask, optional: true },
      sinks: { tensor: sinks, optional: true },
      stream: { stream: device },
      geometry: {
        geometry: { values: Float64Array.from(packAttention(tensors, "bshd")), unused: [] },
      },
      dtype: { dtype: "float32" },
      outDtype: { dtype: "float32" },
      maskDtype: { integer: 0, below: 7 },
      windowLeft: { number: -1 },
      windowRight: { number: -1 },
      softmaxScale: { number: 0.5 },
      softcap: { number: 0 },
    };
  },
});

testForgedCalls({
  op: "mergeAttention",
  native: (...args: Parameters<Native["mergeFwd"]>) => native().mergeFwd(...args),
  good(device) {
    const [outA, outB, out] = [
      ones(shape, { device }),
      ones(shape, { device }),
      zeros(shape, { device }),
    ];
    const [lseA, lseB, lse] = [0, 1, 2].map(() => zeros([2, 2, 3], { device }));
    const values = Float64Array.from(packMerge([outA, outB, out], [lseA!, lseB!, lse!], "bshd"));
    return {
      ...{ outA: { tensor: outA }, lseA: { tensor: lseA! }, outB: { tensor: outB } },
      ...{ lseB: { tensor: lseB! }, out: { tensor: out }, lse: { tensor: lse! } },
      stream: { stream: device },
      geometry: { geometry: { values, unused: [] } },
      dtype: { dtype: "float32" },
    };
  },
});

describe.each(testDevices())("what the launcher answers for on %s", (device) => {
  const tensors = attentionTensors(device);
  const { q, k, v, out, lse, mask, sinks } = tensors;

  function call(change: (geometry: Float64Array, numbers: number[]) => void): void {
    const geometry = Float64Array.from(packAttention(tensors, "bshd"));
    const numbers = [-1, -1, 0.5, 0];
    change(geometry, numbers);
    const handles = [q, k, v, out, lse, mask, sinks].map(handleOf);
    const args = [...handles, streamFor("test", q.device), geometry, 0, 0, 0, ...numbers];
    native().attentionFwd(...(args as Parameters<Native["attentionFwd"]>));
  }

  function expectWorking(): void {
    call(() => undefined);
    expect(out.dataSync()[0]).toBeCloseTo(1, 5);
  }

  // Index and value in the geometry; what the binding finds inside the tensors.
  test.each<[string, ...(readonly [number, number])[]]>([
    ["a head dim of 0", [0, 0]],
    ["a head dim of v of 0", [1, 0]],
    ["two heads over three", [6, 3], [14, 0], [18, 0]],
    ["no heads of k", [6, 0]],
    ["fewer batches of k", [5, 1]],
    ["a mask of two columns", [28, 2]],
  ])("%s is refused", (_, ...changes) => {
    const forged = (geometry: Float64Array) => {
      for (const [index, value] of changes) geometry[index] = value;
    };
    expect(() => call(forged)).toThrow(
      expect.objectContaining({
        code: device === "cpu" ? "ERR_UNSUPPORTED" : "cudaErrorInvalidValue",
      }),
    );
    expectWorking();
  });

  test.each([0, -1, Number.NaN])("a softmaxScale of %d is refused", (scale) => {
    expect(() => call((_, numbers) => numbers.splice(2, 1, scale))).toThrow();
    expectWorking();
  });

  test.each([1e300, -7, 2 ** 31, 1.5, Number.NaN])("a window of %d is some window", (window) => {
    call((_, numbers) => numbers.splice(0, 2, window, window));
    expect(out.dataSync()[0]).toBeCloseTo(1, 5);
  });

  test.each([2, 3, 4, 7])("nothing is read or written where size %i is 0", (index) => {
    call((geometry) => {
      geometry[index] = 0;
      if (index === 2) geometry[5] = 0;
      if (index === 7) geometry[28] = 0;
    });
    expectWorking();
  });
});
