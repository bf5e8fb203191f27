import { describe, expect, test } from "vitest";
import { ones, type Tensor, zeros } from "../src/index.js";
import { checkOverlap } from "../src/kernel/index.js";
import { disjoint } from "../src/kernel/overlap.js";
import { offsetOf } from "../src/layout.js";

type Pair = readonly [Tensor, Tensor];

const base = zeros([6, 4, 8]);
const halves = (): Pair => base.chunk(2, -1) as unknown as Pair;
const fused = zeros([2, 5, 3, 4, 8]);

const pairs: [name: string, pair: () => Pair, exact: boolean, otherwise: boolean][] = [
  ["other tensors", () => [zeros([2]), zeros([2])], true, true],
  ["the same object", () => [base, base], true, false],
  ["the same view", () => [base.view(6, 4, 8), base], true, false],
  [
    "the same view of an odd stride at size 1",
    () => [base.narrow(0, 0, 1), base.view(1, 24, 8).narrow(1, 0, 4)],
    true,
    false,
  ],
  ["another shape of the same", () => [base.flatten(), base], false, false],
  ["the transpose", () => [zeros([4, 4]).transpose(), zeros([4, 4])], true, true],
  ["its own transpose", () => [square.transpose(), square], false, false],
  ["one row on", () => [base.narrow(0, 1, 5), base.narrow(0, 0, 5)], false, false],
  ["other rows", () => [base.narrow(0, 0, 3), base.narrow(0, 3, 3)], true, true],
  ["neighbours", () => [flat.narrow(0, 0, 5), flat.narrow(0, 5, 5)], true, true],
  ["one element in common", () => [flat.narrow(0, 0, 6), flat.narrow(0, 5, 5)], false, false],
  ["two chunks", halves, true, true],
  ["two chunks, the other way", () => [halves()[1], halves()[0]], true, true],
  ["columns that cross", () => [base.narrow(2, 0, 5), base.narrow(2, 4, 4)], false, false],
  ["columns of other widths", () => [base.narrow(2, 0, 2), base.narrow(2, 2, 6)], true, true],
  ["q and k of a fused qkv", () => [fused.select(2, 0), fused.select(2, 1)], true, true],
  [
    "q and qk of a fused qkv",
    () => [fused.select(2, 0), fused.narrow(2, 0, 2).view(2, 5, 8, 8).narrow(2, 0, 4)],
    true,
    false,
  ],
  ["nothing", () => [base.narrow(0, 0, 0), base], true, true],
  ["a repeated row", () => [base.select(0, 0), base.narrow(0, 0, 1).expand(6, 4, 8)], false, false],
];

const square = zeros([4, 4]);
const flat = zeros([10]);

describe("checkOverlap", () => {
  test.each(pairs)("%s", (_, pair, exact, otherwise) => {
    const [out, input] = pair();
    expect(passes(out, input, true)).toBe(exact);
    expect(passes(out, input, false)).toBe(otherwise);
  });

  test("says which two", () => {
    expect(() => checkOverlap("gelu", "out", base, "x", base, { exact: false })).toThrow(
      expect.objectContaining({
        code: "ERR_OVERLAP",
        message: "gelu: expected out to share no memory with x, got views that overlap",
      }),
    );
    expect(() => checkOverlap("gelu", "out", base.flatten(), "x", base, { exact: true })).toThrow(
      "gelu: expected out to share no memory with x, or to be exactly it, got views that overlap",
    );
  });

  test("is never wrong about memory that is shared", () => {
    const views = someViews(ones([4, 6, 4]));
    let proven = 0;
    for (const a of views) {
      const elements = new Set(elementsOf(a));
      for (const b of views) {
        const shared = elementsOf(b).some((element) => elements.has(element));
        if (disjoint(a, b)) {
          proven++;
          expect(shared).toBe(false);
        }
      }
    }
    expect(proven).toBeGreaterThan(100);
  });
});

function passes(out: Tensor, input: Tensor, exact: boolean): boolean {
  try {
    checkOverlap("op", "out", out, "x", input, { exact });
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "ERR_OVERLAP" });
    return false;
  }
}

function someViews(x: Tensor): Tensor[] {
  const views: Tensor[] = [];
  for (let dim = 0; dim < 3; dim++) {
    const size = x.shape[dim]!;
    for (let start = 0; start < size; start++) {
      views.push(x.select(dim, start));
      for (let length = 1; start + length <= size; length += 2) {
        const piece = x.narrow(dim, start, length);
        views.push(piece, piece.transpose(0, 1), piece.transpose());
      }
    }
  }
  return views;
}

function elementsOf(x: Tensor): number[] {
  return Array.from({ length: x.size }, (_, i) => offsetOf(x, i));
}
