import { type Device, devices, randn, type Tensor, tensor, zeros } from "@warpwright/runtime";
import {
  bitsOf,
  expectClose,
  floatDTypes,
  misaligned,
  poisoned,
  testDevices,
} from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { type RopeLayout, type RopeOptions, rope, ropeQK, ropeTables } from "../src/index.js";
import { positionsIn, ropeReference } from "./reference.js";
import { expectRope, expectRopeQK } from "./support.js";

describe("the reference", () => {
  test("turns (1, 0) by the angle, and back", () => {
    const [cos, sin] = [[Math.cos(0.5)], [Math.sin(0.5)]];
    const turned = ropeReference([1, 0], cos, sin, { rotaryDim: 2 });
    expect([...turned]).toEqual([Math.cos(0.5), Math.sin(0.5)]);
    const back = ropeReference(turned, cos, sin, { rotaryDim: 2, inverse: true });
    expect(back[0]).toBeCloseTo(1, 15);
    expect(back[1]).toBeCloseTo(0, 15);
  });

  test("RO-01: halves and neighbours, of 1, 2, 3, 4 at position 1", () => {
    const angles = [1, 1e-2];
    const [cos, sin] = [angles.map(Math.cos), angles.map(Math.sin)];
    const halves = ropeReference([1, 2, 3, 4], cos, sin, { rotaryDim: 4 });
    const neighbours = ropeReference([1, 2, 3, 4], cos, sin, { rotaryDim: 4, interleaved: true });
    const wanted = [-1.98411065, 1.95990067, 2.4623779, 4.01979967];
    expectClose(halves, wanted, { dtype: "float32", atol: 5e-9 });
    const others = [-1.14263966, 1.9220756, 2.95985067, 4.0297995];
    expectClose(neighbours, others, { dtype: "float32", atol: 5e-9 });
  });

  test("pairs are halves of the rotary range, not of the head", () => {
    const out = ropeReference([1, 2, 3, 4, 5, 6], [0], [1], { rotaryDim: 2, rotaryOffset: 3 });
    expect([...out]).toEqual([1, 2, 3, -5, 4, 6]);
  });

  test("positions restart where a sequence does, and are none behind the last", () => {
    expect(positionsIn([0, 3, 3, 5], 7)).toEqual([0, 1, 2, 0, 1, null, null]);
  });
});

// Around the number of columns that two pieces of 16 bytes have (8 of float32, 16 of 16 bits), one
// that pairs alone fill, those that models have (64 to 256; 40, 72, 80 of vision models, 192 and
// 576 of latent attention) and one with more lanes than a block has threads.
const headDims = [2, 6, 8, 10, 16, 24, 32, 40, 64, 72, 80, 96, 128, 192, 256, 576, 4112];

// Around what a thread has under way (4) and takes in all (16).
const headCounts = [1, 3, 4, 5, 16, 17, 33];

const layouts: readonly RopeLayout[] = ["bshd", "bhsd", "thd"];

function shapeFor(layout: RopeLayout, seqlen: number, heads: number, headDim: number): number[] {
  if (layout === "thd") return [2 * seqlen, heads, headDim];
  return layout === "bshd" ? [2, seqlen, heads, headDim] : [2, heads, seqlen, headDim];
}

/** Tokens of so many heads and lanes that a GPU's threads take 16 heads each. */
function manyTokens(device: Device, headsOfLanes: number): number {
  if (device === "cpu") return 1000;
  const { multiprocessorCount } = devices().find(({ device: name }) => name === device)!;
  return Math.ceil((16 * 4096 * multiprocessorCount) / headsOfLanes);
}

