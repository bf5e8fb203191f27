// Reading back from CUDA tensors, and streams.
import { spawnSync } from "node:child_process";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import {
  arange,
  CudaStream,
  devices,
  empty,
  explain,
  full,
  isAvailable,
  ones,
  randn,
  type Tensor,
} from "../src/index.js";
import { streamFor } from "../src/kernel/index.js";

const device = "cuda:0";
const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const missing = isAvailable("cuda") ? "" : `: skipped, ${explain()}`;

/** To the bit; arrays of millions would take toEqual half a minute. */
async function expectSame(found: Tensor, wanted: Tensor): Promise<void> {
  expect([found.dtype, found.shape]).toEqual([wanted.dtype, wanted.shape]);
  expect(Buffer.compare(await found.bytes(), await wanted.bytes())).toBe(0);
}

describe.skipIf(!isAvailable("cuda"))(`cuda${missing}`, () => {
  describe("reading back", () => {
    test("is as at the call, whatever is enqueued later", async () => {
      for (const count of [1000, 3 * 2 ** 20]) {
        const x = full([count], 1, { device });
        const before = x.data();
        x.fill(2);
        const after = x.data();
        x.fill(3);
        expect((await before).every((value) => value === 1)).toBe(true);
        expect((await after).every((value) => value === 2)).toBe(true);
      }
    });

    test("outlives dispose", async () => {
      for (const dtype of ["float32", "bfloat16"] as const) {
        const x = full([2 ** 21], 1, { dtype, device });
        const data = x.data();
        x.dispose();
        for (let i = 0; i < 8; i++) full([2 ** 21], 9, { dtype, device }).dispose();
        expect((await data).every((value) => value === 1)).toBe(true);
      }
    });

    test("of more than 4 MiB is whole", async () => {
      const count = 5 * 2 ** 20 + 3;
      const x = arange(count, { dtype: "int32" });
      const there = x.to(device);
      await expectSame(there, x);
      expect(await there.narrow(0, count - 3, 3).tolist()).toEqual([
        count - 3,
        count - 2,
        count - 1,
      ]);
      const [data, wanted] = [there, x].map((each) => each.dataSync() as Int32Array);
      expect(data!.every((value, i) => value === wanted![i])).toBe(true);
    });

    test("into a caller's array", async () => {
      const x = arange(3, { dtype: "bfloat16", device });
      expect(await x.read(new Float32Array(3))).toEqual(new Float32Array([0, 1, 2]));
      expect(await x.read(new Uint16Array(3))).toEqual(new Uint16Array([0, 0x3f80, 0x4000]));
      const shared = new Float32Array(new SharedArrayBuffer(12));
      expect([...(await x.read(shared))]).toEqual([0, 1, 2]);
    });

    test("into an array that is detached meanwhile is ERR_VALUE", async () => {
      const into = new Float32Array(2 ** 21);
      const reading = ones([2 ** 21], { device }).read(into);
      structuredClone(into, { transfer: [into.buffer] });
      await expect(reading).rejects.toMatchObject({ code: "ERR_VALUE" });
      expect(await ones([1], { device }).item()).toBe(1);
    });

    test("many at once", async () => {
      const x = Array.from({ length: 200 }, (_, i) => full([100], i, { device }));
      const data = await Promise.all(x.map((each) => each.data()));
      expect(data.map((each) => each[99])).toEqual(x.map((_, i) => i));
    });
  });

  describe("CudaStream", () => {
    test("is created, has a handle, and synchronizes", async () => {
      const stream = new CudaStream({ device, priority: -1 });
      expect([stream.device, stream.handle > 0n, stream.disposed]).toEqual([device, true, false]);
      await stream.synchronize();
      stream.synchronizeSync();
      stream.dispose();
      stream.dispose();
      expect(stream.disposed).toBe(true);
    });

    test("is the same by default, and cannot be disposed", async () => {
      const stream = CudaStream.default("cuda");
      expect(CudaStream.default(device)).toBe(stream);
      expect(stream.handle).not.toBe(0n);
      stream.dispose();
      expect(stream.disposed).toBe(false);
      await stream.synchronize();
    });

    test("wraps the stream of another library", async () => {
      const owner = new CudaStream({ device });
      const wrapped = CudaStream.fromHandle(owner.handle, { device });
      expect(wrapped.handle).toBe(owner.handle);
      await wrapped.synchronize();
      wrapped.dispose();
      await owner.synchronize();
      owner.dispose();
    });

    test("runs copies given to it", async () => {
      using stream = new CudaStream({ device });
      const x = randn([2 ** 20], { seed: 1 });
      const there = x.to({ device, dtype: "bfloat16", stream });
      await stream.synchronize();
      const back = there.to({ device: "cpu", stream });
      await expectSame(back, x.to("bfloat16"));
    });

    test("may be disposed while its work is pending", async () => {
      const x = randn([2 ** 22], { seed: 2 });
      const stream = new CudaStream({ device });
      const there = x.to({ device, stream });
      const pending = stream.synchronize();
      stream.dispose();
      await pending;
      await expectSame(there, x);
    });

    test("streamFor gives the current one, or the given", () => {
      using stream = new CudaStream({ device });
      expect(streamFor("op", device)).toBe(streamFor("op", device, CudaStream.default(device)));
      expect(streamFor("op", device, stream)).not.toBe(streamFor("op", device));
    });
  });

  test.each([
    ["process.exit", "process.exit(7)", 7],
    ["an uncaught exception", "throw new Error('on purpose')", 1],
    ["the end of the program", "", 0],
  ])("%s while reads are pending ends with its own code", (_, end, code) => {
    const program = `
      import { ones } from "@warpwright/runtime";
      const x = ones([${isEmulated ? 2 ** 21 : 2 ** 24}], { device: "cuda:0" });
      for (let i = 0; i < 20; i++) x.data();
      ${end}`;
    const node = ["--input-type=module", "--eval", program];
    for (let run = 0; run < (isEmulated ? 1 : 5); run++) {
      const { status, signal } = spawnSync(process.execPath, node, { cwd: packageFolder });
      expect([status, signal]).toEqual([code, null]);
    }
  });

  test("memory of disposed tensors is used again", async () => {
    const [, gpu] = devices();
    const count = Math.ceil((2 * gpu!.totalMemory) / 2 ** 32);
    for (let i = 0; i < count; i++) {
      empty([2 ** 32], { dtype: "uint8", device }).dispose();
      if (i % 8 === 0) await setImmediate();
    }
    expect(await ones([1], { device }).item()).toBe(1);
  });
});
