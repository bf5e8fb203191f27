import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { type DType, fromBytes, tensor } from "../src/index.js";

describe("tensor", () => {
  test.each<[string, unknown, DType, number[], unknown]>([
    ["a number", 1.5, "float32", [], 1.5],
    ["a boolean", true, "bool", [], true],
    ["a bigint", -3n, "int64", [], -3n],
    ["numbers", [1, 2], "float32", [2], [1, 2]],
    [
      "nested numbers",
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      "float32",
      [2, 3],
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    ],
    ["booleans", [[true], [false]], "bool", [2, 1], [[true], [false]]],
    ["bigints", [2n ** 62n, -1n], "int64", [2], [2n ** 62n, -1n]],
    ["nothing", [], "float32", [0], []],
    ["nested nothing", [[], []], "float32", [2, 0], [[], []]],
    ["a Float32Array", new Float32Array([0.1]), "float32", [1], [Math.fround(0.1)]],
    ["a Float64Array", new Float64Array([0.1]), "float32", [1], [Math.fround(0.1)]],
    ["an Int8Array", new Int8Array([-1]), "int32", [1], [-1]],
    ["an Int16Array", new Int16Array([-300]), "int32", [1], [-300]],
    ["an Int32Array", new Int32Array([-70000]), "int32", [1], [-70000]],
    ["a Uint8Array", new Uint8Array([200]), "uint8", [1], [200]],
    ["a Buffer", Buffer.from([1, 2]), "uint8", [2], [1, 2]],
    ["a Uint8ClampedArray", new Uint8ClampedArray([200]), "uint8", [1], [200]],
    ["a Uint16Array", new Uint16Array([65535]), "int32", [1], [65535]],
    ["a Uint32Array", new Uint32Array([2 ** 32 - 1]), "int64", [1], [2n ** 32n - 1n]],
    ["a BigInt64Array", new BigInt64Array([-5n]), "int64", [1], [-5n]],
    ["a BigUint64Array", new BigUint64Array([5n]), "int64", [1], [5n]],
    ["an array of another realm", runInNewContext("[1, 2]"), "float32", [2], [1, 2]],
    ["a TypedArray of another realm", runInNewContext("new Int32Array(2)"), "int32", [2], [0, 0]],
    ["a frozen array", Object.freeze([1, 2]), "float32", [2], [1, 2]],
  ])("of %s", async (_, data, dtype, shape, list) => {
    const x = tensor(data as number[]);
    expect([x.dtype, x.shape]).toEqual([dtype, shape]);
    expect(await x.tolist()).toEqual(list);
  });

  test("reads a view where it starts", async () => {
    const array = new Float32Array([1, 2, 3, 4]);
    expect(await tensor(array.subarray(1, 3)).tolist()).toEqual([2, 3]);
  });

  test("copies", async () => {
    const array = new Float32Array([1, 2]);
    const x = tensor(array);
    array[0] = 9;
    expect(await x.tolist()).toEqual([1, 2]);
  });

  test("takes a shape", async () => {
    const x = tensor([1, 2, 3, 4, 5, 6], { shape: [3, 2], dtype: "int32" });
    expect(await x.tolist()).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    expect(tensor([5], { shape: [] }).shape).toEqual([]);
  });

  test("converts numbers of every kind", async () => {
    expect(await tensor([1.9, -1.9], { dtype: "int32" }).tolist()).toEqual([1, -1]);
    expect(await tensor([0, 2], { dtype: "bool" }).tolist()).toEqual([false, true]);
    expect(await tensor([1n, 0n], { dtype: "bool" }).tolist()).toEqual([true, false]);
    expect(await tensor([true, false], { dtype: "float16" }).tolist()).toEqual([1, 0]);
    expect(await tensor([2 ** 40], { dtype: "int64" }).tolist()).toEqual([2n ** 40n]);
    expect(await tensor(new Uint8Array([2]), { dtype: "bool" }).bytes()).toEqual(
      new Uint8Array([1]),
    );
  });

  test("a Uint16Array for a 16-bit float holds bits", async () => {
    const bits = new Uint16Array([0x3f80, 0x3c00]);
    expect((await tensor(bits, { dtype: "bfloat16" }).tolist()) as number[]).toEqual([
      1, 0.0078125,
    ]);
    expect(((await tensor(bits, { dtype: "float16" }).tolist()) as number[])[1]).toBe(1);
    expect(await tensor(bits, { dtype: "float32" }).tolist()).toEqual([0x3f80, 0x3c00]);
  });

  test("float64 rounds to 16 bits once", async () => {
    // Just above the middle of two: by way of float32 it becomes the middle, and rounds down.
    const above = 1 + 2 ** -9 + 2 ** -40;
    expect(await tensor([above], { dtype: "bfloat16", shape: [] }).item()).toBe(1);
    const half = 1 + 2 ** -8 + 2 ** -40;
    expect(await tensor([half], { dtype: "bfloat16", shape: [] }).item()).toBe(1 + 2 ** -7);
    expect(await tensor([1 + 2 ** -11 + 2 ** -40], { dtype: "float16", shape: [] }).item()).toBe(
      1 + 2 ** -10,
    );
  });

  test("a shared buffer is copied", async () => {
    const shared = new Float32Array(new SharedArrayBuffer(8));
    shared.set([1, 2]);
    expect(await tensor(shared).tolist()).toEqual([1, 2]);
    expect(await tensor(shared, { dtype: "int32" }).tolist()).toEqual([1, 2]);
  });

  test("a resizable buffer is read as it is", async () => {
    const Resizable = ArrayBuffer as unknown as new (
      n: number,
      o: object,
    ) => ArrayBuffer & {
      resize(n: number): void;
    };
    const buffer = new Resizable(8, { maxByteLength: 16 });
    const array = new Float32Array(buffer);
    array.set([1, 2]);
    expect(await tensor(array).tolist()).toEqual([1, 2]);
    buffer.resize(12);
    expect(await tensor(array).tolist()).toEqual([1, 2, 0]);
  });

  test.skipIf(!("Float16Array" in globalThis))("a Float16Array is float16", async () => {
    const Float16 = (globalThis as never as { Float16Array: Float32ArrayConstructor }).Float16Array;
    const x = tensor(new Float16([1.5]));
    expect([x.dtype, await x.tolist()]).toEqual(["float16", [1.5]]);
  });

  test("deep nesting is quick enough for real data", async () => {
    const rows = Array.from({ length: 1000 }, (_, i) => new Array<number>(1000).fill(i));
    const x = tensor(rows);
    expect(x.shape).toEqual([1000, 1000]);
    expect(await x.select(0, 999).select(0, 5).item()).toBe(999);
  });
});

