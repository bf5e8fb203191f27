// The helpers that exist on the GPU alone.
import { randn, type Tensor, tensor } from "@warpwright/runtime";
import { dtypeCode, handleOf, streamFor } from "@warpwright/runtime/kernel";
import {
  expectClose,
  type FloatDType,
  poisoned,
  valuesOf,
  withCanaries,
} from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { expect, test } from "vitest";
import { native } from "../src/native.js";

const device = "cuda:0";
const dtypes: readonly FloatDType[] = ["float32", "float16", "bfloat16"];
const stream = () => streamFor("test", device);

describeCuda("Vec", () => {
  const [aligned, misaligned, tail] = [0, 1, 2];
  const vecSize = (dtype: FloatDType) => (dtype === "float32" ? 4 : 8);

  interface Move {
    load: number;
    store: number;
    count?: number;
    fill?: number;
  }

  function move(src: Tensor, dst: Tensor, { load, store, count = 0, fill = 0 }: Move): void {
    const geometry = Float64Array.of(src.size, src.offset, dst.offset);
    const code = dtypeCode(src.dtype);
    native.vec(handleOf(src), handleOf(dst), stream(), geometry, code, count, fill, load, store);
  }

  test.each(dtypes)("moves every pattern, packed: %s", async (dtype) => {
    const src =
      dtype === "float32"
        ? randn([65536], { seed: 1, device })
        : tensor(
            Uint16Array.from({ length: 65536 }, (_, i) => i),
            { dtype, device },
          );
    const dst = poisoned(src.shape, { dtype, device });
    move(src, dst, { load: aligned!, store: aligned! });
    expect(valuesOf(dst)).toEqual(valuesOf(src));
  });

  test.each(dtypes)("from any address to any other: %s", async (dtype) => {
    const size = 24;
    for (let from = 0; from < vecSize(dtype); from++) {
      for (let to = 0; to < vecSize(dtype); to++) {
        const src = withCanaries([size], { dtype, device, misalign: from });
        src.tensor.copyFrom(randn([size], { seed: from, dtype, device }));
        const dst = withCanaries([size], { dtype, device, misalign: to });
        move(src.tensor, dst.tensor, { load: misaligned!, store: misaligned! });
        expect(valuesOf(dst.tensor)).toEqual(valuesOf(src.tensor));
        await Promise.all([src.check(), dst.check()]);
      }
    }
  });

  test.each(dtypes)("a tail reads and writes only its elements, and fills: %s", async (dtype) => {
    const size = vecSize(dtype);
    for (let count = 0; count <= size; count++) {
      const src = randn([size], { seed: 1, dtype, device });
      const filled = poisoned([size], { dtype, device });
      move(src, filled, { load: tail!, store: aligned!, count, fill: 7 });
      const wanted = valuesOf(src).map((value, i) => (i < count ? value : 7));
      expect(valuesOf(filled)).toEqual(wanted);

      const dst = withCanaries([size], { dtype, device, misalign: 1 });
      move(src, dst.tensor, { load: aligned!, store: tail!, count });
      const written = valuesOf(dst.tensor);
      expect(written.map((value, i) => (i < count ? value : 0))).toEqual(
        valuesOf(src).map((value, i) => (i < count ? value : 0)),
      );
      expect(written.subarray(count).every(Number.isNaN)).toBe(true);
      await dst.check();
    }
  });
});

describeCuda("reductions", () => {
  const rounds = 5;
  const scopes = ["warp", "block", "cluster"];

  interface Run {
    op: number;
    scope: number;
    threads: number;
    blocks: number;
  }

  function reduce(x: Tensor, { op, scope, threads, blocks }: Run): Tensor {
    const out = poisoned(x.shape, { dtype: "float32", device });
    const geometry = Float64Array.of(rounds, blocks, threads, 0, 0);
    native.reduce(handleOf(x), handleOf(out), stream(), geometry, op, scope);
    return out;
  }

  const runs = [32, 96, 256, 1024].flatMap((threads) => [
    [0, threads, 3] as const,
    [1, threads, 3] as const,
    ...[1, 2, 4, 8].map((blocks) => [2, threads, blocks] as const),
  ]);

  test.each(runs)("scope %i, %i threads, %i blocks, repeated at once", (scope, threads, blocks) => {
    const x = randn([rounds, blocks, threads], { seed: threads + blocks, device });
    const values = valuesOf(x);
    const group = [32, threads, threads * blocks][scope]!;
    const sums = new Float64Array(values.length);
    const maxima = new Float64Array(values.length);
    for (let begin = 0; begin < values.length; begin += group) {
      const members = values.subarray(begin, begin + group);
      sums.fill(
        members.reduce((a, b) => a + b, 0),
        begin,
        begin + group,
      );
      maxima.fill(
        members.reduce((a, b) => Math.max(a, b)),
        begin,
        begin + group,
      );
    }
    const name = scopes[scope]!;
    expectClose(reduce(x, { op: 0, scope, threads, blocks }), sums, {
      rtol: 1e-5,
      atol: 1e-4,
      name,
    });
    expectClose(reduce(x, { op: 1, scope, threads, blocks }), maxima, { ulps: 0, name });
  });

  test("a NaN reaches every thread of its group, by sum and by maximum", () => {
    const values = new Float32Array(rounds * 3 * 256).fill(1);
    values[256 + 17] = Number.NaN;
    const x = tensor(values, { shape: [rounds, 3, 256], device });
    for (const op of [0, 1]) {
      const out = valuesOf(reduce(x, { op, scope: 1, threads: 256, blocks: 3 }));
      expect(out.subarray(256, 512).every(Number.isNaN)).toBe(true);
      expect(out.subarray(0, 256).some(Number.isNaN)).toBe(false);
    }
  });
});

describeCuda("elementwise", () => {
  test.each(dtypes)("any size and alignment: %s", async (dtype) => {
    for (const size of [0, 1, 7, 8, 9, 255, 8192, 8193, 100_003]) {
      for (const [from, to] of [
        [0, 0],
        [1, 1],
        [3, 3],
        [0, 1],
        [5, 2],
      ] as const) {
        const x = withCanaries([size], { dtype, device, misalign: from });
        x.tensor.copyFrom(randn([size], { seed: 1, dtype, device }));
        const out = withCanaries([size], { dtype, device, misalign: to });
        const geometry = Float64Array.of(size, x.tensor.offset, out.tensor.offset);
        const code = dtypeCode(dtype);
        native.elementwise(handleOf(x.tensor), handleOf(out.tensor), stream(), geometry, code);
        const wanted = valuesOf(x.tensor).map((value) => 2 * value + 1);
        expectClose(out.tensor, wanted, { ulps: 0.51, rtol: 1e-7, atol: 1e-7 });
        await out.check();
      }
    }
  });
});
