import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import {
  type DType,
  empty,
  emptyLike,
  full,
  isAvailable,
  ones,
  randn,
  tensor,
  zeros,
} from "../src/index.js";

const dtypes: DType[] = ["float32", "float16", "bfloat16", "int32", "int64", "uint8", "bool"];
const bytes = { float32: 4, float16: 2, bfloat16: 2, int32: 4, int64: 8, uint8: 1, bool: 1 };

describe("empty, zeros, ones, full", () => {
  test.each(dtypes)("fields of a %s tensor", (dtype) => {
    const x = empty([2, 3], { dtype });
    expect(x).toMatchObject({
      dtype,
      device: "cpu",
      shape: [2, 3],
      strides: [3, 1],
      offset: 0,
      size: 6,
      disposed: false,
    });
    expect(x.byteLength).toBe(6 * bytes[dtype]);
    expect(Object.isFrozen(x.shape) && Object.isFrozen(x.strides)).toBe(true);
  });

  test.each(dtypes)("%s is filled", async (dtype) => {
    const one = dtype === "bool" ? true : dtype === "int64" ? 1n : 1;
    const zero = dtype === "bool" ? false : dtype === "int64" ? 0n : 0;
    expect(await zeros([2], { dtype }).tolist()).toEqual([zero, zero]);
    expect(await ones([2], { dtype }).tolist()).toEqual([one, one]);
    expect(await full([2], true, { dtype }).tolist()).toEqual([one, one]);
  });

  test("full takes its dtype from the value", () => {
    expect(full([1], 1.5).dtype).toBe("float32");
    expect(full([1], 2n).dtype).toBe("int64");
    expect(full([1], false).dtype).toBe("bool");
  });

  test("full converts as to() does", async () => {
    expect(await full([], 2.9, { dtype: "int32" }).item()).toBe(2);
    expect(await full([], -2.9, { dtype: "int64" }).item()).toBe(-2n);
    expect(await full([], Number.NaN, { dtype: "int64" }).item()).toBe(0n);
    expect(await full([], -Infinity, { dtype: "int64" }).item()).toBe(-(1n << 63n));
    expect(await full([], 1n << 70n, { dtype: "int64" }).item()).toBe((1n << 63n) - 1n);
    expect(await full([], 300, { dtype: "uint8" }).item()).toBe(255);
    expect(await full([], Number.NaN, { dtype: "bool" }).item()).toBe(true);
    expect(await full([], 7n, { dtype: "float16" }).item()).toBe(7);
  });

  // Between two float32 numbers, just above the middle, by less than a float64 tells.
  const above = 2n ** 60n + 2n ** 36n + 1n;
  test.each<[string, bigint, number]>([
    ["of 61 bits", above, 2 ** 60 + 2 ** 37],
    ["of 61 bits, negative", -above, -(2 ** 60 + 2 ** 37)],
    ["of 81 bits", above << 20n, 2 ** 80 + 2 ** 57],
    ["of 81 bits, negative", -(above << 20n), -(2 ** 80 + 2 ** 57)],
    ["that is the middle", 2n ** 60n + 2n ** 36n, 2 ** 60],
    ["of 81 bits that is the middle", (2n ** 60n + 2n ** 36n) << 20n, 2 ** 80],
    ["of 70 bits", 2n ** 70n, 2 ** 70],
    ["beyond float32", 2n ** 200n, Infinity],
    ["beyond float64", -(2n ** 2000n), -Infinity],
  ])("full rounds a bigint %s once", async (_, value, rounded) => {
    expect(await full([], value, { dtype: "float32" }).item()).toBe(rounded);
    if (BigInt.asIntN(64, value) !== value) return;
    expect(await tensor(value).to("float32").item()).toBe(rounded);
  });

  test("full converts a bigint as to() does an int64", async () => {
    for (const dtype of ["int32", "uint8", "bool", "float16", "bfloat16"] as const) {
      for (const value of [300n, -1n, 2n ** 40n + 5n, 0n]) {
        const wanted = await tensor(value).to(dtype).item();
        expect(await full([], value, { dtype }).item()).toBe(wanted);
      }
    }
  });

  test("the shape is a copy", () => {
    const shape = [2, 3];
    const x = empty(shape);
    shape[0] = 9;
    expect(x.shape).toEqual([2, 3]);
  });

  test("a size of -0 is 0", () => {
    const [x] = zeros([-0, 2]).narrow(1, 0, -0).split([-0]);
    for (const size of [zeros([-0]).size, ...x!.shape, x!.size]) expect(size).toBe(0);
  });

  test.each(["shape", "strides", "dtype", "device", "offset", "size"] as const)(
    "%s cannot be set",
    (field) => {
      const x = ones([2, 3]);
      const before = x[field];
      expect(() => Object.assign(x, { [field]: 1 })).toThrow(TypeError);
      expect(x[field]).toBe(before);
      expect(() => (x.shape as number[]).push(1)).toThrow(TypeError);
    },
  );

  test("empty shapes and scalars", async () => {
    expect(zeros([]).size).toBe(1);
    expect(await zeros([]).item()).toBe(0);
    expect(zeros([2, 0, 3]).size).toBe(0);
    expect(await ones([2, 0]).tolist()).toEqual([[], []]);
  });

  test("emptyLike takes what is not given", () => {
    const x = ones([2, 3], { dtype: "bfloat16" }).transpose();
    expect(emptyLike(x)).toMatchObject({ shape: [3, 2], strides: [2, 1], dtype: "bfloat16" });
    expect(emptyLike(x, { dtype: "int32" }).dtype).toBe("int32");
  });
});

