// The wrappers of PTX instructions, against arithmetic in float64 and positions counted out here.
import { empty, type Tensor, tensor } from "@warpwright/runtime";
import { dtypeCode, type Handle, handleOf, streamFor } from "@warpwright/runtime/kernel";
import { expectClose, type FloatDType, poisoned, valuesOf } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { expect, test } from "vitest";
import { native } from "../src/native.js";

const device = "cuda:0";
const stream = () => streamFor("test", device);

/** Whole numbers below the limit, the same on every run. */
function integers(limit: number, count: number, seed: number): number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  });
}

describeCuda("cp_async", () => {
  const threads = 128;

  // compute-sanitizer takes a copy of a part for a read of the whole: it gets memory for that.
  const slack = process.env["WARPWRIGHT_SANITIZE"] ? 16 : 0;

  function copy(x: Uint8Array, pieceBytes: number, whole: boolean, grouped: boolean) {
    const memory = new Uint8Array(x.length + slack);
    memory.set(x);
    const source = tensor(memory, { device });
    const out = empty([threads * pieceBytes], { dtype: "uint8", device });
    const geometry = Float64Array.of(x.length, pieceBytes, 0, 0);
    const options = [Number(whole), Number(grouped)] as const;
    native.copyAsync(handleOf(source), handleOf(out), stream(), geometry, ...options);
    return out.dataSync() as Uint8Array;
  }

  const forms = [4, 8, 16].flatMap((bytes) => [[bytes, true] as const, [bytes, false] as const]);

  test.each(forms)("%i bytes a thread, waited for as a group: %s", (bytes, grouped) => {
    const all = threads * bytes;
    const x = Uint8Array.from(integers(256, all, bytes));
    expect(copy(x, bytes, true, grouped)).toEqual(x);
    // No piece at all, parts of the first, whole ones, parts of the last, nothing left out.
    const sizes = [0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, all - bytes, all - 1, all];
    for (const size of sizes) {
      const wanted = new Uint8Array(all);
      wanted.set(x.subarray(0, size));
      expect(copy(x.slice(0, size), bytes, false, grouped)).toEqual(wanted);
    }
  });

  const tile = 4 * threads;

  test.each([2, 3, 4])("a pipeline of %i stages", (stages) => {
    for (const tiles of [0, 1, 2, 3, 4, 5, 17]) {
      const values = Float32Array.from(integers(1000, tiles * tile, tiles + stages));
      const x = tensor(values, { device });
      const out = poisoned([tile], { dtype: "float32", device });
      const geometry = Float64Array.of(tiles, stages, 0, 0);
      native.pipeline(handleOf(x), handleOf(out), stream(), geometry);
      const sums = new Float64Array(tile);
      for (const [i, value] of values.entries()) sums[tile - 1 - (i % tile)]! += value;
      expect(valuesOf(out)).toEqual(sums);
    }
  });
});

describeCuda("ldmatrix", () => {
  const forms = [1, 2, 4].flatMap((count) => [[count, false] as const, [count, true] as const]);

  test.each(forms)("%i matrices, transposed: %s", (count, transposed) => {
    const rows = 8 * count;
    // Every element its own pattern.
    const x = Uint16Array.from({ length: rows * 8 }, (_, i) => 0x9e37 * (i + 1));
    const source = tensor(x, { dtype: "float16", device });
    const out = empty([32, count], { dtype: "int32", device });
    const geometry = Float64Array.of(count, 0, 0);
    native.ldmatrix(handleOf(source), handleOf(out), stream(), geometry, Number(transposed));

    const element = (matrix: number, row: number, column: number) => {
      const lane = 8 * matrix + row;
      return x[((5 * lane + 3) % rows) * 8 + column]!;
    };
    const wanted = Int32Array.from({ length: 32 * count }, (_, i) => {
      const [lane, matrix] = [Math.floor(i / count), i % count];
      const [major, minor] = [Math.floor(lane / 4), 2 * (lane % 4)];
      const [lower, upper] = [0, 1].map((half) =>
        transposed ? element(matrix, minor + half, major) : element(matrix, major, minor + half),
      );
      return lower! | (upper! << 16);
    });
    expect(out.dataSync()).toEqual(wanted);
  });
});

