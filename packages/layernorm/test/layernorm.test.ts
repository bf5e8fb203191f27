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
import { type AddLayernormOptions, addLayernorm, layernorm } from "../src/index.js";
import { layernormReference } from "./reference.js";
import { type Affine, expectAddLayernorm, expectLayernorm, randomAffine } from "./support.js";

// Around the limits of each launch configuration (32, 64, 128, 256, 512, 1024, 2048, 4096 vectors
// of 16 bytes, then clusters of 2, 4 and 8), and sizes no vector divides.
const hiddenSizes = [
  1, 2, 3, 7, 8, 9, 31, 33, 127, 128, 129, 255, 256, 257, 511, 513, 769, 1023, 1025, 2047, 2048,
  2050, 3584, 4096, 4097, 5125, 8192, 8200, 12289, 16384, 16392, 32768, 32769, 65536, 65537, 131071,
  131072,
];

describe("the reference", () => {
  test("a row of 1 and 3 has the mean 2 and the variance 1", () => {
    const { out, mean, rstd } = layernormReference([1, 3], 2, "float32", { eps: 0 });
    expect([...out]).toEqual([-1, 1]);
    expect([mean[0], rstd[0]]).toEqual([2, 1]);
  });

  test("eps is inside the root; the weight scales before the bias shifts", () => {
    const { out, rstd } = layernormReference([-1, 1, 4, 4], 2, "float32", {
      weight: [2, 3],
      bias: [10, 20],
      eps: 3,
    });
    expect([...out]).toEqual([9, 21.5, 10, 20]);
    expect(rstd[0]).toBe(0.5);
  });

  test("the sum with a residual is rounded", () => {
    const { sum, mean } = layernormReference([1, 1], 2, "bfloat16", {
      residual: [2 ** -9, 3 * 2 ** -9],
    });
    expect([...sum]).toEqual([1, 1.0078125]);
    expect(mean[0]).toBe(1.00390625);
  });
});