const repeated = ones([1]).expand(2 ** 50);

const failures: Failure[] = [
  ["ERR_KIND empty: expected shape to be an array of sizes, got a string", () => empty(wrong("2"))],
  ["ERR_KIND zeros: expected shape to be an array of sizes, got null", () => zeros(wrong(null))],
  [
    "ERR_KIND empty: expected shape to hold integers of at least 0, got a string",
    () => empty([2, wrong("3")]),
  ],
  ["ERR_VALUE empty: expected shape to hold integers of at least 0, got -3", () => empty([2, -3])],
  ["ERR_VALUE ones: expected shape to hold integers of at least 0, got 1.5", () => ones([1.5])],
  [
    "ERR_VALUE full: expected shape to hold integers of at least 0, got NaN",
    () => full([Number.NaN], 1),
  ],
  [
    "ERR_VALUE empty: expected shape to hold integers of at least 0, got 18014398509481984",
    () => empty([2 ** 54]),
  ],
  [
    "ERR_VALUE empty: expected a shape of at most 2^53 bytes, got [1073741824, 1073741824]",
    () => empty([2 ** 30, 2 ** 30]),
  ],
  [
    "ERR_VALUE empty: expected a shape of at most 2^53 bytes, got [4503599627370496, 0]",
    () => empty([2 ** 52, 0]),
  ],
  ["ERR_VALUE empty: cannot allocate 4503599627370496 bytes", () => empty([2 ** 50])],
  ["ERR_VALUE zeros: cannot allocate 4503599627370496 bytes", () => zeros([2 ** 50])],
  ["ERR_VALUE full: cannot allocate 4503599627370496 bytes", () => full([2 ** 50], 1)],
  ["ERR_VALUE randn: cannot allocate 4503599627370496 bytes", () => randn([2 ** 50])],
  ["ERR_VALUE clone: cannot allocate 4503599627370496 bytes", () => repeated.clone()],
  ["ERR_VALUE to: cannot allocate 9007199254740992 bytes", () => repeated.to("int64")],
  [
    "ERR_SHAPE empty: expected at most 8 dimensions, got 9",
    () => empty([1, 1, 1, 1, 1, 1, 1, 1, 1]),
  ],
  [
    "ERR_KIND empty: expected options to be an object, got a string",
    () => empty([2], wrong("float16")),
  ],
  [
    'ERR_VALUE empty: unknown option "dtyp", the nearest known is "dtype"',
    () => empty([2], wrong({ dtyp: "float16" })),
  ],
  [
    "ERR_KIND zeros: expected dtype to be a string, got a number",
    () => zeros([2], { dtype: wrong(16) }),
  ],
  [
    'ERR_DTYPE zeros: expected dtype to be float32, float16, bfloat16, * or bool, got "float64"',
    () => zeros([2], { dtype: wrong("float64") }),
  ],
  [
    "ERR_KIND ones: expected device to be a string, got a number",
    () => ones([2], { device: wrong(0) }),
  ],
  [
    'ERR_VALUE ones: expected device to be "cpu", "cuda" or "cuda:N", got "gpu"',
    () => ones([2], { device: wrong("gpu") }),
  ],
  [
    'ERR_VALUE ones: expected device to be "cpu", "cuda" or "cuda:N", got "cuda:-1"',
    () => ones([2], { device: "cuda:-1" }),
  ],
  ["ERR_DEVICE ones: cuda:999 is not available: *", () => ones([2], { device: "cuda:999" })],
  [
    "ERR_KIND full: expected value to be a number, a bigint or a boolean, got a string",
    () => full([2], wrong("1")),
  ],
  ["ERR_KIND emptyLike: expected tensor to be a Tensor, got an array", () => emptyLike(wrong([2]))],
  [
    "ERR_KIND emptyLike: expected tensor to be a Tensor, got a promise; await it first",
    () => emptyLike(wrong(Promise.resolve())),
  ],
  [
    "ERR_DISPOSED emptyLike: tensor has been disposed",
    () => {
      const x = tensor([1]);
      x.dispose();
      emptyLike(x);
    },
  ],
  [
    "ERR_DTYPE randn: expected dtype float32, float16 or bfloat16, got int32",
    () => randn([2], { dtype: wrong("int32") }),
  ],
  [
    "ERR_KIND randn: expected seed to be a number or a bigint, got a string",
    () => randn([2], { seed: wrong("1") }),
  ],
  ["ERR_VALUE randn: expected seed to be an integer, got 0.5", () => randn([2], { seed: 0.5 })],
  [
    "ERR_VALUE randn: expected seed to be an integer, got NaN",
    () => randn([2], { seed: Number.NaN }),
  ],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
  expect(await ones([1]).item()).toBe(1);
});

test.skipIf(isAvailable("cuda"))("cuda without a GPU is an error that says why", async () => {
  await expectFailure("ERR_DEVICE zeros: cuda:0 is not available: *", () =>
    zeros([2], { device: "cuda" }),
  );
});
