// Memory numbers, memory of other libraries, and memory of tensors that are dropped.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { memoryStats, ones, tensor, unsafeFromPointer } from "../src/index.js";
import { type Installed, install, runModule } from "./installed.js";

describe("memoryStats", () => {
  test("of the CPU counts tensors until they are disposed of", () => {
    const before = memoryStats("cpu");
    const x = ones([2 ** 20]);
    const view = x.narrow(0, 0, 1);
    const during = memoryStats("cpu");
    expect(during.allocated).toBe(before.allocated + 2 ** 22);
    expect(during.peak).toBeGreaterThanOrEqual(during.allocated);
    expect(during.reserved).toBe(during.allocated);
    expect(during.total).toBeGreaterThan(during.free);
    x.dispose();
    expect(memoryStats("cpu").allocated).toBe(before.allocated + 2 ** 22);
    view.dispose();
    expect(memoryStats("cpu").allocated).toBe(before.allocated);
    expect(memoryStats("cpu").peak).toBe(during.peak);
  });
});

describe("unsafeFromPointer", () => {
  const x = tensor([1, 2, 3, 4, 5, 6]);
  const floats = { shape: [2, 2], dtype: "float32", device: "cpu", owner: x } as const;

  test("is a view of the memory, not a copy", async () => {
    const y = unsafeFromPointer(x.pointer + 8n, floats);
    expect(y.pointer).toBe(x.pointer + 8n);
    expect(await y.tolist()).toEqual([
      [3, 4],
      [5, 6],
    ]);
    y.select(0, 0).fill(9);
    expect(await x.tolist()).toEqual([1, 2, 9, 9, 5, 6]);
    y.dispose();
    expect(await x.item.call(x.select(0, 0))).toBe(1);
  });

  test("of memory that nobody owns", async () => {
    const y = unsafeFromPointer(x.pointer, { ...floats, owner: null });
    expect(await y.select(0, 0).tolist()).toEqual(await x.narrow(0, 0, 2).tolist());
    y.dispose();
  });

  test("of no elements needs no memory", async () => {
    const y = unsafeFromPointer(0n, { ...floats, shape: [0, 3] });
    expect(await y.tolist()).toEqual([]);
  });

  const failures: Failure[] = [
    [
      "ERR_KIND unsafeFromPointer: expected pointer to be a bigint, got a number",
      () => unsafeFromPointer(wrong(8), floats),
    ],
    [
      "ERR_VALUE unsafeFromPointer: expected pointer to be an address, got 0",
      () => unsafeFromPointer(0n, floats),
    ],
    [
      "ERR_VALUE unsafeFromPointer: expected pointer to be an address, got -4",
      () => unsafeFromPointer(-4n, floats),
    ],
    [
      "ERR_VALUE unsafeFromPointer: expected pointer to be an address, got 18446744073709551612",
      () => unsafeFromPointer(2n ** 64n - 4n, floats),
    ],
    [
      "ERR_KIND unsafeFromPointer: expected owner to be an object or null, got a number",
      () => unsafeFromPointer(8n, { ...floats, owner: wrong(5) }),
    ],
    [
      "ERR_VALUE unsafeFromPointer: expected pointer to be a multiple of 4, got 6",
      () => unsafeFromPointer(6n, floats),
    ],
    [
      "ERR_KIND unsafeFromPointer: expected shape to be an array of sizes, got undefined",
      () => unsafeFromPointer(8n, wrong({ dtype: "float32", device: "cpu", owner: x })),
    ],
  ];
  test.each(failures)("%s", expectFailure);
});

describe("dropped memory", () => {
  let installed: Installed;
  beforeAll(() => {
    installed = install({ addon: true });
  });
  afterAll(() => installed.remove());

  test("[ND-07] of a loop that awaits nothing is freed on the way", () => {
    const source = `
      import { memoryStats, ones } from "@warpwright/runtime";
      for (let i = 0; i < 400; i++) ones([2 ** 22]); // 16 MB
      console.log(memoryStats("cpu").peak < 1.5 * 2 ** 30);`;
    expect(runModule(installed, source)).toEqual({ stdout: "true\n", stderr: "", status: 0 });
  });

  test("of another library keeps its owner until the last view is gone", () => {
    const source = `
      import { setFlagsFromString } from "node:v8";
      import { runInNewContext } from "node:vm";
      import { setImmediate } from "node:timers/promises";
      import { empty, unsafeFromPointer } from "@warpwright/runtime";
      setFlagsFromString("--expose-gc");
      const gc = runInNewContext("gc");
      const collected = [];
      const registry = new FinalizationRegistry((name) => collected.push(name));
      const memory = empty([4]);
      const wrap = () => {
        const owner = {};
        registry.register(owner, "owner");
        const options = { shape: [4], dtype: "float32", device: "cpu", owner };
        return unsafeFromPointer(memory.pointer, options);
      };
      const turn = async () => { for (let i = 0; i < 5; i++) { gc(); await setImmediate(); } };
      const x = wrap();
      const view = x.narrow(0, 0, 2);
      x.dispose();
      await turn();
      console.log(collected.length);
      view.dispose();
      await turn();
      console.log(collected.length);
      wrap();
      await turn();
      console.log(collected.length);`;
    expect(runModule(installed, source)).toEqual({ stdout: "0\n1\n2\n", stderr: "", status: 0 });
  });
});
