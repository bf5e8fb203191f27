// What only a GPU can show.
import { CudaGraph, CudaStream, randn, type Tensor, tensor, zeros } from "@warpwright/runtime";
import { bitsOf, valuesOf } from "@warpwright/testing";
import { describeCuda, testFarRows, testStreams } from "@warpwright/testing/vitest";
import { expect, test } from "vitest";
import { rope, ropeQK, ropeTables } from "../src/index.js";
import { functions } from "./callees.js";

testStreams(functions);

// Rows are heads of one token here: more of them than a grid has blocks in its height.
testFarRows(functions.slice(0, 1), [
  ["heads of 512", "float16", 4_194_305, 512],
  ["heads of 12,288", "bfloat16", 175_000, 12_288],
  ["heads of 255, one element at a time", "float16", 8_421_600, 255],
]);

const device = "cuda:0";
const bf16 = { dtype: "bfloat16", device } as const;

/** Of either sign, as rotated zeros are. */
function expectZeros(x: Tensor): void {
  expect(valuesOf(x).every((value) => value === 0)).toBe(true);
}

describeCuda("rope of tokens beyond 2^31 elements", () => {
  /** Zeros but for the first and the last of the batch. */
  function farEnds(shape: readonly number[]): Tensor {
    const x = zeros(shape, bf16);
    for (const at of [0, shape[0]! - 1]) {
      x.narrow(0, at, 1).copyFrom(randn([1, ...shape.slice(1)], { seed: at + 1, ...bf16 }));
    }
    return x;
  }

  test.each([
    ["RO-06: q of a fused qkv, in place, interleaved", [7200, 90, 3, 16, 72]],
    ["sixteen bytes at a time", [7200, 90, 3, 16, 80]],
  ] as const)("%s: %j", async (_, shape) => {
    const { cos, sin } = ropeTables({ dim: shape[4], maxPositions: 90, device });
    for (const interleaved of [true, false]) {
      const qkv = farEnds(shape);
      const [q, k] = [qkv.select(2, 0), qkv.select(2, 1)];
      const last = (x: Tensor) => x.narrow(0, shape[0] - 1, 1);
      const wanted = ropeQK(last(q).clone(), last(k).clone(), cos, sin, { interleaved });
      const v = await bitsOf(last(qkv.select(2, 2)));
      ropeQK(q, k, cos, sin, { interleaved, qOut: q, kOut: k });
      expect((await bitsOf(last(q))) === (await bitsOf(wanted.q))).toBe(true);
      expect((await bitsOf(last(k))) === (await bitsOf(wanted.k))).toBe(true);
      expect((await bitsOf(last(qkv.select(2, 2)))) === v).toBe(true);
      // Zeros are rotated to zeros, wherever they are.
      const middle = qkv.narrow(0, shape[0] >> 1, 1);
      expectZeros(middle);
      qkv.dispose();
    }
  });

  test.each([
    ["bshd", [1, 2 ** 20 + 1, 16, 128]],
    ["bhsd", [1, 16, 2 ** 20 + 1, 128]],
  ] as const)("a sequence of a million, %s", async (layout, shape) => {
    const seqlen = 2 ** 20 + 1;
    const { cos, sin } = ropeTables({ dim: 128, maxPositions: seqlen, device });
    const dim = layout === "bshd" ? 1 : 2;
    const x = zeros(shape, bf16);
    const last = x.narrow(dim, seqlen - 1, 1);
    last.copyFrom(randn(last.shape, { seed: 1, ...bf16 }));
    const wanted = await bitsOf(rope(last.clone(), cos, sin, { layout, offset: seqlen - 1 }));
    const out = zeros(shape, bf16).fill(Number.NaN);
    rope(x, cos, sin, { layout, out });
    expect((await bitsOf(out.narrow(dim, seqlen - 1, 1))) === wanted).toBe(true);
    const middle = out.narrow(dim, 2 ** 19, 1);
    expectZeros(middle);
    for (const t of [x, out, cos, sin]) t.dispose();
  });

  test("more tokens than the largest grid has blocks, of one pair each", async () => {
    const tokens = 2 ** 31 + 64;
    const { cos, sin } = ropeTables({ dim: 2, maxPositions: 2, device });
    const x = zeros([tokens, 1, 2], bf16);
    const last = x.narrow(0, tokens - 1, 1).fill(1);
    const positions = tensor([1], { dtype: "int32", device }).expand([tokens]);
    const wanted = await bitsOf(rope(last.unsqueeze(0), cos, sin, { offset: 1 }));
    rope(x, cos, sin, { layout: "thd", positions, out: x });
    expect(await bitsOf(x.narrow(0, tokens - 1, 1))).toBe(wanted);
    expectZeros(x.narrow(0, 2 ** 30, 64));
    x.dispose();
  });
});

describeCuda("positions on the GPU", () => {
  test("a graph reads positions and sequences anew at every launch", async () => {
    const { cos, sin } = ropeTables({ dim: 64, maxPositions: 64, device });
    const x = randn([8, 4, 64], { seed: 1, ...bf16 });
    const positions = zeros([8], { dtype: "int32", device });
    const cuSeqlens = tensor([0, 8, 8], { dtype: "int32", device });
    const stream = new CudaStream({ device });
    let outs: Tensor[] = [];
    const graph = CudaGraph.capture(
      () => {
        const given = { layout: "thd", stream } as const;
        outs = [
          rope(x, cos, sin, { ...given, positions }),
          rope(x, cos, sin, { ...given, cuSeqlens }),
        ];
      },
      { stream },
    );
    for (const [places, starts] of [
      [
        [7, 6, 5, 4, 3, 2, 1, 0],
        [0, 3, 8],
      ],
      [
        [63, 64, 0, 1, -1, 9, 9, 9],
        [0, 0, 5],
      ],
    ] as const) {
      positions.copyFrom(tensor(places, { dtype: "int32", device }));
      cuSeqlens.copyFrom(tensor(starts, { dtype: "int32", device }));
      for (const out of outs) out.fill(Number.NaN);
      graph.launch();
      const wanted = [
        rope(x, cos, sin, { layout: "thd", positions }),
        rope(x, cos, sin, { layout: "thd", cuSeqlens }),
      ];
      for (const [i, out] of outs.entries()) {
        expect(await bitsOf(out)).toBe(await bitsOf(wanted[i]!));
      }
    }
    graph.dispose();
    stream.dispose();
  });
});
