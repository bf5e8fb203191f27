import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { arange, cat, ones, stack, type Tensor, zeros } from "../src/index.js";

const x = arange(4, { dtype: "int32" }).view(2, 2);
const y = x.transpose();

describe("cat and stack", () => {
  test.each<[string, () => Tensor, unknown]>([
    [
      "cat of rows",
      () => cat([x, x]),
      [
        [0, 1],
        [2, 3],
        [0, 1],
        [2, 3],
      ],
    ],
    [
      "cat of columns",
      () => cat([x, x.narrow(1, 0, 1)], 1),
      [
        [0, 1, 0],
        [2, 3, 2],
      ],
    ],
    [
      "cat from the end",
      () => cat([x, x], -1),
      [
        [0, 1, 0, 1],
        [2, 3, 2, 3],
      ],
    ],
    [
      "cat of a view",
      () => cat([x, y]),
      [
        [0, 1],
        [2, 3],
        [0, 2],
        [1, 3],
      ],
    ],
    [
      "cat of one",
      () => cat([x]),
      [
        [0, 1],
        [2, 3],
      ],
    ],
    [
      "cat of nothing to something",
      () => cat([x.narrow(0, 0, 0), x]),
      [
        [0, 1],
        [2, 3],
      ],
    ],
    ["cat of nothing", () => cat([zeros([0, 2]), zeros([0, 2])]), []],
    [
      "stack",
      () => stack([x.select(0, 0), y.select(0, 0)]),
      [
        [0, 1],
        [0, 2],
      ],
    ],
    [
      "stack at the end",
      () => stack([x.select(0, 0), y.select(0, 0)], -1),
      [
        [0, 0],
        [1, 2],
      ],
    ],
    ["stack of scalars", () => stack([x.select(0, 0).select(0, 1)]), [1]],
    [
      "stack in the middle",
      () => stack([x, y], 1),
      [
        [
          [0, 1],
          [0, 2],
        ],
        [
          [2, 3],
          [1, 3],
        ],
      ],
    ],
  ])("%s", async (_, join, wanted) => {
    expect(await join().tolist()).toEqual(wanted);
  });

  test("give new contiguous memory", () => {
    const joined = cat([x]);
    expect([joined.pointer === x.pointer, joined.isContiguous()]).toEqual([false, true]);
  });
});

/** Three places, one of them empty. */
function withHole(at: number): Tensor<"int32">[] {
  const tensors = [x, x, x];
  delete tensors[at];
  return tensors;
}

/** 2^52 bytes, as far as anybody can count them. */
function wide(): Tensor<"uint8"> {
  return ones([1], { dtype: "uint8" }).expand(2 ** 52);
}

const failures: Failure[] = [
  ["ERR_KIND cat: expected tensors to be an array, got a Tensor", () => cat(wrong(x))],
  ["ERR_VALUE stack: expected at least one tensor, got none", () => stack([])],
  ["ERR_KIND cat: expected tensors[1] to be a Tensor, got a number", () => cat([x, wrong(1)])],
  ["ERR_KIND cat: expected tensors[1] to be a Tensor, got undefined", () => cat(withHole(1))],
  ["ERR_KIND stack: expected tensors[1] to be a Tensor, got undefined", () => stack(withHole(1))],
  ["ERR_KIND stack: expected tensors[0] to be a Tensor, got undefined", () => stack(withHole(0))],
  [
    "ERR_KIND cat: expected tensors[0] to be a Tensor, got undefined",
    () => cat(new Array(2 ** 32 - 1)),
  ],
  ["ERR_VALUE cat: cannot allocate 13510798882111488 bytes", () => cat([wide(), wide(), wide()])],
  [
    "ERR_VALUE stack: cannot allocate 13510798882111488 bytes",
    () => stack([wide(), wide(), wide()]),
  ],
  [
    "ERR_DTYPE cat: expected tensors[1] of dtype int32, got float32",
    () => cat<"int32" | "float32">([x, ones([2, 2])]),
  ],
  [
    "ERR_SHAPE cat: expected tensors[1] of shape [2, 2], got [2, 1]",
    () => cat([x, x.narrow(1, 0, 1)]),
  ],
  ["ERR_SHAPE cat: expected tensors[1] of shape [4, 2], got [4]", () => cat([x, x.flatten()])],
  [
    "ERR_SHAPE cat: expected a tensor of at least one dimension, got shape []",
    () => cat([x.flatten().select(0, 0)]),
  ],
  ["ERR_VALUE cat: expected dim to be an integer from -2 to 1, got 2", () => cat([x], 2)],
  ["ERR_SHAPE stack: expected tensors[1] of shape [2, 2], got [4]", () => stack([x, x.flatten()])],
  ["ERR_VALUE stack: expected dim to be an integer from -3 to 2, got 3", () => stack([x], 3)],
  [
    "ERR_SHAPE stack: expected at most 8 dimensions, got 9",
    () => stack([ones([1, 1, 1, 1, 1, 1, 1, 1])]),
  ],
  [
    "ERR_DISPOSED cat: tensors[1] has been disposed",
    () => {
      const gone = x.clone();
      gone.dispose();
      cat([x, gone]);
    },
  ],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
});
