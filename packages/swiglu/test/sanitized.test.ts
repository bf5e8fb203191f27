// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { randn, type Tensor } from "@warpwright/runtime";
import { floatDTypes, misaligned, stridedRows, withCanaries } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { describe, test } from "vitest";
import { clamped, expectSwiglu, expectSwigluPair, gatePlaces } from "./support.js";

const device = "cuda:0";

const variants = [
  ["plain", {}],
  ["clamped", clamped],
] as const;

// One long row and rows of a pitch: with whole vectors alone, with a tail in the first tile and in
// the last, and more rows than a block takes at once.
const shapes = [
  [3, 64],
  [5, 4164],
  [300, 9],
] as const;

// Aligned and not: a distance of 16 bytes between rows, or of one element.
const moves: readonly [name: string, move: (x: Tensor) => Tensor][] = [
  ["dense", (x) => x],
  ["strided", (x) => stridedRows(x, 8)],
  ["misaligned", (x) => misaligned(x, 1)],
];

describeCuda("swiglu under compute-sanitizer", () => {
  const cases = floatDTypes.flatMap((dtype) =>
    moves.map(([name, move]) => [dtype, name, move] as const),
  );

  describe.each(variants)("%s", (_, options) => {
    test.each(cases)("%s, %s", async (dtype, __, move) => {
      const place = { dtype, device } as const;
      for (const [rows, size] of shapes) {
        const x = move(randn([rows, 2 * size], { seed: 1, ...place }));
        const [gate, up] = [2, 3].map((seed) => move(randn([rows, size], { seed, ...place })));
        const calls = [
          (out?: Tensor) => expectSwigluPair(gate!, up!, { ...options, out }),
          ...gatePlaces.map((at) => (out?: Tensor) => expectSwiglu(x, { ...options, ...at, out })),
        ];
        for (const call of calls) {
          const guarded = withCanaries([rows, size], { ...place, rowGuard: 8 });
          call(guarded.tensor);
          await guarded.check();
          guarded.dispose();
          call().dispose();
        }
        for (const tensor of [x, gate!, up!]) tensor.dispose();
      }
    });
  });
});
