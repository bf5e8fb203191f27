import { randn, type Tensor } from "@warpwright/runtime";
import { bitsOf, floatDTypes, misaligned, testDevices } from "@warpwright/testing";
import { testLayouts } from "@warpwright/testing/vitest";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { rope, ropeQK, ropeTables } from "../src/index.js";
import { functions } from "./callees.js";

// Within and beyond what a block has threads for, divisible and not; the longest on a GPU alone.
testLayouts(functions, isEmulated ? { sizes: [1, 5, 8, 63, 64, 640, 769] } : {});

describe.each(testDevices())("layouts of all of a call on %s", (device) => {
  test.each(floatDTypes)("bshd, bhsd, thd and their transposes are one: %s", async (dtype) => {
    const { cos, sin } = ropeTables({ dim: 64, maxPositions: 16, device });
    const x = randn([1, 9, 5, 64], { seed: 1, dtype, device });
    const wanted = await bitsOf(rope(x, cos, sin, { offset: 2 }));
    const ofHeads = x.transpose(1, 2);
    const views: [Tensor, "bhsd" | "thd"][] = [
      [ofHeads, "bhsd"],
      [ofHeads.contiguous(), "bhsd"],
      [x.select(0, 0), "thd"],
      [ofHeads.contiguous().select(0, 0).transpose(0, 1), "thd"],
    ];
    for (const [view, layout] of views) {
      const out = rope(view, cos, sin, { layout, offset: 2 });
      expect(await bitsOf(layout === "bhsd" ? out.transpose(1, 2) : out)).toBe(wanted);
    }
  });

  test.each(floatDTypes)(
    "tables in place in a fused one, strided, and misaligned: %s",
    async (dtype) => {
      const { cos, sin } = ropeTables({ dim: 64, maxPositions: 16, dtype, device });
      const x = randn([2, 9, 5, 64], { seed: 1, dtype: "bfloat16", device });
      const wanted = await bitsOf(rope(x, cos, sin));
      // [positions, cos and sin], as vLLM has them.
      const fused = randn([16, 64], { seed: 2, dtype, device });
      const [left, right] = fused.chunk(2, 1) as [Tensor, Tensor];
      left.copyFrom(cos);
      right.copyFrom(sin);
      expect(await bitsOf(rope(x, left, right))).toBe(wanted);
      // The columns of a table of twice the width, as Hugging Face's are.
      const wide = randn([16, 64], { seed: 2, dtype, device });
      wide.narrow(1, 0, 32).copyFrom(cos);
      expect(await bitsOf(rope(x, wide.narrow(1, 0, 32), sin))).toBe(wanted);
      const transposed = [cos, sin].map((table) =>
        table.transpose(0, 1).contiguous().transpose(0, 1),
      );
      expect(await bitsOf(rope(x, transposed[0]!, transposed[1]!))).toBe(wanted);
      for (let offset = 1; offset < 8; offset++) {
        expect(await bitsOf(rope(x, misaligned(cos, offset), sin))).toBe(wanted);
        expect(await bitsOf(rope(x, cos, misaligned(sin, offset)))).toBe(wanted);
      }
    },
  );

  test("of q and k one aligned and one not, one in place and one not", async () => {
    const { cos, sin } = ropeTables({ dim: 32, maxPositions: 16, device });
    const [q, k] = [1, 2].map((seed) =>
      randn([2, 7, 3, 48], { seed, dtype: "bfloat16", device }),
    ) as [Tensor, Tensor];
    const wanted = ropeQK(q, k, cos, sin);
    const bits = [await bitsOf(wanted.q), await bitsOf(wanted.k)];
    const [ownQ, oddK] = [q.clone(), misaligned(k, 3)];
    const mixed = [
      ropeQK(q, oddK, cos, sin),
      ropeQK(ownQ, k, cos, sin, { qOut: ownQ }),
      ropeQK(q, oddK, cos, sin, { kOut: oddK }),
    ];
    for (const { q: one, k: other } of mixed) {
      expect([await bitsOf(one), await bitsOf(other)]).toEqual(bits);
    }
  });
});
