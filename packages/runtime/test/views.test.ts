import { describe, expect, test } from "vitest";
import { arange, type Tensor, zeros } from "../src/index.js";

/** 0, 1, 2, … in a shape. */
function counted(...shape: number[]): Tensor<"int32"> {
  return arange(
    shape.reduce((a, b) => a * b, 1),
    { dtype: "int32" },
  ).view(shape);
}

describe("views", () => {
  test.each<[string, () => Tensor, number[], unknown]>([
    [
      "view of an array",
      () => counted(6).view([2, 3]),
      [2, 3],
      [
        [0, 1, 2],
        [3, 4, 5],
      ],
    ],
    [
      "view of numbers",
      () => counted(6).view(3, 2),
      [3, 2],
      [
        [0, 1],
        [2, 3],
        [4, 5],
      ],
    ],
    [
      "view with -1",
      () => counted(6).view(2, -1),
      [2, 3],
      [
        [0, 1, 2],
        [3, 4, 5],
      ],
    ],
    ["view as a scalar", () => counted(1).view(), [], 0],
    ["view of a scalar", () => counted().view(1, 1), [1, 1], [[0]]],
    ["reshape that copies", () => counted(2, 3).transpose().reshape(-1), [6], [0, 3, 1, 4, 2, 5]],
    [
      "reshape that does not",
      () => counted(6).reshape([3, 2]),
      [3, 2],
      [
        [0, 1],
        [2, 3],
        [4, 5],
      ],
    ],
    ["flatten", () => counted(2, 3).flatten(), [6], [0, 1, 2, 3, 4, 5]],
    [
      "flatten of some",
      () => counted(1, 2, 3).flatten(0, 1),
      [2, 3],
      [
        [0, 1, 2],
        [3, 4, 5],
      ],
    ],
    ["flatten from the end", () => counted(1, 2, 3).flatten(-2), [1, 6], [[0, 1, 2, 3, 4, 5]]],
    ["flatten of a scalar", () => counted().flatten(), [1], [0]],
    ["flatten of a transposed one", () => counted(2, 2).transpose().flatten(), [4], [0, 2, 1, 3]],
    ["unsqueeze in front", () => counted(2).unsqueeze(0), [1, 2], [[0, 1]]],
    ["unsqueeze at the end", () => counted(2).unsqueeze(-1), [2, 1], [[0], [1]]],
    ["unsqueeze of a scalar", () => counted().unsqueeze(0), [1], [0]],
    ["squeeze", () => counted(1, 2, 1).squeeze(), [2], [0, 1]],
    ["squeeze of one", () => counted(1, 2, 1).squeeze(-1), [1, 2], [[0, 1]]],
    ["squeeze of a larger one", () => counted(1, 2).squeeze(1), [1, 2], [[0, 1]]],
    [
      "transpose",
      () => counted(2, 3).transpose(),
      [3, 2],
      [
        [0, 3],
        [1, 4],
        [2, 5],
      ],
    ],
    [
      "transpose of two",
      () => counted(1, 2, 2).transpose(0, 2),
      [2, 2, 1],
      [
        [[0], [2]],
        [[1], [3]],
      ],
    ],
    ["transpose of one", () => counted(2, 1).transpose(0, -2), [2, 1], [[0], [1]]],
    [
      "permute of an array",
      () => counted(1, 2, 2).permute([2, 0, 1]),
      [2, 1, 2],
      [[[0, 2]], [[1, 3]]],
    ],
    [
      "permute of numbers",
      () => counted(2, 3).permute(-1, 0),
      [3, 2],
      [
        [0, 3],
        [1, 4],
        [2, 5],
      ],
    ],
    ["permute of a scalar", () => counted().permute(), [], 0],
    ["narrow", () => counted(4).narrow(0, 1, 2), [2], [1, 2]],
    ["narrow from the end", () => counted(4).narrow(-1, -3, 2), [2], [1, 2]],
    ["narrow of nothing at the end", () => counted(4).narrow(0, 4, 0), [0], []],
    [
      "narrow of columns",
      () => counted(2, 3).narrow(1, 1, 2),
      [2, 2],
      [
        [1, 2],
        [4, 5],
      ],
    ],
    ["select", () => counted(2, 3).select(0, 1), [3], [3, 4, 5]],
    ["select from the end", () => counted(2, 3).select(-1, -1), [2], [2, 5]],
    ["select to a scalar", () => counted(3).select(0, 2), [], 2],
    [
      "expand",
      () => counted(3).expand([2, 3]),
      [2, 3],
      [
        [0, 1, 2],
        [0, 1, 2],
      ],
    ],
    [
      "expand with -1",
      () => counted(2, 1).expand(-1, 2),
      [2, 2],
      [
        [0, 0],
        [1, 1],
      ],
    ],
    ["expand to nothing", () => counted(1).expand(0), [0], []],
    [
      "views of views",
      () => counted(2, 3, 4).select(1, 2).transpose().narrow(0, 1, 2),
      [2, 2],
      [
        [9, 21],
        [10, 22],
      ],
    ],
    ["select in an empty tensor", () => zeros([5, 0]).select(0, 4), [0], []],
  ])("%s", async (_, make, shape, list) => {
    const view = make();
    expect(view.shape).toEqual(shape);
    expect(Object.isFrozen(view.shape) && Object.isFrozen(view.strides)).toBe(true);
    expect(await view.tolist()).toEqual(list);
  });

  test.each<[string, () => Tensor[], unknown[]]>([
    [
      "chunk",
      () => counted(5).chunk(2),
      [
        [0, 1, 2],
        [3, 4],
      ],
    ],
    [
      "chunk into fewer",
      () => counted(4).chunk(3),
      [
        [0, 1],
        [2, 3],
      ],
    ],
    ["chunk into more than there are", () => counted(2).chunk(5), [[0], [1]]],
    ["chunk of nothing", () => counted(0).chunk(3), [[]]],
    [
      "chunk of columns",
      () => counted(2, 4).chunk(2, -1),
      [
        [
          [0, 1],
          [4, 5],
        ],
        [
          [2, 3],
          [6, 7],
        ],
      ],
    ],
    ["split by size", () => counted(5).split(2), [[0, 1], [2, 3], [4]]],
    ["split by sizes", () => counted(5).split([1, 0, 4]), [[0], [], [1, 2, 3, 4]]],
    [
      "split of columns",
      () => counted(2, 3).split([1, 2], 1),
      [
        [[0], [3]],
        [
          [1, 2],
          [4, 5],
        ],
      ],
    ],
  ])("%s", async (_, make, lists) => {
    expect(await Promise.all(make().map((piece) => piece.tolist()))).toEqual(lists);
  });

  test("share memory", async () => {
    const x = counted(2, 3);
    x.transpose().select(0, 1).fill(7);
    expect(await x.tolist()).toEqual([
      [0, 7, 2],
      [3, 7, 5],
    ]);
  });

  test("have the address of their first element", () => {
    const x = counted(2, 3);
    expect(x.select(0, 1).pointer - x.pointer).toBe(12n);
    expect(x.narrow(1, 2, 1).offset).toBe(2);
  });

  test("isContiguous and contiguous", async () => {
    const x = counted(2, 3);
    expect([x.isContiguous(), x.transpose().isContiguous()]).toEqual([true, false]);
    const dense = x.transpose().contiguous();
    expect([dense.isContiguous(), dense.strides]).toEqual([true, [2, 1]]);
    expect(await dense.tolist()).toEqual([
      [0, 3],
      [1, 4],
      [2, 5],
    ]);
  });

  test("reshape of a view with gaps copies, of one without does not", async () => {
    const x = counted(2, 4);
    const copied = x.narrow(1, 0, 2).reshape(4);
    const shared = x.narrow(0, 1, 1).reshape(2, 2);
    x.fill(9);
    expect(await copied.tolist()).toEqual([0, 1, 4, 5]);
    expect(await shared.tolist()).toEqual([
      [9, 9],
      [9, 9],
    ]);
  });
});
