import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import {
  arange,
  CudaStream,
  cat,
  type DType,
  empty,
  explain,
  fromBytes,
  full,
  isAvailable,
  ones,
  stack,
  type Tensor,
  tensor,
  zeros,
} from "../src/index.js";
import { streamFor } from "../src/kernel/index.js";

const device = "cuda:0";
const missing = isAvailable("cuda") ? "" : `: skipped, ${explain()}`;
const dtypes: DType[] = ["float32", "float16", "bfloat16", "int32", "int64", "uint8", "bool"];

// Values that conversions between all dtypes treat differently.
const values = [
  0,
  1,
  -1,
  1.5,
  -2.5,
  255.5,
  300,
  65504,
  65520,
  3e9,
  -3e9,
  1e20,
  1e-8,
  NaN,
  Infinity,
  -Infinity,
  1 + 2 ** -9,
  1 + 2 ** -11,
];

async function expectSame(found: Tensor, wanted: Tensor): Promise<void> {
  expect([found.dtype, found.shape]).toEqual([wanted.dtype, wanted.shape]);
  // Compared as numbers where NaN has many patterns.
  expect(await found.data()).toEqual(await wanted.data());
}

describe.skipIf(!isAvailable("cuda"))(`cuda${missing}`, () => {
  describe("tensors", () => {
    test.each(dtypes)("%s goes there and back", async (dtype) => {
      const x = arange(24, { dtype }).view(2, 3, 4);
      const there = x.to(device);
      expect([there.device, there.dtype, there.shape]).toEqual([device, dtype, [2, 3, 4]]);
      expect(await there.bytes()).toEqual(await x.bytes());
      expect(await there.to("cpu").bytes()).toEqual(await x.bytes());
      expect(there.dataSync()).toEqual(x.dataSync());
    });

    test.each(dtypes)("%s is made there", async (dtype) => {
      const options = { dtype, device } as const;
      await expectSame(zeros([3], options), zeros([3], { dtype }));
      await expectSame(ones([3], options), ones([3], { dtype }));
      await expectSame(full([3], 5, options), full([3], 5, { dtype }));
      await expectSame(arange(5, options), arange(5, { dtype }));
      await expectSame(tensor([1, 2, 3], options), tensor([1, 2, 3], { dtype }));
      expect(empty([2, 3], options)).toMatchObject({ dtype, device, shape: [2, 3] });
    });

    test("fromBytes gives what it gives on the CPU", async () => {
      const bytes = new Uint8Array([0, 0, 0xc0, 0x7f]);
      const nan = fromBytes(bytes, { shape: [1], dtype: "float32", device });
      expect(await nan.bytes()).toEqual(bytes);
    });

    test("empty tensors and scalars go through everything", async () => {
      const none = zeros([0, 3], { device });
      expect(await none.to("float16").to("cpu").tolist()).toEqual([]);
      expect(await none.data()).toEqual(new Float32Array(0));
      expect(await cat([none, ones([1, 3], { device })]).tolist()).toEqual([[1, 1, 1]]);
      expect(await tensor(3, { device }).item()).toBe(3);
    });

    test("views share memory, and have the device's addresses", async () => {
      const x = zeros([2, 3], { device });
      x.transpose().select(0, 1).fill(7);
      expect(await x.tolist()).toEqual([
        [0, 7, 0],
        [0, 7, 0],
      ]);
      expect(x.select(0, 1).pointer - x.pointer).toBe(12n);
    });
  });

  describe("conversions and strided copies equal the CPU's", () => {
    const pairs = dtypes.flatMap((from) => dtypes.map((to) => [from, to] as const));
    test.each(pairs)("%s to %s", async (from, to) => {
      const x = tensor(values, { dtype: from });
      await expectSame(x.to(device).to(to), x.to(to));
    });

    test("both 16-bit floats, all patterns", async () => {
      const bits = Uint16Array.from({ length: 65536 }, (_, i) => i);
      for (const dtype of ["float16", "bfloat16"] as const) {
        const x = tensor(bits, { dtype });
        await expectSame(x.to(device), x);
        for (const to of dtypes) await expectSame(x.to(device).to(to), x.to(to));
      }
    });

    const views: [string, (x: Tensor) => Tensor][] = [
      ["transposed", (x) => x.transpose()],
      ["permuted", (x) => x.permute(2, 0, 1)],
      ["narrowed", (x) => x.narrow(2, 3, 5).narrow(1, 1, 2)],
      ["selected", (x) => x.select(1, 2)],
      ["a column", (x) => x.narrow(2, 4, 1)],
      ["expanded", (x) => x.narrow(0, 1, 1).expand(5, 4, 33)],
      ["chunked", (x) => x.chunk(2, -1)[1]!],
    ];
    const both = views.flatMap((view) => dtypes.map((dtype) => [...view, dtype] as const));
    test.each(both)("%s, %o, %s", async (_, view, dtype) => {
      const x = arange(3 * 4 * 33, { dtype }).view(3, 4, 33);
      await expectSame(view(x.to(device)).contiguous(), view(x).contiguous());
      await expectSame(view(x.to(device)).to("float32"), view(x).to("float32"));
      await expectSame(view(x.to(device)).to("cpu"), view(x).contiguous());
      await expectSame(view(x).to(device), view(x).contiguous());
    });

    test("cat, stack and copyFrom", async () => {
      const x = arange(12).view(3, 4);
      const there = x.to(device);
      await expectSame(cat([there, there.narrow(0, 1, 1)]), cat([x, x.narrow(0, 1, 1)]));
      await expectSame(stack([there.transpose()], -1), stack([x.transpose()], -1));
      const into = zeros([2, 3, 4], { dtype: "bfloat16" });
      await expectSame(into.to(device).copyFrom(there), into.copyFrom(x));
    });

    test("copyFrom crosses devices, broadcasts and converts", async () => {
      const there = zeros([2, 3], { dtype: "int32", device });
      there.copyFrom(tensor([1.5, 2.5, 3.5]));
      expect(await there.tolist()).toEqual([
        [1, 2, 3],
        [1, 2, 3],
      ]);
      const here = zeros([3, 2]).copyFrom(there.transpose());
      expect(await here.tolist()).toEqual([
        [1, 1],
        [2, 2],
        [3, 3],
      ]);
      const rows = zeros([2, 3]);
      rows.select(0, 1).copyFrom(there.select(0, 0));
      expect(await rows.tolist()).toEqual([
        [0, 0, 0],
        [1, 2, 3],
      ]);
    });

    test("copyFrom of an overlapping view", async () => {
      const x = arange(1000, { device });
      x.narrow(0, 1, 999).copyFrom(x.narrow(0, 0, 999));
      const data = await x.data();
      expect([data[0], data[1], data[2], data[999]]).toEqual([0, 0, 1, 998]);
    });
  });
});

const secondIsThere = isAvailable("cuda:1");

describe.skipIf(!secondIsThere)("two GPUs", () => {
  test("copies between them are ordered behind the source's work", async () => {
    const x = full([isEmulated ? 2 ** 20 : 2 ** 24], 1, { device });
    for (let i = 2; i <= 5; i++) x.fill(i);
    const there = x.to("cuda:1");
    x.fill(9);
    expect(there.device).toBe("cuda:1");
    expect((await there.data()).every((value) => value === 5)).toBe(true);
    const back = there.to({ device, dtype: "bfloat16" });
    expect((await back.data()).every((value) => value === 5)).toBe(true);
  });

  test("a stream of one is refused by the other", () => {
    using stream = new CudaStream({ device: "cuda:1" });
    expect(() => streamFor("op", device, stream)).toThrow(
      "op: expected a stream of cuda:0, got one of cuda:1",
    );
  });
});
