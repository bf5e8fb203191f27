import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { arange, type DType, ones, type Tensor, tensor, zeros } from "../src/index.js";

const all: [DType, unknown[]][] = [
  ["float32", [0, 1, 2]],
  ["float16", [0, 1, 2]],
  ["bfloat16", [0, 1, 2]],
  ["int32", [0, 1, 2]],
  ["int64", [0n, 1n, 2n]],
  ["uint8", [0, 1, 2]],
  ["bool", [false, true, true]],
];

const arrays = {
  float32: Float32Array,
  float16: Float32Array,
  bfloat16: Float32Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
};

describe("reading back", () => {
  test.each(all)("%s", async (dtype, items) => {
    const x = arange(3, { dtype });
    const data = await x.data();
    expect(data).toBeInstanceOf(arrays[dtype]);
    expect(Array.from<unknown>(data as never)).toEqual(dtype === "bool" ? [0, 1, 1] : items);
    expect(x.dataSync()).toEqual(data);
    expect(await x.tolist()).toEqual(items);
    expect(await x.select(0, 1).item()).toEqual(items[1]);
    expect((await x.bytes()).length).toBe(x.byteLength);
  });

  test("data is a copy, as at the call", async () => {
    const x = ones([2]);
    const first = x.data();
    x.fill(2);
    const second = await x.data();
    expect([...(await first)]).toEqual([1, 1]);
    second[0] = 9;
    expect(await x.tolist()).toEqual([2, 2]);
  });

  test("views are read in their order", async () => {
    const x = arange(6, { dtype: "bfloat16" }).view(2, 3).transpose();
    expect(await x.data()).toEqual(new Float32Array([0, 3, 1, 4, 2, 5]));
    expect(new Uint16Array((await x.bytes()).buffer)).toEqual(
      new Uint16Array([0, 0x4040, 0x3f80, 0x4080, 0x4000, 0x40a0]),
    );
    expect(await arange(4).narrow(0, 1, 2).data()).toEqual(new Float32Array([1, 2]));
  });

  test("nested lists follow the shape", async () => {
    expect(await arange(8, { dtype: "int32" }).view(2, 2, 2).tolist()).toEqual([
      [
        [0, 1],
        [2, 3],
      ],
      [
        [4, 5],
        [6, 7],
      ],
    ]);
    expect(await zeros([2, 0, 3]).tolist()).toEqual([[], []]);
    expect(await zeros([0]).tolist()).toEqual([]);
    expect(await tensor(5).tolist()).toBe(5);
  });

  test("item takes any shape of one element", async () => {
    expect(await tensor([[3]]).item()).toBe(3);
  });
});

describe("read", () => {
  test.each(all)("%s into the array of data()", async (dtype) => {
    const x = arange(3, { dtype });
    const into = new arrays[dtype](3);
    expect(await x.read(into)).toBe(into);
    expect(into).toEqual(await x.data());
  });

  test("16-bit floats into their bits", async () => {
    const bits = new Uint16Array(2);
    await tensor([1, -2], { dtype: "bfloat16" }).read(bits);
    expect([...bits]).toEqual([0x3f80, 0xc000]);
    await tensor([1, -2], { dtype: "float16" }).read(bits);
    expect([...bits]).toEqual([0x3c00, 0xc000]);
  });

  test.skipIf(!("Float16Array" in globalThis))("float16 into a Float16Array", async () => {
    const Float16 = (globalThis as never as { Float16Array: Float32ArrayConstructor }).Float16Array;
    const into = await tensor([1.5, -2], { dtype: "float16" }).read(new Float16(2));
    expect([...into]).toEqual([1.5, -2]);
  });

  test("into part of an array, and no further", async () => {
    const whole = new Float32Array(4).fill(9);
    await ones([2]).read(whole.subarray(1, 3));
    expect([...whole]).toEqual([9, 1, 1, 9]);
  });

  test("into shared memory", async () => {
    const shared = new Float32Array(new SharedArrayBuffer(8));
    await ones([2]).read(shared);
    expect([...shared]).toEqual([1, 1]);
  });

  test("of nothing", async () => {
    const into = new Float32Array(0);
    expect(await zeros([0, 2]).read(into)).toBe(into);
  });
});

function disposed(shape: number[], ...expanded: number[]): Tensor {
  const x = expanded.length === 0 ? ones(shape) : ones(shape).expand(expanded);
  x.dispose();
  return x;
}

const x = ones([2, 3]);
const half = ones([2], { dtype: "float16" });

const failures: Failure[] = [
  ["ERR_SHAPE item: expected a tensor of one element, got shape [2, 3]", () => x.item()],
  ["ERR_SHAPE item: expected a tensor of one element, got shape [0]", () => zeros([0]).item()],
  ["ERR_DISPOSED item: the tensor has been disposed", () => disposed([2]).item()],
  ["ERR_DISPOSED data: the tensor has been disposed", () => disposed([1], 2 ** 40).data()],
  ["ERR_DISPOSED tolist: the tensor has been disposed", () => disposed([1], 2 ** 40).tolist()],
  [
    "ERR_VALUE tolist: expected at most 16777216 elements and arrays in the list, " +
      "got shape [268435456, 0]",
    () => zeros([2 ** 28, 0]).tolist(),
  ],
  [
    "ERR_VALUE tolist: expected at most 16777216 elements and arrays in the list, " +
      "got shape [16777216, 1]",
    () =>
      ones([1])
        .expand(2 ** 24, 1)
        .tolist(),
  ],
  ["ERR_KIND read: expected into to be a TypedArray, got an array", () => x.read(wrong([1]))],
  [
    "ERR_KIND read: expected into to be a TypedArray, got undefined",
    () => x.read(wrong(undefined)),
  ],
  ["ERR_SHAPE read: expected into of 6 elements, got 5", () => x.read(new Float32Array(5))],
  [
    "ERR_DTYPE read: expected into to be a Float32Array for float32, got a Float64Array",
    () => x.read(new Float64Array(6)),
  ],
  [
    "ERR_DTYPE read: expected into to be a Float32Array for float32, got a Uint16Array",
    () => x.read(new Uint16Array(6)),
  ],
  [
    "ERR_DTYPE read: expected into to be a Float32Array, * for float16, got an Int16Array",
    () => half.read(new Int16Array(2)),
  ],
  [
    "ERR_SHAPE read: expected into of 6 elements, got 0",
    () => {
      const into = new Float32Array(6);
      structuredClone(into, { transfer: [into.buffer] });
      return x.read(into);
    },
  ],
  [
    "ERR_VALUE data: expected a tensor that fits in one array, got 1099511627776 elements",
    () =>
      ones([1], { dtype: "uint8" })
        .expand(2 ** 40)
        .data(),
  ],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
});

test("errors of promises are rejections", () => {
  const gone: Tensor = ones([1]);
  gone.dispose();
  const promise = gone.data();
  expect(promise).toBeInstanceOf(Promise);
  return expect(promise).rejects.toMatchObject({ code: "ERR_DISPOSED" });
});