describe.each(testDevices())("rope on %s", (device) => {
  // Head dim 16: one lane a head for 16 bits, two for float32, eight where misaligned.
  test.each([
    ["bshd", "float32"],
    ["bhsd", "bfloat16"],
    ["thd", "float16"],
  ] as const)("many tokens, whose heads a thread takes in turns: %s, %s", async (layout, dtype) => {
    const place = { dtype, device };
    const seqlen = manyTokens(device, 21 + 2);
    const { cos, sin } = ropeTables({ dim: 16, maxPositions: 8, device });
    const positions = tensor([5], { dtype: "int32", device }).expand([seqlen]);
    const options = layout === "thd" ? { layout } : { layout, interleaved: true };
    const shape = (heads: number) => {
      if (layout === "thd") return [seqlen, heads, 16];
      return layout === "bshd" ? [1, seqlen, heads, 16] : [1, heads, seqlen, 16];
    };
    const [q, k] = [21, 2].map((heads) => randn(shape(heads), { seed: heads, ...place }));
    const both = ropeQK(q!, k!, cos, sin, { ...options, positions });
    for (const token of [0, seqlen >> 1, seqlen - 1]) {
      const one = (x: Tensor) => x.narrow({ bshd: 1, bhsd: 2, thd: 0 }[layout], token, 1);
      const alone = expectRopeQK(one(q!), one(k!), cos, sin, { ...options, offset: 5 });
      expect(await bitsOf(one(both.q))).toBe(await bitsOf(alone.q));
      expect(await bitsOf(one(both.k))).toBe(await bitsOf(alone.k));
    }
    const odd = misaligned(q!, 1);
    const apart = rope(odd, cos, sin, { ...options, positions });
    expect(Buffer.compare(await apart.bytes(), await both.q.bytes())).toBe(0);
    for (const t of [q!, k!, both.q, both.k, odd, apart]) t.dispose();
  });

  describe.each(floatDTypes)("%s", (dtype) => {
    const place = { dtype, device };

    test.each(headDims)("head dim %i, every layout and pairing", (headDim) => {
      const { cos, sin } = ropeTables({ dim: headDim, maxPositions: 20, device });
      for (const layout of layouts) {
        const x = randn(shapeFor(layout, 3, 5, headDim), { seed: headDim, ...place });
        for (const interleaved of [false, true]) {
          const options: RopeOptions = { layout, interleaved, offset: 11 };
          const turned = expectRope(x, cos, sin, options);
          const back = expectRope(turned, cos, sin, { ...options, inverse: true });
          const slack = { float32: 1e-5, float16: 8e-3, bfloat16: 6e-2 }[dtype];
          expectClose(back, [...x.dataSync()].map(Number), { atol: slack });
        }
      }
    });

    test.each(headCounts)("%i heads of q, and of k", (heads) => {
      const { cos, sin } = ropeTables({ dim: 32, maxPositions: 16, device });
      for (const layout of layouts) {
        const q = randn(shapeFor(layout, 5, heads, 32), { seed: 1, ...place });
        const k = randn(shapeFor(layout, 5, 2, 32), { seed: 2, ...place });
        expectRopeQK(q, k, cos, sin, { layout });
        expectRopeQK(k, q, cos, sin, { layout, interleaved: true });
      }
    });

    test.each([1, 2, 7, 37, 300])("%i tokens", (seqlen) => {
      const { cos, sin } = ropeTables({ dim: 16, maxPositions: 600, device });
      for (const layout of layouts) {
        const x = randn(shapeFor(layout, seqlen, 2, 16), { seed: seqlen, ...place });
        expectRope(x, cos, sin, { layout });
        expectRope(x.narrow(0, 1, 1), cos, sin, { layout, interleaved: true });
      }
    });

    test("q and k together are what each is by itself, to the bit", async () => {
      const { cos, sin } = ropeTables({ dim: 64, maxPositions: 64, device });
      for (const [headsQ, headsK] of [
        [32, 8],
        [8, 1],
        [1, 3],
        [40, 40],
      ] as const) {
        const q = randn([2, 9, headsQ, 64], { seed: 1, ...place });
        const k = randn([2, 9, headsK, 64], { seed: 2, ...place });
        const both = ropeQK(q, k, cos, sin, { offset: 3 });
        expect(await bitsOf(both.q)).toBe(await bitsOf(rope(q, cos, sin, { offset: 3 })));
        expect(await bitsOf(both.k)).toBe(await bitsOf(rope(k, cos, sin, { offset: 3 })));
      }
    });

    test.each([
      [64, 32, 0],
      [64, 32, 32],
      [64, 32, 16],
      [64, 16, 3],
      [80, 32, 0],
      [96, 96, 0],
      [100, 36, 7],
      [128, 64, 64],
      [40, 2, 38],
      [64, 0, 0],
    ])(
      "head dim %i, %i columns from %i on; the others bit for bit",
      async (dim, rotary, offset) => {
        const { cos, sin } = ropeTables({ dim: Math.max(rotary, 2), maxPositions: 8, device });
        const x = randn([2, 3, 5, dim], { seed: 1, ...place });
        for (const interleaved of [false, true]) {
          const options: RopeOptions = { interleaved, rotaryDim: rotary, rotaryOffset: offset };
          const out = poisoned(x.shape, place);
          expectRope(x, cos, sin, { ...options, out });
          const rest = (t: Tensor) => [
            t.narrow(-1, 0, offset),
            t.narrow(-1, offset + rotary, dim - offset - rotary),
          ];
          for (const [i, columns] of rest(out).entries()) {
            expect(await bitsOf(columns)).toBe(await bitsOf(rest(x)[i]!));
          }
          const inPlace = x.clone();
          rope(inPlace, cos, sin, { ...options, out: inPlace });
          expect(await bitsOf(inPlace)).toBe(await bitsOf(out));
        }
      },
    );

    test.each(floatDTypes)("tables of %s, and wider ones than the rotary range", (tableDtype) => {
      const x = randn([2, 4, 3, 64], { seed: 1, ...place });
      for (const dim of [64, 96]) {
        const { cos, sin } = ropeTables({ dim, maxPositions: 8, dtype: tableDtype, device });
        expect([cos.dtype, sin.dtype]).toEqual([tableDtype, tableDtype]);
        for (const interleaved of [false, true]) {
          expectRope(x, cos, sin, { interleaved, rotaryDim: 64, offset: 2 });
        }
      }
    });

    test.each(["int32", "int64"] as const)(
      "positions of %s, for all sequences or each",
      (index) => {
        const { cos, sin } = ropeTables({ dim: 32, maxPositions: 64, device });
        const each = tensor(
          [
            [3, 0, 63, 17],
            [5, 5, 64, -1],
          ],
          { dtype: index, device },
        );
        const all = tensor([63, 0, 7, 200], { dtype: index, device });
        for (const layout of ["bshd", "bhsd"] as const) {
          const x = randn(shapeFor(layout, 4, 3, 32), { seed: 1, ...place });
          for (const positions of [each, all, each.select(0, 1).unsqueeze(0).expand([2, 4])]) {
            for (const offset of [0, 5, -3]) expectRope(x, cos, sin, { layout, positions, offset });
          }
        }
        const x = randn([4, 3, 32], { seed: 1, ...place });
        expectRope(x, cos, sin, { layout: "thd", positions: all, offset: -1 });
      },
    );

    test.each(["int32", "int64"] as const)("sequences in one, their starts of %s", (index) => {
      const { cos, sin } = ropeTables({ dim: 32, maxPositions: 16, device });
      const x = randn([20, 3, 32], { seed: 1, ...place });
      for (const starts of [[0, 20], [0, 3, 3, 8, 20], [0, 0, 0, 1, 19], [0, 5], [0], [2, 7]]) {
        const cuSeqlens = tensor(starts, { dtype: index, device });
        for (const offset of [0, 4, -2]) {
          expectRope(x, cos, sin, { layout: "thd", cuSeqlens, offset });
        }
      }
    });

    test("NaN and infinity stay in their pair", async () => {
      const { cos, sin } = ropeTables({ dim: 32, maxPositions: 8, device });
      const x = randn([1, 4, 3, 48], { seed: 1, ...place });
      const clean = await rope(x, cos, sin).data();
      const spoiled = x.clone();
      // Token 1, head 2: columns 5 (of the pair 5, 21) and 40, which is not rotated.
      spoiled.narrow(1, 1, 1).narrow(2, 2, 1).narrow(3, 5, 1).fill(Number.NaN);
      spoiled.narrow(1, 1, 1).narrow(2, 2, 1).narrow(3, 40, 1).fill(Number.POSITIVE_INFINITY);
      const out = await rope(spoiled, cos, sin).data();
      const at = (1 * 3 + 2) * 48;
      const changed = [...out.keys()].filter((i) => !Object.is(out[i], clean[i]));
      expect(changed).toEqual([at + 5, at + 21, at + 40]);
    });

    test.each([[[0, 4, 2, 32]], [[2, 0, 2, 32]], [[2, 4, 0, 32]]])(
      "an empty tensor of shape %j",
      (shape) => {
        const { cos, sin } = ropeTables({ dim: 32, maxPositions: 8, device });
        const x = zeros(shape, place);
        expect(rope(x, cos, sin).shape).toEqual(shape);
        const k = zeros([shape[0]!, shape[1]!, 3, 32], place);
        expectRopeQK(x, k, cos, sin);
        expectRopeQK(k, x, cos, sin);
      },
    );
  });
});
