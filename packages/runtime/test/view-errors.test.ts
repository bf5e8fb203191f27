import { test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { arange, type Tensor, zeros } from "../src/index.js";

/** 0, 1, 2, … in a shape. */
function counted(...shape: number[]): Tensor<"int32"> {
  return arange(
    shape.reduce((a, b) => a * b, 1),
    { dtype: "int32" },
  ).view(shape);
}

/** An array without entries. */
function holes(length: number): number[] {
  return new Array<number>(length);
}

/** One element, 2^log times. */
function repeated(log: number): Tensor {
  return zeros([1]).expand(2 ** log);
}

const x = counted(2, 3);
const scalar = counted();
const full = zeros([1, 1, 1, 1, 1, 1, 1, 1]);

const failures: Failure[] = [
  ["ERR_KIND view: expected an array of integers, got a string", () => x.view(wrong("6"))],
  ["ERR_SHAPE view: expected a shape of 6 elements, got [4]", () => x.view(4)],
  ["ERR_SHAPE view: expected a shape of 6 elements, got [4, -1]", () => x.view(4, -1)],
  ["ERR_VALUE view: expected shape to hold integers of at least 0, got -1", () => x.view(-1, -1)],
  ["ERR_SHAPE view: expected a shape of 0 elements, got [0, -1]", () => zeros([0]).view(0, -1)],
  [
    "ERR_VALUE view: expected shape to hold integers of at least 0, got NaN",
    () => x.view(Number.NaN),
  ],
  [
    "ERR_SHAPE view: expected a shape that strides [1, 3] allow, got [6] of [3, 2]; reshape copies",
    () => x.transpose().view(6),
  ],
  [
    "ERR_SHAPE view: expected at most 8 dimensions, got 9",
    () => full.view(1, 1, 1, 1, 1, 1, 1, 1, 1),
  ],
  [
    "ERR_SHAPE view: expected at most 8 dimensions, got 9",
    () => full.view(1, 1, 1, 1, 1, 1, 1, 1, -1),
  ],
  ["ERR_SHAPE reshape: expected a shape of 6 elements, got [7]", () => x.reshape([7])],
  ["ERR_SHAPE flatten: expected startDim before endDim, got 1 and 0", () => x.flatten(1, 0)],
  [
    "ERR_VALUE flatten: expected endDim to be an integer from -2 to 1, got 2",
    () => x.flatten(0, 2),
  ],
  ["ERR_VALUE unsqueeze: expected dim to be an integer from -3 to 2, got 3", () => x.unsqueeze(3)],
  ["ERR_SHAPE unsqueeze: expected at most 8 dimensions, got 9", () => full.unsqueeze(0)],
  [
    "ERR_KIND unsqueeze: expected dim to be a number, got undefined",
    () => x.unsqueeze(wrong(undefined)),
  ],
  ["ERR_KIND squeeze: expected dim to be a number, got a string", () => x.squeeze(wrong("0"))],
  [
    "ERR_SHAPE transpose: expected a tensor of at least one dimension, got shape []",
    () => scalar.transpose(),
  ],
  [
    "ERR_VALUE transpose: expected dim0 to be an integer from -1 to 0, got -2",
    () => counted(3).transpose(),
  ],
  ["ERR_VALUE transpose: expected dim0 to be an integer, got 0.5", () => x.transpose(0.5, 1)],
  ["ERR_SHAPE permute: expected 2 dimensions, got [0]", () => x.permute(0)],
  ["ERR_SHAPE permute: expected every dimension once, got [0, -2]", () => x.permute(0, -2)],
  [
    "ERR_VALUE permute: expected a dimension to be an integer from -2 to 1, got 2",
    () => x.permute([0, 2]),
  ],
  [
    "ERR_KIND permute: expected a dimension to be a number, got a string",
    () => x.permute(wrong(["0", "1"])),
  ],
  ["ERR_VALUE narrow: expected start + length of at most 2, got 1 + 2", () => x.narrow(0, 1, 2)],
  [
    "ERR_VALUE narrow: expected start to be an integer from -2 to 1, got 3",
    () => x.narrow(0, 3, 0),
  ],
  [
    "ERR_VALUE narrow: expected length to be an integer of at least 0, got -1",
    () => x.narrow(0, 0, -1),
  ],
  [
    "ERR_KIND narrow: expected start to be a number, got a string",
    () => x.narrow(0, wrong("0"), 1),
  ],
  [
    "ERR_KIND narrow: expected length to be an integer of at least 0, got undefined",
    () => x.narrow(0, 0, wrong(undefined)),
  ],
  [
    "ERR_SHAPE narrow: expected a tensor of at least one dimension, got shape []",
    () => scalar.narrow(0, 0, 1),
  ],
  ["ERR_VALUE select: expected index to be an integer from -3 to 2, got 3", () => x.select(1, 3)],
  [
    "ERR_VALUE select: expected index to be an integer from 0 to -1, got 0",
    () => zeros([0]).select(0, 0),
  ],
  ["ERR_VALUE select: expected dim to be an integer from -2 to 1, got -3", () => x.select(-3, 0)],
  ["ERR_VALUE chunk: expected count to be an integer of at least 1, got 0", () => x.chunk(0)],
  [
    "ERR_KIND chunk: expected count to be an integer of at least 1, got a string",
    () => x.chunk(wrong("2")),
  ],
  ["ERR_VALUE split: expected sizes to be an integer of at least 1, got 0", () => x.split(0)],
  ["ERR_VALUE split: expected at most 1048576 pieces, got 268435456", () => repeated(28).split(1)],
  [
    "ERR_VALUE split: expected at most 1048576 pieces, got 1099511627776",
    () => repeated(40).split(1),
  ],
  [
    "ERR_VALUE split: expected at most 1048576 pieces, got 4294967295",
    () => x.split(new Array(2 ** 32 - 1)),
  ],
  [
    "ERR_VALUE chunk: expected at most 1048576 pieces, got 1099511627776",
    () => repeated(40).chunk(2 ** 40),
  ],
  [
    "ERR_KIND split: expected sizes to hold integers of at least 0, got undefined",
    () => x.split(holes(2)),
  ],
  [
    "ERR_KIND view: expected shape to hold integers of at least 0, got undefined",
    () => x.view([-1, ...holes(1)]),
  ],
  ["ERR_KIND view: expected shape to hold integers of at least 0, *", () => x.view(holes(2))],
  ["ERR_KIND expand: expected shape to hold integers *, got undefined", () => x.expand(holes(2))],
  [
    "ERR_KIND permute: expected a dimension to be a number, got undefined",
    () => x.permute(holes(2)),
  ],
  [
    "ERR_SHAPE view: expected at most 8 dimensions, got 4294967295",
    () => x.view(holes(2 ** 32 - 1)),
  ],
  ["ERR_SHAPE split: expected sizes that sum to 2, got [1, 2]", () => x.split([1, 2])],
  [
    "ERR_VALUE split: expected sizes to hold integers of at least 0, got -1",
    () => x.split([3, -1]),
  ],
  [
    "ERR_KIND split: expected sizes to be a number or an array, got a string",
    () => x.split(wrong("1")),
  ],
  [
    "ERR_SHAPE expand: expected a shape that [2, 3] broadcasts to, got [4, 3]",
    () => x.expand(4, 3),
  ],
  ["ERR_SHAPE expand: expected a shape that [2, 3] broadcasts to, got [3]", () => x.expand(3)],
  [
    "ERR_VALUE expand: expected shape to hold integers of at least 0, got -1",
    () => x.expand(-1, 2, 3),
  ],
  [
    "ERR_VALUE expand: expected a shape of at most 2^53 bytes, got [2251799813685248, 2, 3]",
    () => x.expand(2 ** 51, 2, 3),
  ],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
});
