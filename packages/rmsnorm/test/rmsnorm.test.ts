import { empty, randn, type Tensor, zeros } from "@warpwright/runtime";
import {
  bitsOf,
  expectClose,
  floatDTypes,
  misaligned,
  poisoned,
  seedGrid,
  testDevices,
  tolerances,
  valuesOf,
} from "@warpwright/testing";
import { randomParameter } from "@warpwright/testing/vitest";
import { describe, expect, test } from "vitest";
import { type AddRmsnormOptions, addRmsnorm, rmsnorm } from "../src/index.js";
import { rmsnormReference } from "./reference.js";
import { expectAddRmsnorm, expectRmsnorm } from "./support.js";

// Around the limits of each launch configuration of rmsnorm.cu (32, 64, 128, 256, 512, 1024, 2048,
// 4096 vectors of 16 bytes, then clusters of 2, 4 and 8), and sizes no vector divides.
const hiddenSizes = [
  1, 2, 3, 7, 8, 9, 31, 33, 127, 128, 129, 255, 256, 257, 511, 513, 769, 1023, 1025, 2047, 2048,
  2050, 3584, 4096, 4097, 5125, 8192, 8200, 12289, 16384, 16392, 32768, 32769, 65536, 65537, 131071,
  131072,
];

describe("the reference", () => {
  test("a row of 3 and 4 has a mean square of 12.5", () => {
    const { out, rstd } = rmsnormReference([3, 4], [1, 2], 2, "float32", { eps: 0 });
    expect(rstd[0]).toBeCloseTo(1 / Math.sqrt(12.5), 15);
    expect(out[1]).toBeCloseTo(8 / Math.sqrt(12.5), 15);
  });

  test("eps is inside the root", () => {
    const { out } = rmsnormReference([1e-3, 1e-3], null, 2, "float32", { eps: 1e-5 });
    expect(out[0]).toBeCloseTo(0.30151134, 7);
  });
});

