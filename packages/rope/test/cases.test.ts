// Faults that users of comparable kernels reported; the number after RO- is ours.
import { randn, type Tensor, tensor, zeros } from "@warpwright/runtime";
import {
  bitsOf,
  expectClose,
  floatDTypes,
  misaligned,
  poisoned,
  poisonedLike,
  testDevices,
  tolerances,
  valuesOf,
  withCanaries,
} from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { rope, ropeQK, ropeTables } from "../src/index.js";
import { expectRope, expectRopeQK } from "./support.js";

describe.each(testDevices())("reported faults on %s", (device) => {
  const bf16 = { dtype: "bfloat16", device } as const;

  test.each(floatDTypes)("RO-01: interleaved and halves differ wherever they meet: %s", (dtype) => {
    const { cos, sin } = ropeTables({ dim: 32, maxPositions: 8, device });
    // A vector in each of the ways: aligned, misaligned, q alone, q and k.
    const x = randn([1, 3, 2, 32], { seed: 1, dtype, device });
    for (const given of [x, misaligned(x, 1)]) {
      const halves = expectRope(given, cos, sin, { offset: 1 });
      const neighbours = expectRope(given, cos, sin, { offset: 1, interleaved: true });
      expect(valuesOf(halves)).not.toEqual(valuesOf(neighbours));
      expectRopeQK(given, given, cos, sin, { offset: 1, interleaved: true });
    }
  });

  test("RO-02, C-10: positions outside the tables leave their rows as they are", async () => {
    const table = ropeTables({ dim: 32, maxPositions: 16, device });
    const places = [-1, 0, 15, 16, 2 ** 31 - 1, -(2 ** 31)];
    const x = randn([1, places.length, 2, 32], { seed: 1, ...bf16 });
    for (const dtype of ["int32", "int64"] as const) {
      const positions = tensor(places, { dtype, device });
      const out = expectRope(x, table.cos, table.sin, { positions, out: poisonedLike(x) });
      for (const token of [0, 3, 4, 5]) {
        const [got, given] = [out, x].map((t) => t.select(1, token));
        expect(await bitsOf(got!)).toBe(await bitsOf(given!));
      }
    }
    const far = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 32n, 2n ** 53n];
    const positions = tensor(far, { dtype: "int64", device });
    for (const offset of [0, 8, -8, 2 ** 53 - 1, -(2 ** 53 - 1)]) {
      const four = x.narrow(1, 0, 4);
      const out = rope(four, table.cos, table.sin, { positions, offset });
      const moved = offset === -(2 ** 53 - 1) ? [3] : []; // 2^53 - (2^53 - 1) is 1
      for (const token of [0, 1, 2, 3].filter((each) => !moved.includes(each))) {
        expect(await bitsOf(out.select(1, token))).toBe(await bitsOf(four.select(1, token)));
      }
    }
  });

  test("RO-02: a sine table shorter than the cosines', and an offset past the end", () => {
    const { cos, sin } = ropeTables({ dim: 32, maxPositions: 32, device });
    const x = randn([1, 4, 2, 32], { seed: 1, ...bf16 });
    expect(() => rope(x, cos, sin.narrow(0, 0, 16))).toThrow(
      "rope: expected sin of shape [32, 16], got [16, 16]",
    );
    expectRope(x, cos, sin, { offset: 28 });
    expect(() => rope(x, cos, sin, { offset: 29 })).toThrow(
      "rope: expected offset + seqlen of at most 32, the rows of cos, got 29 + 4",
    );
    // The table's width is not the head's.
    const wide = randn([1, 4, 2, 80], { seed: 1, ...bf16 });
    expectRope(wide, cos, sin);
  });

  test.each(floatDTypes)(
    "RO-03: left padding comes out as it was, nothing is left unwritten: %s",
    (dtype) => {
      const { cos, sin } = ropeTables({ dim: 32, maxPositions: 16, device });
      const x = randn([2, 8, 3, 32], { seed: 1, dtype, device });
      const starts = [-5, 0];
      const positions = tensor(
        starts.map((start) => Array.from({ length: 8 }, (_, i) => start + i)),
        { dtype: "int32", device },
      );
      const out = expectRope(x, cos, sin, { positions, out: poisonedLike(x) });
      expect(valuesOf(out).some(Number.isNaN)).toBe(false);
      expectClose(
        out.narrow(0, 0, 1).narrow(1, 0, 5),
        valuesOf(x.narrow(0, 0, 1).narrow(1, 0, 5)),
        {
          atol: 0,
        },
      );
    },
  );

  test("RO-05: positions above 256 are whole numbers", () => {
    const { cos, sin } = ropeTables({ dim: 32, maxPositions: 16_000, device });
    const x = randn([1, 3, 1, 32], { seed: 1, ...bf16 });
    const positions = tensor([257, 1000, 15_962], { dtype: "int32", device });
    const out = expectRope(x, cos, sin, { positions });
    const rounded = tensor([256, 1000, 15_936], { dtype: "int32", device });
    const other = valuesOf(rope(x, cos, sin, { positions: rounded }));
    expect(() => expectClose(out, other, { atol: 0.1 })).toThrow("elements differ");
  });

  test.each([96, 80, 48, 72])(
    "RO-07, RO-08: head dim %i, nothing beside a head is touched",
    async (dim) => {
      const { cos, sin } = ropeTables({ dim, maxPositions: 5, device });
      const x = randn([1, 5, 3, dim], { seed: dim, ...bf16 });
      for (const rowGuard of [0, 1, 8]) {
        for (const misalign of [0, 1]) {
          const guarded = withCanaries(x.shape, { rowGuard, misalign, ...bf16 });
          expectRope(x, cos, sin, { out: guarded.tensor });
          guarded.tensor.copyFrom(x);
          expectRope(guarded.tensor, cos, sin, { out: guarded.tensor });
          await guarded.check();
          guarded.dispose();
        }
      }
    },
  );

  test.each([6, 12, 20, 24, 48])(
    "RO-08: in place, %i columns of 64: those behind stay to the bit",
    async (rotaryDim) => {
      const { cos, sin } = ropeTables({ dim: rotaryDim, maxPositions: 4, device });
      for (const interleaved of [false, true]) {
        const x = randn([4, 1, 8, 64], { seed: 1, ...bf16 });
        const rest = () => bitsOf(x.narrow(-1, rotaryDim, 64 - rotaryDim));
        const before = await rest();
        expectRope(x, cos, sin, { out: x, interleaved, offset: 3 });
        expect(await rest()).toBe(before);
      }
    },
  );

  test.each([
    ["Phi-2", 80, 32],
    ["Phi-2 as the report has it", 80, 20],
    ["GLM", 128, 64],
    ["GPT-NeoX", 128, 32],
  ])(
    "RO-10: %s, head dim %i, the first %i rotated: pairs are within those",
    async (_, dim, rotary) => {
      const { cos, sin } = ropeTables({ dim: rotary, maxPositions: 9, device });
      const x = zeros([1, 1, 1, dim], { device });
      x.narrow(-1, 0, 1).fill(1); // the pair (0, rotary / 2) at (1, 0), turned by 1 radian
      const out = valuesOf(rope(x, cos, sin, { offset: 1 }));
      const found = [...out.keys()].filter((i) => out[i] !== 0);
      expect(found).toEqual([0, rotary / 2]);
      const full = randn([2, 9, 5, dim], { seed: 1, ...bf16 });
      const turned = expectRope(full, cos, sin);
      const tail = (t: Tensor) => bitsOf(t.narrow(-1, rotary, dim - rotary));
      expect(await tail(turned)).toBe(await tail(full));
    },
  );

  test("RO-11: q and k inside Falcon's fused qkv, 71 heads of q beside one of k", async () => {
    const tokens = isEmulated ? 3 : 40;
    const { cos, sin } = ropeTables({ dim: 64, maxPositions: tokens, device });
    for (const batch of [1, 2]) {
      const qkv = randn([batch, tokens, 73 * 64], { seed: 1, ...bf16 });
      const heads = (first: number, count: number) =>
        qkv.narrow(-1, first * 64, count * 64).view([batch, tokens, count, 64]);
      const [q, k, v] = [heads(0, 71), heads(71, 1), heads(72, 1)];
      const wanted = ropeQK(q.clone(), k.clone(), cos, sin);
      const before = await bitsOf(v);
      ropeQK(q, k, cos, sin, { qOut: q, kOut: k });
      expect(await bitsOf(q)).toBe(await bitsOf(wanted.q));
      expect(await bitsOf(k)).toBe(await bitsOf(wanted.k));
      expect(await bitsOf(v)).toBe(before);
    }
  });

  test.each([
    ["tokens", [600_000, 1, 2]],
    ["heads", [1, 600_000, 2]],
    ["both", [5000, 120, 2]],
  ] as const)("RO-13: 600,000 rows of one pair, from %s", (_, shape) => {
    const { cos, sin } = ropeTables({ dim: 2, maxPositions: 4, device });
    const x = randn(shape, { seed: 1, ...bf16 });
    const positions = zeros([shape[0]], { dtype: "int32", device }).fill(3);
    const out = rope(x, cos, sin, { layout: "thd", positions, out: poisonedLike(x) });
    const [c, s] = [valuesOf(cos)[3]!, valuesOf(sin)[3]!];
    const values = valuesOf(x);
    const wanted = values.map((value, i) =>
      i % 2 === 0 ? value * c - values[i + 1]! * s : value * c + values[i - 1]! * s,
    );
    expectClose(out, wanted, tolerances.roundedOnce.bfloat16);
  });

  test("RO-14: tables are read as what they are, and float32 ones are the accurate ones", () => {
    const x = randn([1, 1, 4, 64], { seed: 1, ...bf16 });
    const errors = floatDTypes.map((dtype) => {
      const { cos, sin } = ropeTables({ dim: 64, maxPositions: 4097, dtype, device });
      const out = valuesOf(expectRope(x, cos, sin, { offset: 4096 }));
      const exact = ropeTables({ dim: 64, maxPositions: 4097, device });
      const wanted = valuesOf(rope(x.to("float32"), exact.cos, exact.sin, { offset: 4096 }));
      return Math.max(...wanted.map((value, i) => Math.abs(value - out[i]!)));
    });
    expect(errors[0]!).toBeLessThan(2 ** -8 * 4); // half an ulp of values below 4
    expect(errors[2]!).toBeGreaterThan(errors[0]!);
    const { cos, sin } = ropeTables({ dim: 64, maxPositions: 8, dtype: "float16", device });
    expect(() => rope(x, cos.to("bfloat16"), sin)).toThrow(
      "rope: expected sin of dtype bfloat16, got float16",
    );
  });

  test("RO-16: the first real token behind padding has position 0", async () => {
    const { cos, sin } = ropeTables({ dim: 32, maxPositions: 8, device });
    const x = randn([2, 5, 2, 32], { seed: 1, ...bf16 });
    const positions = tensor(
      [
        [-3, -2, -1, 0, 1],
        [0, 1, 2, 3, 4],
      ],
      { dtype: "int32", device },
    );
    const out = rope(x, cos, sin, { positions });
    const padded = (t: Tensor) => t.select(0, 0).narrow(0, 3, 2);
    const alone = rope(padded(x).unsqueeze(0), cos, sin);
    expect(await bitsOf(padded(out))).toBe(await bitsOf(alone));
  });

    const make = (seed: number) => randn([1, 4, 2, 32], { seed, ...bf16 });
    const [q, k] = [make(1), make(2)];
    const { cos, sin } = ropeTables({ dim: 32, maxPositions: 4, device });
    const [q, k] = [1, 2].map((seed) => randn([1, 4, 2, 32], { seed, ...bf16 })) as [
      Tensor,
      Tensor,
    ];
    const before = [await bitsOf(q), await bitsOf(k)];
    const fresh = ropeQK(q, k, cos, sin);
    expect([await bitsOf(q), await bitsOf(k)]).toEqual(before);
    const rotated = ropeQK(q, k, cos, sin, { qOut: q, kOut: k });
    expect([rotated.q === q, rotated.k === k]).toEqual([true, true]);
    expect(await bitsOf(q)).toBe(await bitsOf(fresh.q));
  });

  test.each([64, 128])("RO-17: %i heads of 256", (heads) => {
    const { cos, sin } = ropeTables({ dim: 256, maxPositions: 3, device });
    const q = randn([1, 3, heads, 256], { seed: 1, ...bf16 });
    expectRopeQK(q, q, cos, sin);
  });

  test.each([1, 19, 99])("RO-18: batches of %i, 32 heads beside 1, 8 and 32", async (batch) => {
    for (const [headsK, seqlen] of [
      [1, 1],
      [8, isEmulated ? 2 : 128],
      [32, isEmulated ? 2 : 16],
    ] as const) {
      const { cos, sin } = ropeTables({ dim: 64, maxPositions: 200, device });
      const q = randn([batch, seqlen, 32, 64], { seed: 1, ...bf16 });
      const k = randn([batch, seqlen, headsK, 64], { seed: 2, ...bf16 });
      const all = ropeQK(q, k, cos, sin, { offset: 7 });
      // The last sequence, which by itself is shared out over threads in another way.
      const last = (t: Tensor) => t.narrow(0, batch - 1, 1);
      const alone = expectRopeQK(last(q), last(k), cos, sin, { offset: 7 });
      expect(await bitsOf(last(all.q))).toBe(await bitsOf(alone.q));
      expect(await bitsOf(last(all.k))).toBe(await bitsOf(alone.k));
      for (const t of [q, k, all.q, all.k]) t.dispose();
    }
  });

  test("RO-19: in place on the last 64 of 512 columns, strided, is what a copy gives", async () => {
    const rows = isEmulated ? 8 : 512;
    const { cos, sin } = ropeTables({ dim: 64, maxPositions: rows, device });
    const wide = randn([rows, 1, 64, 512], { seed: 1, ...bf16 });
    const before = await bitsOf(wide.narrow(-1, 0, 448));
    const q = wide.narrow(-1, 448, 64);
    const wanted = await bitsOf(rope(q.transpose(0, 1), cos, sin));
    const inPlace = q.transpose(0, 1);
    rope(inPlace, cos, sin, { out: inPlace });
    expect(await bitsOf(inPlace)).toBe(wanted);
    expect(await bitsOf(wide.narrow(-1, 0, 448))).toBe(before);
    // The same by the rotary range, on the whole.
    const other = randn([1, 5, 4, 512], { seed: 1, ...bf16 });
    expectRope(other, cos, sin, { rotaryOffset: 448, out: poisoned(other.shape, bf16) });
  });
});