describe("fromBytes", () => {
  test("takes bits as they are", async () => {
    const bytes = new Uint8Array([0, 0, 0xc0, 0x7f, 1, 0, 0xc0, 0xff]);
    const x = fromBytes(bytes, { shape: [2], dtype: "float32" });
    expect(await x.bytes()).toEqual(bytes);
    bytes.fill(0);
    expect((await x.bytes())[3]).toBe(0x7f);
  });

  test("takes any offset", async () => {
    const bytes = new Uint8Array([9, 1, 0, 0, 0]).subarray(1);
    expect(await fromBytes(bytes, { shape: [], dtype: "int32" }).item()).toBe(1);
  });

  test("takes nothing", () => {
    expect(fromBytes(new Uint8Array(0), { shape: [0, 3], dtype: "int64" }).size).toBe(0);
  });
});

const detached = new Float32Array(4);
structuredClone(detached, { transfer: [detached.buffer] });
const bytesOf = (n: number): Uint8Array => new Uint8Array(n);

const failures: Failure[] = [
  [
    "ERR_KIND tensor: expected data to be an array or a TypedArray, got a string",
    () => tensor(wrong("1")),
  ],
  [
    "ERR_KIND tensor: expected data to be an array or a TypedArray, got undefined",
    () => tensor(wrong(undefined)),
  ],
  [
    "ERR_KIND tensor: expected data to be an array or a TypedArray, got a promise",
    () => tensor(wrong(Promise.resolve([1]))),
  ],
  [
    "ERR_KIND tensor: expected data to be an array or a TypedArray, got a DataView",
    () => tensor(wrong(new DataView(new ArrayBuffer(4)))),
  ],
  [
    "ERR_KIND tensor: expected data to be an array or a TypedArray, got a Tensor",
    () => tensor(wrong(tensor([1]))),
  ],
  [
    "ERR_SHAPE tensor: expected data[1] to be an array of 2, got one of 1",
    () => tensor([[1, 2], [3]]),
  ],
  [
    "ERR_SHAPE tensor: expected data[1] to be an array of 1, got a number",
    () => tensor(wrong([[1], 2])),
  ],
  [
    "ERR_SHAPE tensor: expected data[1] to be a number, got an array",
    () => tensor(wrong([1, [2]])),
  ],
  ["ERR_KIND tensor: expected data[0][1] to be a number, got a boolean", () => tensor([[1, true]])],
  [
    "ERR_KIND tensor: expected data[1] to be a number, got undefined",
    () => tensor(wrong([1, undefined])),
  ],
  ["ERR_KIND tensor: expected data[0] to be a number, got a string", () => tensor(wrong(["1"]))],
  [
    "ERR_KIND tensor: expected data[0] to be a number, got a Float32Array",
    () => tensor(wrong([new Float32Array(2)])),
  ],
  [
    "ERR_VALUE tensor: expected data to hold 64-bit signed integers, got 9223372036854775808n",
    () => tensor([2n ** 63n]),
  ],
  [
    "ERR_VALUE tensor: expected data to hold 64-bit signed integers, got 9223372036854775808n",
    () => tensor(new BigUint64Array([2n ** 63n])),
  ],
  [
    "ERR_VALUE tensor: expected data to have its memory, got a detached Float32Array",
    () => tensor(detached),
  ],
  [
    "ERR_SHAPE tensor: expected a shape of 3 elements, got [2]",
    () => tensor([1, 2, 3], { shape: [2] }),
  ],
  [
    "ERR_SHAPE tensor: expected at most 8 dimensions, got 9",
    () => tensor([[[[[[[[[1]]]]]]]]] as never),
  ],
  [
    "ERR_SHAPE tensor: expected data nested at most 8 deep",
    () => {
      const loop: unknown[] = [];
      loop.push(loop);
      tensor(wrong(loop));
    },
  ],
  [
    'ERR_VALUE tensor: unknown option "requiresGrad", the nearest known is *',
    () => tensor([1], wrong({ requiresGrad: true })),
  ],
  [
    "ERR_KIND tensor: expected shape to be an array of sizes, got a string",
    () => tensor([1], { shape: wrong("1") }),
  ],
  [
    'ERR_DTYPE tensor: expected dtype to be float32, * or bool, got "half"',
    () => tensor([1], { dtype: wrong("half") }),
  ],
  [
    "ERR_KIND fromBytes: expected bytes to be a Uint8Array, got a Float32Array",
    () => fromBytes(wrong(new Float32Array(1)), { shape: [1], dtype: "uint8" }),
  ],
  [
    "ERR_KIND fromBytes: expected options to be an object, got undefined",
    () => fromBytes(bytesOf(1), wrong(undefined)),
  ],
  [
    "ERR_KIND fromBytes: expected dtype to be a string, got undefined",
    () => fromBytes(bytesOf(1), wrong({ shape: [1] })),
  ],
  [
    "ERR_KIND fromBytes: expected shape to be an array of sizes, got undefined",
    () => fromBytes(bytesOf(1), wrong({ dtype: "uint8" })),
  ],
  [
    "ERR_SHAPE fromBytes: expected 8 bytes for shape [2] of float32, got 7",
    () => fromBytes(bytesOf(7), { shape: [2], dtype: "float32" }),
  ],
  [
    "ERR_VALUE fromBytes: expected bytes to have their memory, got a detached Uint8Array",
    () => {
      const bytes = bytesOf(4);
      structuredClone(bytes, { transfer: [bytes.buffer as ArrayBuffer] });
      fromBytes(bytes, { shape: [0], dtype: "uint8" });
    },
  ],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
});