describe.each(testDevices())("rmsnorm on %s", (device) => {
  test.each(["float16", "bfloat16"] as const)("one rounding more would be seen: %s", (dtype) => {
    const place = { dtype, device };
    const x = randn([4, 64], { seed: 1, ...place });
    const weight = randomParameter([64], place);
    const twice = rmsnorm(x, weight, { casting: "llama" });
    const { out } = rmsnormReference(valuesOf(x), valuesOf(weight), 64, dtype);
    expect(() => expectClose(twice, out, tolerances.roundedOnce[dtype])).toThrow("elements differ");
  });

  describe.each(floatDTypes)("%s", (dtype) => {
    const place = { dtype, device };

    test.each(seedGrid().map((c) => [c.name, c] as const))("grid: %s", (_, gridCase) => {
      const x = gridCase.input(place);
      const weight = randomParameter([gridCase.shape[2]], place);
      if (gridCase.throws) {
        expect(() => rmsnorm(x, weight)).toThrow(
          expect.objectContaining({ code: gridCase.throws }),
        );
      } else {
        expectRmsnorm(x, weight).dispose();
      }
      x.dispose();
    });

    test.each(hiddenSizes)("hidden size %i, five rows", (hiddenSize) => {
      const x = randn([5, hiddenSize], { seed: hiddenSize, ...place });
      const weight = randomParameter([hiddenSize], place);
      expectRmsnorm(x, weight, { rstd: zeros([5], { device }) });
      expectAddRmsnorm(x, randn(x.shape, { seed: 3, ...place }), weight);
    });

    test.each([1, 2, 3, 4, 5, 131, 1000])("%i rows of 640", (rows) => {
      const x = randn([rows, 640], { seed: rows, ...place });
      expectRmsnorm(x, randomParameter([640], place), { rstd: zeros([rows], { device }) });
    });

    test("options: eps, weightOffset, llama casting, no weight, float32 weight", () => {
      const x = randn([6, 512], { seed: 5, ...place });
      const weight = randomParameter([512], place);
      const weight32 = randomParameter([512], { dtype: "float32", device }, 9);
      expectRmsnorm(x, null);
      expectRmsnorm(x, weight, { eps: 0.5 });
      expectRmsnorm(x, weight, { eps: 0 });
      expectRmsnorm(x, weight, { weightOffset: 1 });
      expectRmsnorm(x, weight, { weightOffset: -0.25, casting: "llama" });
      expectRmsnorm(x, weight, { casting: "llama" });
      expectRmsnorm(x, null, { casting: "llama" });
      expectRmsnorm(x, weight32);
      expectRmsnorm(x, weight32, { casting: "llama" });
    });

    test("addRmsnorm's options: the same, and rstd of the rounded sum", () => {
      const [x, residual] = [5, 6].map((seed) => randn([6, 512], { seed, ...place }));
      const weight = randomParameter([512], place);
      const weight32 = randomParameter([512], { dtype: "float32", device }, 9);
      const expectSum = (given: Tensor | null, options: AddRmsnormOptions) =>
        expectAddRmsnorm(x!, residual!, given, { rstd: poisoned([6], { device }), ...options });
      expectSum(null, {});
      expectSum(weight, { eps: 0.5 });
      expectSum(weight, { eps: 0 });
      expectSum(weight, { weightOffset: 1 });
      expectSum(weight, { eps: 0.5, weightOffset: -0.25, casting: "llama" });
      expectSum(null, { casting: "llama" });
      expectSum(weight32, { weightOffset: 1 });
      expectSum(weight32, { casting: "llama" });
    });

    test.each([1, 5, 769, 4095, 4096])(
      "a float32 weight at any offset: %i columns",
      async (size) => {
        const x = randn([5, size], { seed: size, ...place });
        const residual = randn(x.shape, { seed: 6, ...place });
        const weight = randomParameter([size], { dtype: "float32", device });
        const aligned = await bitsOf(expectRmsnorm(x, weight));
        const sum = await bitsOf(expectAddRmsnorm(x, residual, weight).out);
        for (const offset of [1, 2, 3]) {
          const placed = misaligned(weight, offset);
          expect(await bitsOf(rmsnorm(x, placed))).toBe(aligned);
          expect(await bitsOf(addRmsnorm(x, residual, placed).out)).toBe(sum);
        }
      },
    );

    test("rstd takes x's shape without the last dimension, strided too", () => {
      const x = randn([2, 3, 64], { seed: 1, ...place });
      expectRmsnorm(x, null, { rstd: zeros([2, 3], { device }) });
      expectRmsnorm(x, null, { rstd: zeros([3, 2], { device }).transpose(0, 1) });
      expectRmsnorm(x.select(0, 1).select(0, 0), null, { rstd: zeros([], { device }) });
    });

    test("out and residualOut are the tensors that were given", () => {
      const x = randn([3, 40], { seed: 1, ...place });
      const out = empty(x.shape, place);
      const residualOut = empty(x.shape, place);
      expect(expectRmsnorm(x, null, { out })).toBe(out);
      const result = expectAddRmsnorm(x, x, null, { out, residualOut });
      expect(result.out).toBe(out);
      expect(result.residual).toBe(residualOut);
    });

    test("in place: out is x, residualOut is the residual or x", () => {
      const inputs = () => [1, 2].map((seed) => randn([4, 1000], { seed, ...place }));
      const [x, residual] = inputs() as [Tensor, Tensor];
      expectRmsnorm(x, randomParameter([1000], place), { out: x });
      const [y, update] = inputs() as [Tensor, Tensor];
      expectAddRmsnorm(y, update, null, { out: y, residualOut: update });
      const [z, other] = inputs() as [Tensor, Tensor];
      expectAddRmsnorm(z, other, null, { out: other, residualOut: z });
      expectAddRmsnorm(residual, residual, null);
    });

    test("long rows in place, beyond every on-chip size of one block", () => {
      const shape = [2, 300_000];
      const [x, residual] = [1, 2].map((seed) => randn(shape, { seed, ...place }));
      const weight = randomParameter([300_000], place);
      expectRmsnorm(x!, weight);
      expectAddRmsnorm(x!, residual!, weight, { out: residual!, residualOut: x! });
    });

    test("NaN and infinity stay in their row", () => {
      const x = randn([4, 96], { seed: 2, ...place });
      x.select(0, 1).narrow(0, 5, 1).fill(Number.NaN);
      x.select(0, 2).narrow(0, 0, 1).fill(Number.POSITIVE_INFINITY);
      const out = valuesOf(rmsnorm(x));
      const clean = valuesOf(rmsnorm(x.select(0, 3)));
      expect(out.subarray(96, 192).every(Number.isNaN)).toBe(true);
      expect(Number.isNaN(out[192]!)).toBe(true);
      expect(out.subarray(193, 288).every((y) => y === 0)).toBe(true);
      expectClose(out.subarray(288), clean, { dtype, ulps: 0 });
    });
  });

  test("an x that nobody may write is only read", async () => {
    const x = randn([8, 64], { seed: 1, device });
    const before = await x.data();
    rmsnorm(x, randomParameter([64], { dtype: "float32", device }));
    addRmsnorm(x, x);
    expect(await x.data()).toEqual(before);
  });

  test("undefined and null are both no weight, and undefined options are left out", async () => {
    const x = randn([2, 8], { seed: 1, device });
    const plain = await rmsnorm(x).data();
    expect(await rmsnorm(x, null, {}).data()).toEqual(plain);
    expect(await rmsnorm(x, undefined, { eps: undefined, out: undefined }).data()).toEqual(plain);
  });
});
