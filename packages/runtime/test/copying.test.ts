import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { arange, ones, tensor, zeros } from "../src/index.js";

describe("copyFrom", () => {
  test("returns the tensor itself", () => {
    const x = zeros([2]);
    expect(x.copyFrom(ones([2]))).toBe(x);
    expect(x.fill(3)).toBe(x);
  });

  test("broadcasts", async () => {
    const x = zeros([2, 3]).copyFrom(tensor([1, 2, 3]));
    expect(await x.tolist()).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
    expect(await x.copyFrom(tensor(7)).tolist()).toEqual([
      [7, 7, 7],
      [7, 7, 7],
    ]);
  });

  test("converts", async () => {
    const x = zeros([2], { dtype: "int64" }).copyFrom(tensor([1.5, -1.5]));
    expect(await x.tolist()).toEqual([1n, -1n]);
  });

  test("writes into views and no further", async () => {
    const x = zeros([2, 3]);
    x.select(1, 1).copyFrom(tensor([1, 2]));
    x.transpose().select(0, 0).fill(5);
    expect(await x.tolist()).toEqual([
      [5, 1, 0],
      [5, 2, 0],
    ]);
  });

  test.each<[string, () => Promise<unknown>, unknown]>([
    ["itself", () => arange(4).copyFrom(arange(4)).tolist(), [0, 1, 2, 3]],
    [
      "the same view",
      () => {
        const x = arange(4);
        return x.copyFrom(x.view(4)).tolist();
      },
      [0, 1, 2, 3],
    ],
    [
      "one ahead",
      () => {
        const x = arange(5);
        x.narrow(0, 1, 4).copyFrom(x.narrow(0, 0, 4));
        return x.tolist();
      },
      [0, 0, 1, 2, 3],
    ],
    [
      "one behind",
      () => {
        const x = arange(5);
        x.narrow(0, 0, 4).copyFrom(x.narrow(0, 1, 4));
        return x.tolist();
      },
      [1, 2, 3, 4, 4],
    ],
    [
      "its transpose",
      () => {
        const x = arange(4).view(2, 2);
        return x.copyFrom(x.transpose()).tolist();
      },
      [
        [0, 2],
        [1, 3],
      ],
    ],
    [
      "one of its own rows",
      () => {
        const x = arange(4).view(2, 2);
        return x.copyFrom(x.select(0, 1)).tolist();
      },
      [
        [2, 3],
        [2, 3],
      ],
    ],
    [
      "its other half",
      () => {
        const x = arange(4).view(2, 2);
        x.select(1, 0).copyFrom(x.select(1, 1));
        return x.tolist();
      },
      [
        [1, 1],
        [3, 3],
      ],
    ],
    [
      "nothing into nothing",
      () =>
        zeros([0, 2])
          .copyFrom(zeros([2]))
          .tolist(),
      [],
    ],
  ])("from %s", async (_, call, wanted) => {
    expect(await call()).toEqual(wanted);
  });
});

test("what is empty may be written to, whatever its strides", () => {
  const x = zeros([0]).expand(5, 0);
  expect(x.strides[0]).toBe(0);
  expect(x.fill(1)).toBe(x);
  expect(x.copyFrom(zeros([5, 0]))).toBe(x);
});

describe("fill", () => {
  test.each<[string, Parameters<typeof ones>[1], number | bigint | boolean, unknown]>([
    ["a number", {}, 1.5, 1.5],
    ["a bigint", {}, 3n, 3],
    ["a boolean", { dtype: "int32" }, true, 1],
    ["a number as int64", { dtype: "int64" }, 2 ** 60, 2n ** 60n],
    ["a fraction as int64", { dtype: "int64" }, -1.5, -1n],
    ["NaN", { dtype: "int32" }, Number.NaN, 0],
    ["a rounded number", { dtype: "bfloat16" }, 1 + 2 ** -8 + 2 ** -40, 1 + 2 ** -7],
  ])("with %s", async (_, options, value, item) => {
    expect(await ones([1], options).fill(value).item()).toBe(item);
  });
});

const x = ones([2, 3]);

const failures: Failure[] = [
  ["ERR_KIND copyFrom: expected source to be a Tensor, got an array", () => x.copyFrom(wrong([1]))],
  [
    "ERR_KIND copyFrom: expected source to be a Tensor, got undefined",
    () => x.copyFrom(wrong(undefined)),
  ],
  [
    "ERR_KIND copyFrom: expected source to be a Tensor, got a promise; await it first",
    () => x.copyFrom(wrong(x.data())),
  ],
  [
    "ERR_DISPOSED copyFrom: source has been disposed",
    () => {
      const gone = ones([1]);
      gone.dispose();
      x.copyFrom(gone);
    },
  ],
  [
    "ERR_SHAPE copyFrom: expected source of a shape that broadcasts to [2, 3], got [2]",
    () => x.copyFrom(ones([2])),
  ],
  [
    "ERR_SHAPE copyFrom: expected source of a shape that broadcasts to [2, 3], got [1, 2, 3]",
    () => x.copyFrom(ones([1, 2, 3])),
  ],
  [
    "ERR_OVERLAP copyFrom: expected the tensor to have no stride of 0, got strides [0, 1]",
    () => ones([3]).expand(2, 3).copyFrom(x),
  ],
  [
    "ERR_OVERLAP fill: expected the tensor to have no stride of 0, got strides [0, 1]",
    () => ones([3]).expand(2, 3).fill(1),
  ],
  [
    "ERR_KIND fill: expected value to be a number, a bigint or a boolean, got a string",
    () => x.fill(wrong("1")),
  ],
  [
    "ERR_KIND fill: expected value to be a number, a bigint or a boolean, got undefined",
    () => x.fill(wrong(undefined)),
  ],
  [
    "ERR_KIND to: expected a device, a dtype or options, got undefined",
    () => x.to(wrong(undefined)),
  ],
  ["ERR_KIND to: expected a device, a dtype or options, got a Tensor", () => x.to(wrong(x))],
  ['ERR_VALUE to: expected a device or a dtype, got "float64"', () => x.to(wrong("float64"))],
  [
    'ERR_VALUE to: expected device to be "cpu", "cuda" or "cuda:N", got "cuda:x"',
    () => x.to(wrong("cuda:x")),
  ],
  ["ERR_DEVICE to: cuda:999 is not available: *", () => x.to("cuda:999")],
  [
    'ERR_DTYPE to: expected dtype to be float32, * or bool, got "half"',
    () => x.to({ dtype: wrong("half") }),
  ],
  [
    'ERR_VALUE to: unknown option "copy", the nearest known is *',
    () => x.to(wrong({ copy: true })),
  ],
  [
    "ERR_KIND to: expected stream to be a CudaStream, got an object",
    () => x.to({ stream: wrong({}) }),
  ],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
});
