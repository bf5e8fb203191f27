import { empty, ones, randn, type Tensor, zeros } from "@warpwright/runtime";
import {
  bitsOf,
  expectClose,
  floatDTypes,
  poisoned,
  seedGrid,
  testDevices,
  valuesOf,
} from "@warpwright/testing";
import { randomParameter } from "@warpwright/testing/vitest";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { rmsnormRhtAmax } from "../src/index.js";
import { rmsnormRhtAmaxReference } from "./reference.js";
import { disposeAll, expectRmsnormRhtAmax } from "./support.js";

const basis = Array.from({ length: 16 }, (_, i) => i);
const unit = (i: number) => basis.map((j) => (i === j ? 1 : 0));
const plain = new Float64Array(16).fill(1);

describe("the reference", () => {
  test("ones become 4 and nothing, and a unit vector the same everywhere", () => {
    const { out, amax } = rmsnormRhtAmaxReference(plain, plain, { eps: 0 });
    expect([...out]).toEqual([4, ...new Array(15).fill(0)]);
    expect(amax[0]).toBe(4);
    // rms of a unit vector is 1 / 4.
    const first = rmsnormRhtAmaxReference(unit(0), plain, { eps: 0 });
    expect([...first.out]).toEqual(new Array(16).fill(1));
    const last = rmsnormRhtAmaxReference(unit(15), plain, { eps: 0 });
    expect([...last.out]).toEqual([1, -1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1, -1, -1, 1]);
  });

  test("it is its own inverse", () => {
    const x = randn([16], { seed: 1 }).dataSync() as Float32Array;
    const rms = Math.sqrt(x.reduce((sum, value) => sum + value ** 2, 0) / 16);
    const once = rmsnormRhtAmaxReference(x, plain, { eps: 0 }).out;
    const twice = rmsnormRhtAmaxReference(once, plain, { eps: 0 }).out;
    for (const i of basis) expect(twice[i]).toBeCloseTo(x[i]! / rms, 12);
  });

  test("eps is inside the root, the weight before the transform", () => {
    const weight = unit(0).map((value) => 3 * value);
    const { out } = rmsnormRhtAmaxReference(plain, weight, { eps: 8 });
    expect([...out]).toEqual(new Array(16).fill(0.25));
  });

  test("signs negate columns before the transform", () => {
    const { out } = rmsnormRhtAmaxReference(plain, plain, { eps: 0, signs: 0xff00 });
    expect([...out]).toEqual(basis.map((i) => (i === 8 ? 4 : 0)));
  });

  test("an amax is its rows' alone", () => {
    const x = [...plain, ...unit(3), ...new Array(16).fill(0), ...unit(0)];
    expect([...rmsnormRhtAmaxReference(x, plain, { eps: 1e-30, rowsPerCta: 2 }).amax]).toEqual([
      4, 1,
    ]);
    x[20] = Number.NaN;
    const amax = (nan: "propagate" | "ignore") =>
      rmsnormRhtAmaxReference(x, plain, { eps: 1e-30, rowsPerCta: 2, nan }).amax;
    expect([...amax("propagate")]).toEqual([Number.NaN, 1]);
    expect([...amax("ignore")]).toEqual([4, 1]);
  });
});

// Whole blocks that no power of two divides; within, at and beyond what a warp, a block and a
// cluster hold in registers.
const hiddenSizes = isEmulated
  ? [16, 48, 256, 272, 768, 1280]
  : [
      ...[16, 32, 48, 240, 256, 272, 384, 768, 1008, 1280, 2880, 4096, 4112, 8208, 11_008],
      ...[16_400, 32_768, 32_784, 65_552, 131_072, 131_088, 262_144, 300_000],
    ];

