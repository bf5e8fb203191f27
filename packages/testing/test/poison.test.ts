import { type DType, randn, zeros } from "@warpwright/runtime";
import { describe, expect, test } from "vitest";

import { testDevices } from "../src/cuda.js";
import { poisoned, poisonedLike, withCanaries } from "../src/poison.js";

const dtypes: DType[] = ["float32", "float16", "bfloat16", "int32", "int64", "uint8", "bool"];

describe.each(testDevices())("poison on %s", (device) => {
  test.each(["float32", "float16", "bfloat16"] as const)("%s is NaN", (dtype) => {
    const x = poisoned([2, 3], { dtype, device });
    expect([x.shape, x.dtype]).toEqual([[2, 3], dtype]);
    expect([...x.dataSync()]).toEqual(new Array(6).fill(NaN));
  });

  test.each([
    ["int32", -1515870811],
    ["int64", -6510615555426900571n],
    ["uint8", 0xa5],
  ] as const)("%s is %d", (dtype, value) => {
    expect([...poisoned([2], { dtype, device }).dataSync()]).toEqual([value, value]);
  });

  test("poisonedLike is contiguous", () => {
    const x = randn([3, 5], { seed: 1, dtype: "bfloat16", device }).transpose(0, 1);
    const out = poisonedLike(x);
    expect([out.shape, out.strides, out.dtype]).toEqual([[5, 3], [3, 1], "bfloat16"]);
    expect(out.device).toBe(x.device);
  });

  test("no elements", () => {
    expect(poisoned([0, 4], { device }).size).toBe(0);
  });
});

describe.each(testDevices())("canaries on %s", (device) => {
  test.each(dtypes)("%s: a tensor may be written all over", async (dtype) => {
    const { tensor, check, dispose } = withCanaries([3, 5], { dtype, device, rowGuard: 2 });
    expect([tensor.shape, tensor.strides, tensor.dtype]).toEqual([[3, 5], [7, 1], dtype]);
    await check();
    tensor.fill(1);
    await check();
    expect([...tensor.dataSync()].map(Number)).toEqual(new Array(15).fill(1));
    dispose();
    expect(tensor.disposed).toBe(true);
  });

  test("without a gap between rows the tensor is contiguous", () => {
    const { tensor } = withCanaries([2, 3, 5], { dtype: "float16", device });
    expect(tensor.isContiguous()).toBe(true);
    expect([...tensor.dataSync()]).toEqual(new Array(30).fill(NaN));
  });

  // 1024 bytes are 512 bfloat16; rows of 5 with a guard of 2: rows start at 512, 519 and 526.
  test.each([
    ["just before", 511, "guard element 1 before the tensor"],
    ["at the buffer's start", 0, "guard element 512 before the tensor"],
    ["just after the first row", 517, "guard element 1 after row 0"],
    ["before the second row", 518, "guard element 2 after row 0"],
    ["after the last row", 531, "guard element 1 after row 2"],
    ["just after", 533, "guard element 1 after the tensor"],
    ["at the buffer's end", 1044, "guard element 512 after the tensor"],
  ])("one element %s is caught", async (_, element, place) => {
    const guarded = withCanaries([3, 5], { dtype: "bfloat16", device, rowGuard: 2 });
    expect(guarded.buffer.size).toBe(1045);
    guarded.buffer.narrow(0, element, 1).fill(1);
    await expect(guarded.check()).rejects.toMatchObject({
      name: "AssertionError",
      message: `canary: ${place} was overwritten: 0x3f80, was 0x7fda`,
    });
  });

  test.each(dtypes)("%s: one element after is caught", async (dtype) => {
    const { buffer, check } = withCanaries([4], { dtype, device });
    buffer.narrow(0, buffer.size / 2 + 2, 1).fill(0);
    await expect(check()).rejects.toThrow("canary: guard element 1 after the tensor");
  });

  test.each(["float32", "float16", "bfloat16"] as const)(
    "%s: NaN written over a guard is caught",
    async (dtype) => {
      const { buffer, check } = withCanaries([4], { dtype, device });
      buffer.narrow(0, 0, 1).fill(NaN);
      await expect(check()).rejects.toThrow("canary: guard element");
    },
  );

  test("misalign moves the start by elements", () => {
    const even = withCanaries([4, 8], { dtype: "float16", device });
    const odd = withCanaries([4, 8], { dtype: "float16", device, misalign: 3 });
    expect(even.tensor.pointer % 16n).toBe(0n);
    expect(odd.tensor.pointer % 16n).toBe(6n);
  });

  test.each([
    ["a scalar", [], 1],
    ["no rows", [0, 5], 0],
    ["empty rows", [5, 0], 0],
  ])("%s", async (_, shape, size) => {
    const { tensor, check } = withCanaries(shape, { device, rowGuard: 1 });
    expect([tensor.shape, tensor.size]).toEqual([shape, size]);
    tensor.copyFrom(zeros(shape, { device }));
    await check();
  });

  test.each([{ rowGuard: -1 }, { rowGuard: 0.5 }, { misalign: -1 }])("%o is refused", (options) => {
    const [[name, value]] = Object.entries(options) as [[string, number]];
    expect(() => withCanaries([2], options)).toThrow(
      expect.objectContaining({
        code: "ERR_VALUE",
        message: `testing: expected ${name} to be an integer of at least 0, got ${value}`,
      }),
    );
  });
});