describe.each(testDevices())("layernorm on %s", (device) => {
  describe.each(floatDTypes)("%s", (dtype) => {
    const place = { dtype, device };
    const stats = (rows: number) => ({
      mean: poisoned([rows], { device }),
      rstd: poisoned([rows], { device }),
    });

    test.each(seedGrid().map((c) => [c.name, c] as const))("grid: %s", (_, gridCase) => {
      const x = gridCase.input(place);
      const affine = randomAffine(gridCase.shape[2], place);
      if (gridCase.throws) {
        expect(() => layernorm(x, affine.weight, affine.bias)).toThrow(
          expect.objectContaining({ code: gridCase.throws }),
        );
      } else {
        expectLayernorm(x, affine).dispose();
      }
      x.dispose();
    });

    test.each(hiddenSizes)("hidden size %i, five rows", (hiddenSize) => {
      const x = randn([5, hiddenSize], { seed: hiddenSize, ...place });
      const affine = randomAffine(hiddenSize, place);
      expectLayernorm(x, affine, stats(5));
      expectAddLayernorm(x, randn(x.shape, { seed: 3, ...place }), affine);
    });

    test.each([1, 2, 3, 4, 5, 131, 1000])("%i rows of 640", (rows) => {
      const x = randn([rows, 640], { seed: rows, ...place });
      expectLayernorm(x, randomAffine(640, place), stats(rows));
    });

    // Each parameter is left out, of x's dtype, or float32, whatever the other is.
    const parameters = (seed: number): (Tensor | null)[] => [
      null,
      randomParameter([512], place, seed),
      randomParameter([512], { dtype: "float32", device }, seed + 1),
    ];

    test("LN-20: every weight beside every bias", () => {
      const x = randn([6, 512], { seed: 5, ...place });
      const residual = randn(x.shape, { seed: 6, ...place });
      for (const weight of parameters(7)) {
        for (const bias of parameters(9)) {
          expectLayernorm(x, { weight, bias });
          expectAddLayernorm(x, residual, { weight, bias }, stats(6));
        }
      }
    });

    test("eps", () => {
      const x = randn([6, 512], { seed: 5, ...place });
      const affine = randomAffine(512, place);
      for (const eps of [0, 1e-12, 0.5, 1e4]) {
        expectLayernorm(x, affine, { eps, ...stats(6) });
        expectAddLayernorm(x, x, affine, { eps });
      }
    });

    test.each([1, 5, 769, 4095, 4096])(
      "float32 parameters at any offset: %i columns",
      async (size) => {
        const x = randn([5, size], { seed: size, ...place });
        const { weight, bias } = randomAffine(size, { dtype: "float32", device });
        const plain = await bitsOf(expectLayernorm(x, { weight, bias }));
        for (const offset of [1, 2, 3]) {
          const shifted: Affine[] = [
            { weight: misaligned(weight, offset), bias },
            { weight, bias: misaligned(bias, offset) },
          ];
          for (const affine of shifted) {
            expect(await bitsOf(layernorm(x, affine.weight, affine.bias))).toBe(plain);
          }
        }
      },
    );

    test("mean and rstd may have x's leading dimensions", () => {
      const x = randn([2, 3, 40], { seed: 1, ...place });
      const shaped = () => zeros([2, 3], { device });
      expectLayernorm(x, {}, { mean: shaped(), rstd: shaped() });
      expectLayernorm(x.select(0, 0).select(0, 0), {}, { mean: zeros([], { device }) });
    });

    test("out and residualOut are the tensors that were given", () => {
      const x = randn([3, 40], { seed: 1, ...place });
      const out = empty(x.shape, place);
      const residualOut = empty(x.shape, place);
      expect(expectLayernorm(x, {}, { out })).toBe(out);
      const result = expectAddLayernorm(x, x, {}, { out, residualOut });
      expect(result.out).toBe(out);
      expect(result.residual).toBe(residualOut);
    });

    test("in place: out is x, residualOut is the residual or x", () => {
      const affine = randomAffine(1000, place);
      const inputs = () => [1, 2].map((seed) => randn([4, 1000], { seed, ...place }));
      const [x, residual] = inputs() as [Tensor, Tensor];
      expectLayernorm(x, affine, { out: x });
      const [y, update] = inputs() as [Tensor, Tensor];
      expectAddLayernorm(y, update, affine, { out: y, residualOut: update });
      const [z, other] = inputs() as [Tensor, Tensor];
      expectAddLayernorm(z, other, {}, { out: other, residualOut: z });
      expectAddLayernorm(residual, residual);
    });

    test("long rows in place, beyond every on-chip size of one block", () => {
      const shape = [2, 300_000];
      const [x, residual] = [1, 2].map((seed) => randn(shape, { seed, ...place }));
      const affine = randomAffine(300_000, place);
      expectLayernorm(x!, affine, stats(2));
      const options: AddLayernormOptions = { out: residual!, residualOut: x!, ...stats(2) };
      expectAddLayernorm(x!, residual!, affine, options);
    });

    test("NaN and infinity stay in their row, and make all of it NaN", () => {
      for (const hiddenSize of [96, 20_000, 300_000]) {
        const x = randn([4, hiddenSize], { seed: 2, ...place });
        x.select(0, 1).narrow(0, 5, 1).fill(Number.NaN);
        x.select(0, 2).narrow(0, 0, 1).fill(Number.POSITIVE_INFINITY);
        const out = layernorm(x);
        for (const row of [1, 2]) {
          expect(valuesOf(out.select(0, row)).every(Number.isNaN)).toBe(true);
        }
        for (const row of [0, 3]) {
          const alone = valuesOf(layernorm(x.narrow(0, row, 1)));
          expectClose(out.select(0, row), alone, { ulps: 0 });
        }
      }
    });
  });

  test.each(["float16", "bfloat16"] as const)("one rounding more would be seen: %s", (dtype) => {
    const place = { dtype, device };
    const x = randn([4, 64], { seed: 1, ...place });
    const { weight, bias } = randomAffine(64, place);
    const scaled = layernorm(x, weight);
    const twice = valuesOf(scaled).map((y, i) => y + valuesOf(bias)[i % 64]!);
    const { out } = layernormReference(valuesOf(x), 64, dtype, {
      weight: valuesOf(weight),
      bias: valuesOf(bias),
    });
    expect(() => expectClose(twice, out, { dtype, ...tolerances.roundedOnce[dtype] })).toThrow(
      "elements differ",
    );
  });

  test("an x that nobody may write is only read", async () => {
    const x = randn([8, 64], { seed: 1, device });
    const before = await x.data();
    const { weight, bias } = randomAffine(64, { dtype: "float32", device });
    layernorm(x, weight, bias);
    addLayernorm(x, x);
    expect(await x.data()).toEqual(before);
  });

  test("undefined and null are both left out, undefined options have their default", async () => {
    const x = randn([2, 8], { seed: 1, device });
    const plain = await layernorm(x).data();
    expect(await layernorm(x, null, null, {}).data()).toEqual(plain);
    const options = { eps: undefined, out: undefined, mean: undefined };
    expect(await layernorm(x, undefined, undefined, options).data()).toEqual(plain);
    expect(await layernorm(x, null, undefined, { eps: 1e-5 }).data()).toEqual(plain);
  });
});