describe.each(testDevices())("rmsnormRhtAmax on %s", (device) => {
  describe.each(floatDTypes)("%s", (dtype) => {
    const place = { dtype, device };

    const grid = isEmulated ? seedGrid().slice(0, 9) : seedGrid();
    test.each(grid.map((c) => [c.name, c] as const))("grid: %s", (_, { input, throws }) => {
      const x = input(place);
      const weight = randomParameter([x.shape.at(-1)!], place);
      if (throws) {
        const error = expect.objectContaining({ code: throws });
        expect(() => rmsnormRhtAmax(x, weight)).toThrow(error);
      } else {
        disposeAll(expectRmsnormRhtAmax(x, weight));
      }
      disposeAll([x, weight]);
    });

    test.each(hiddenSizes)("%i columns, six rows", (hiddenSize) => {
      const x = randn([6, hiddenSize], { seed: hiddenSize, ...place });
      const weight = randomParameter([hiddenSize], place);
      for (const rowsPerCta of [1, 3]) {
        disposeAll(expectRmsnormRhtAmax(x, weight, { rowsPerCta, signs: 0xd7e8 }));
      }
    });

    test.each([0, 1, 2, 3, 17, 129, 296, 592, 1000, 1184])(
      "%i rows of 64, as many for each amax as is usual",
      (rows) => {
        const x = randn([rows, 64], { seed: 1, ...place });
        expectRmsnormRhtAmax(x, randomParameter([64], place), { amax: undefined });
      },
    );

    test("rows of more than one dimension, and none", () => {
      const weight = randomParameter([96], place);
      const { amax } = expectRmsnormRhtAmax(randn([2, 3, 4, 96], { seed: 1, ...place }), weight);
      expect(amax.shape).toEqual([12]);
      const one = expectRmsnormRhtAmax(randn([96], { seed: 1, ...place }), weight);
      expect([one.out.shape, one.amax.shape]).toEqual([[96], [1]]);
    });

    test("options: eps, signs, a float32 weight", () => {
      const x = randn([6, 512], { seed: 5, ...place });
      const weight = randomParameter([512], { dtype: "float32", device }, 9);
      expectRmsnormRhtAmax(x, weight, { eps: 0.5 });
      expectRmsnormRhtAmax(x, weight, { eps: 0 });
      for (const signs of [1, 2, 0x8000, 0x00ff, 0xd7e8, 0xffff]) {
        expectRmsnormRhtAmax(x, weight, { signs });
      }
    });

    test("a number of threads changes sums by an ulp at most, and nothing on the CPU", async () => {
      for (const [hiddenSize, all] of [
        [768, [32, 96]],
        [2048, [32, 64, 128, 256]],
        [7168, [64, 128, 896]],
      ] as const) {
        const x = randn([4, hiddenSize], { seed: 5, ...place });
        const weight = randomParameter([hiddenSize], place);
        const usual = await bitsOf(rmsnormRhtAmax(x, weight).out);
        for (const numThreads of all) {
          const { out } = expectRmsnormRhtAmax(x, weight, { numThreads });
          if (device === "cpu") expect(await bitsOf(out)).toBe(usual);
        }
      }
    });

    test("how many rows share an amax changes nothing but its shape", async () => {
      const x = randn([24, 768], { seed: 5, ...place });
      const weight = randomParameter([768], place);
      const each = rmsnormRhtAmax(x, weight, { rowsPerCta: 1 });
      const wanted = valuesOf(each.amax);
      for (const rowsPerCta of [2, 3, 8, 12, 24]) {
        const { out, amax } = rmsnormRhtAmax(x, weight, { rowsPerCta });
        expect(await bitsOf(out)).toBe(await bitsOf(each.out));
        const groups = Array.from(amax.dataSync() as Float32Array, (_, g) =>
          Math.max(...wanted.subarray(g * rowsPerCta, (g + 1) * rowsPerCta)),
        );
        expect([...valuesOf(amax)]).toEqual(groups);
      }
    });

    test("in place, into a wider tensor, and into an amax of every second number", () => {
      const weight = randomParameter([512], place);
      const x = randn([6, 512], { seed: 5, ...place });
      const amax = empty([6, 2], { device }).select(1, 0);
      const strided = { out: x, amax, rowsPerCta: 1 };
      const result = expectRmsnormRhtAmax(x, weight, strided);
      expect([result.out, result.amax]).toEqual([x, amax]);
      const wide = poisoned([6, 1024], place).narrow(1, 512, 512);
      expectRmsnormRhtAmax(randn([6, 512], { seed: 6, ...place }), weight, { out: wide });
    });

    test("NaN and infinity stay in their row, infinity's zeros apart from its block", () => {
      const x = randn([4, 96], { seed: 2, ...place });
      const weight = ones([96], place);
      const clean = valuesOf(rmsnormRhtAmax(x.select(0, 3), weight).out);
      x.select(0, 1).narrow(0, 5, 1).fill(Number.NaN);
      x.select(0, 2).narrow(0, 20, 1).fill(Number.POSITIVE_INFINITY);
      const out = valuesOf(rmsnormRhtAmax(x, weight).out);
      expect(out.subarray(96, 192).every(Number.isNaN)).toBe(true);
      const infinite = [...out.subarray(192, 288)];
      expect(infinite.map(Number.isNaN)).toEqual(infinite.map((_, i) => i >= 16 && i < 32));
      expect(infinite.every((y) => Number.isNaN(y) || y === 0)).toBe(true);
      expectClose(out.subarray(288), clean, { dtype, ulps: 0 });
    });
  });

  test("a result is both an object and a list", () => {
    const result = rmsnormRhtAmax(ones([4, 32], { device }), ones([32], { device }));
    expect(Object.keys(result)).toEqual(["out", "amax"]);
    const [out, amax, ...rest] = result;
    expect([out, amax, rest]).toEqual([result.out, result.amax, []]);
    expect([result.out.shape, result.amax.shape]).toEqual([[4, 32], [2]]);
    expect([result.out.dtype, result.amax.dtype]).toEqual(["float32", "float32"]);
  });

  test("undefined options are left out", async () => {
    const x: Tensor = randn([4, 32], { seed: 1, device });
    const weight = ones([32], { device });
    const options = { eps: undefined, rowsPerCta: undefined, signs: undefined, nan: undefined };
    const [one, other] = [rmsnormRhtAmax(x, weight), rmsnormRhtAmax(x, weight, options)];
    expect(await bitsOf(one.out)).toBe(await bitsOf(other.out));
    expect(await bitsOf(one.amax)).toBe(await bitsOf(other.amax));
    expect(
      valuesOf(rmsnormRhtAmax(zeros([2, 0], { device }), zeros([0], { device })).amax),
    ).toEqual(Float64Array.of(0));
  });
});
