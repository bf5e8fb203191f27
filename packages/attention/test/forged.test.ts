// The binding, called past TypeScript's checks: whatever it is given, it refuses, reads nothing
// outside a tensor, and works at the next good call.
import { ones, type Tensor, zeros } from "@warpwright/runtime";
import { type Handle, handleOf, streamFor } from "@warpwright/runtime/kernel";
import { testDevices } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { packAttention, packMerge } from "../src/geometry.js";
import { native as load } from "../src/native.js";

const native = load();
const nonsense = [undefined, null, 1, "x", {}, [], () => 1, Symbol("x"), 1n, new Uint8Array(8)];
const counts = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 52, 2 ** 53, 1e300];

/** A native function, with good arguments by position. */
interface Target {
  name: string;
  op: string;
  call: (...args: unknown[]) => void;
  good: () => unknown[];
  /** Positions of tensors, of those that may be left out, of the geometry, and of numbers. */
  tensors: readonly number[];
  optional: readonly number[];
  geometry: number;
  numbers: readonly number[];
  /** Of the output, whose first number is 1 after a good call. */
  out: Tensor;
}

describe.each(testDevices())("forged calls on %s", (device) => {
  const shape = [2, 3, 2, 8];
  const [q, k, v, out] = [ones(shape, { device }), ones(shape, { device }), ones(shape, { device }), zeros(shape, { device })];
  const lse = zeros([2, 2, 3], { device });
  const mask = zeros([2, 2, 3, 3], { device });
  const sinks = ones([2], { device }).fill(-1e30);
  const disposed = ones(shape, { device });
  const staleHandle = handleOf(disposed);
  disposed.dispose();
  const short = handleOf(ones([2], { device }).narrow(0, 1, 1).clone());
  const stream = streamFor("test", q.device);

  const tensors = { q, k, v, out, lse, mask, sinks };
  const targets: readonly Target[] = [
    {
      name: "attentionFwd",
      op: "attention",
      call: native.attentionFwd as never,
      good: () => [
        ...Object.values(tensors).map(handleOf),
        stream,
        Float64Array.from(packAttention(tensors, "bshd")),
        ...[0, 0, 0, -1, -1, 0.5, 0],
      ],
      tensors: [0, 1, 2, 3],
      optional: [4, 5, 6],
      geometry: 8,
      numbers: [9, 10, 11, 12, 13, 14, 15],
      out,
    },
    {
      name: "mergeFwd",
      op: "mergeAttention",
      call: native.mergeFwd as never,
      good: () => [
        ...[q, lse, k, lse, out, mask.select(3, 0)].map(handleOf),
        stream,
        Float64Array.from(packMerge([q, k, out], [lse, lse, mask.select(3, 0)], "bshd")),
        0,
      ],
      tensors: [0, 1, 2, 3, 4, 5],
      optional: [],
      geometry: 7,
      numbers: [8],
      out,
    },
  ];

  describe.each(targets.map((target) => [target.name, target] as const))("%s", (_, target) => {
    const forgeries: [string, number, unknown][] = [];
    for (const value of nonsense) {
      const required = [...target.tensors, target.geometry];
      for (const at of required) forgeries.push([`argument ${at} is ${String(value)}`, at, value]);
      if (value !== undefined && value !== null) {
        for (const at of target.optional) {
          forgeries.push([`argument ${at} is ${String(value)}`, at, value]);
        }
      }
      for (const at of target.numbers) {
        if (typeof value !== "number") {
          forgeries.push([`argument ${at} is ${String(value)}`, at, value]);
        }
      }
    }
    for (const at of [...target.tensors, ...target.optional]) {
      forgeries.push([`argument ${at} is stale`, at, staleHandle]);
      forgeries.push([`argument ${at} is too short`, at, short]);
    }
    const { good, geometry } = target;
    const numbers = good()[geometry] as Float64Array;
    forgeries.push(
      ["a Tensor in place of its handle", 0, q],
      ["a copy of a handle", 0, { ...handleOf(q) }],
      ["an object that inherits from a handle", 0, Object.create(handleOf(q))],
      ["a proxy of a handle", 0, new Proxy(handleOf(q), {})],
      ["a geometry that is too short", geometry, numbers.slice(0, -1)],
      ["an empty geometry", geometry, new Float64Array(0)],
      ["a geometry of another kind", geometry, new Float32Array(numbers.length)],
    );
    for (let index = 0; index < numbers.length; index++) {
      for (const count of counts) {
        const forged = Float64Array.from(numbers);
        forged[index] = count;
        forgeries.push([`geometry[${index}] is ${count}`, geometry, forged]);
      }
    }
    for (const dtype of [-1, 3, 7, Number.NaN]) {
      forgeries.push([`dtype is ${dtype}`, target.numbers[0]!, dtype]);
    }

    test.each(forgeries)("%s", (_, index, value) => {
      const args = good();
      args[index] = value;
      expect(() => target.call(...args)).toThrow(
        expect.objectContaining({
          code: expect.stringMatching(/^(ERR_|cudaErrorInvalidValue)/),
          message: expect.stringMatching(new RegExp(`^${target.op}: `)),
        }),
      );
      target.call(...good());
      expect(target.out.dataSync()[0]).toBeCloseTo(1, 5);
    });

    test("no arguments at all", () => {
      expect(() => target.call()).toThrow(TypeError);
    });

    test("a tensor of another device, and a stream of none", () => {
      if (device === "cpu") return;
      const args = good();
      args[2] = handleOf(ones(shape));
      const wrongDevice = expect.objectContaining({ code: "ERR_DEVICE" });
      expect(() => target.call(...args)).toThrow(wrongDevice);
      const other = good();
      other[target.geometry - 1] = {} as Handle;
      expect(() => target.call(...other)).toThrow(TypeError);
    });
  });

  // Numbers that the binding can read and the launcher has to refuse: [index, value, …].
  const geometries: readonly (readonly [string, ...(readonly [number, number])[]])[] = [
    ["a head dim of 0", [0, 0]],
    ["a head dim above 256", [0, 257]],
    ["a head dim of v of 0", [1, 0]],
    ["three heads over two", [3, 3], [26, 3]],
    ["no heads of k", [6, 0]],
    ["more batches of k", [5, 1]],
    ["a mask of two columns", [28, 2]],
  ];
  test.each(geometries)("%s", (_, ...changes) => {
    const target = targets[0]!;
    const args = target.good();
    for (const [index, value] of changes) (args[8] as Float64Array)[index] = value;
    expect(() => target.call(...args)).toThrow();
    target.call(...target.good());
    expect(out.dataSync()[0]).toBeCloseTo(1, 5);
  });

  test.each([0, -1, Number.NaN])("a softmaxScale of %d", (scale) => {
    const target = targets[0]!;
    const args = target.good();
    args[14] = scale;
    expect(() => target.call(...args)).toThrow();
  });

  test.each([1e300, -7, 2 ** 31, 1.5, Number.NaN])("a window of %d is some window", (window) => {
    const target = targets[0]!;
    const args = target.good();
    [args[12], args[13]] = [window, window];
    target.call(...args);
    expect(out.dataSync()[0]).toBeCloseTo(1, 5);
  });

  test("empty sizes", () => {
    const target = targets[0]!;
    for (const index of [2, 3, 4, 7]) {
      const args = target.good();
      (args[8] as Float64Array)[index] = 0;
      if (index === 2) (args[8] as Float64Array)[5] = 0;
      if (index === 7) (args[8] as Float64Array)[28] = 0;
      target.call(...args);
    }
    target.call(...target.good());
    expect(out.dataSync()[0]).toBeCloseTo(1, 5);
  });
});