describeCuda("mma", () => {
  const tiles = 20;
  const depthOf = (dtype: FloatDType) => (dtype === "float32" ? 8 : 16);

  // In the order of the C++ enum.
  const sources = ["elements", "ldmatrix, B by columns", "ldmatrix, B by rows"];
  const forms = [
    ["float32", 0],
    ...(["float16", "bfloat16"] as const).flatMap((dtype) =>
      sources.map((_, source) => [dtype, source] as const),
    ),
  ] as [FloatDType, number][];
  const named = forms.map(([dtype, source]) => [dtype, sources[source]!, source] as const);

  interface Operands {
    a: Tensor;
    b: Tensor;
    c: Tensor;
  }

  /** Values by index, rounded to the dtype. */
  function operands(dtype: FloatDType, value: (seed: number, count: number) => number[]): Operands {
    const depth = depthOf(dtype);
    const make = (kind: FloatDType, shape: number[], seed: number) => {
      const values = Float32Array.from(value(seed, tiles * shape[0]! * shape[1]!));
      return tensor(values, { shape: [tiles, ...shape], dtype: kind, device });
    };
    return {
      a: make(dtype, [16, depth], 1),
      b: make(dtype, [depth, 8], 2),
      c: make("float32", [16, 8], 3),
    };
  }

  function multiply({ a, b, c }: Operands, source: number): Tensor {
    const out = poisoned(c.shape, { dtype: "float32", device });
    const [handles, geometry] = [[a, b, c, out].map(handleOf), Float64Array.of(tiles, 0, 0, 0, 0)];
    const [ha, hb, hc, ho] = handles as [never, never, never, never];
    native.mma(ha, hb, hc, ho, stream(), geometry, dtypeCode(a.dtype), source);
    return out;
  }

  /** A B + C in float64, and the same of magnitudes. */
  function reference({ a, b, c }: Operands) {
    const depth = a.shape[2]!;
    const round = a.dtype === "float32" ? toTf32 : (x: number) => x;
    const [av, bv, cv] = [valuesOf(a).map(round), valuesOf(b).map(round), valuesOf(c)];
    const magnitudes = cv.map(Math.abs);
    const sums = cv.map((start, i) => {
      const [row, column, tile] = [Math.floor(i / 8), i % 8, Math.floor(i / 128)];
      let sum = start;
      for (let k = 0; k < depth; k++) {
        const product = av[row * depth + k]! * bv[(tile * depth + k) * 8 + column]!;
        sum += product;
        magnitudes[i]! += Math.abs(product);
      }
      return sum;
    });
    return { sums, magnitudes };
  }

  test.each(named)("whole numbers are exact: %s from %s", (dtype, _, source) => {
    const x = operands(dtype, (seed, count) => integers(257, count, seed).map((i) => i - 128));
    expect(valuesOf(multiply(x, source))).toEqual(reference(x).sums);
  });

  test.each(named)("fractions: %s from %s", (dtype, _, source) => {
    const x = operands(dtype, (seed, count) =>
      integers(2 ** 24, count, seed).map((i) => (i / 2 ** 23 - 1) * (1 + (i % 7))),
    );
    const { sums, magnitudes } = reference(x);
    // The products are exact in float32. Of depth + 1 terms each loses less than two units in the
    // last place of their sum's magnitude: tensor cores truncate what they align.
    const atol = (depthOf(dtype) + 1) * 2 ** -22 * Math.max(...magnitudes);
    expectClose(multiply(x, source), sums, { atol, name: dtype });
  });

  test("to_tf32 rounds to nearest, ties away from zero", () => {
    // B is the identity, so out is A as tf32: 10 bits of mantissa and what was behind them.
    const behind = [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff];
    const x = operands("float32", (seed, count) =>
      Array.from({ length: count }, (_, i) => {
        if (seed === 2) return Number(Math.floor((i % 64) / 8) === i % 8);
        if (seed === 3) return 0;
        const sign = i % 2 ? 0x80000000 : 0;
        const exponent = (1 + ((i * 37) % 253)) << 23;
        return fromFloat32Bits(sign + exponent + ((i * 97) % 1024) * 8192 + behind[i % 6]!);
      }),
    );
    expect(valuesOf(multiply(x, 0))).toEqual(valuesOf(x.a).map(toTf32));
  });
});

const view = new DataView(new ArrayBuffer(4));

function fromFloat32Bits(bits: number): number {
  view.setUint32(0, bits);
  return view.getFloat32(0);
}

/** A float32, of which the nearest number with 13 bits less is taken; the larger one of two. */
function toTf32(x: number): number {
  view.setFloat32(0, x);
  return fromFloat32Bits((view.getUint32(0) + 0x1000) & ~0x1fff);
}

describeCuda("approximations", () => {
  function approximate(x: readonly number[]): { powers: number[]; reciprocals: number[] } {
    const source = tensor(Float32Array.from(x), { device });
    const [powers, reciprocals] = [0, 1].map(() => poisoned([x.length], { device }));
    const handles = [source, powers!, reciprocals!].map(handleOf) as [Handle, Handle, Handle];
    native.approx(...handles, stream(), Float64Array.of(x.length, 0, 0, 0));
    return { powers: [...valuesOf(powers!)], reciprocals: [...valuesOf(reciprocals!)] };
  }

  test("2^x and 1 / x within 2 ulp", () => {
    const x = integers(2 ** 24, 5000, 1).map((n) => Math.fround((n / 2 ** 23 - 1) * 120));
    const { powers, reciprocals } = approximate(x);
    const relative = { dtype: "float32", rtol: 2 ** -22 } as const;
    expectClose(
      powers,
      x.map((value) => 2 ** value),
      relative,
    );
    expectClose(
      reciprocals,
      x.map((value) => 1 / value),
      relative,
    );
  });

  test("whole powers, zeros, infinities, NaN, and what is too small", () => {
    const { powers } = approximate([0, 1, -1, 10, -126, -130, -Infinity, Infinity, Number.NaN]);
    expect(powers).toEqual([1, 2, 0.5, 1024, 2 ** -126, 0, 0, Infinity, Number.NaN]);
    const { reciprocals } = approximate([1, -2, 0.25, Infinity, 2 ** -140, 3e38, Number.NaN]);
    expect(reciprocals).toEqual([1, -0.5, 4, 0, Infinity, 0, Number.NaN]);
  });
});
