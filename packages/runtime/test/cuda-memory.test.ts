// Memory of a GPU: numbers, other libraries' memory, and what is dropped.
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import {
  CudaGraph,
  CudaStream,
  empty,
  emptyCache,
  explain,
  full,
  isAvailable,
  memoryStats,
  ones,
  type Tensor,
  unsafeFromPointer,
  withStream,
} from "../src/index.js";

const device = "cuda:0";
const missing = isAvailable("cuda") ? "" : `: skipped, ${explain()}`;
const MiB = 2 ** 20;

describe.skipIf(!isAvailable("cuda"))(`cuda${missing}`, () => {
  const settle = () => CudaStream.default(device).synchronize();

  test("memoryStats counts tensors, and emptyCache gives back what they leave", async () => {
    await settle();
    emptyCache(device);
    const before = memoryStats(device);
    const x = full([64 * MiB], 1, { dtype: "uint8", device });
    await settle();
    const during = memoryStats(device);
    expect(during.allocated).toBe(before.allocated + 64 * MiB);
    expect(during.peak).toBeGreaterThanOrEqual(during.allocated);
    expect(during.reserved).toBeGreaterThanOrEqual(during.allocated);
    expect(during.total).toBeGreaterThan(during.free); // all processes', so that tests beside count
    x.dispose();
    await settle();
    expect(memoryStats(device).allocated).toBe(before.allocated);
    emptyCache(device);
    expect(memoryStats(device).reserved).toBeLessThanOrEqual(before.reserved);
  });

  test("[ND-08] out of memory is an error, and what fits comes after it", async () => {
    const { total } = memoryStats(device);
    const held = isEmulated ? [empty([total - 50 * MiB], { dtype: "uint8", device })] : [];
    // Other suites run beside this one: on a GPU, more than it has instead of the last of it.
    const size = isEmulated ? 100 * MiB : 2 * total;
    const tooLarge = () => empty([size], { dtype: "uint8", device });
    const error = { name: "CudaError", code: "cudaErrorMemoryAllocation" };
    expect(tooLarge).toThrow(expect.objectContaining(error));
    expect(await ones([1], { device }).item()).toBe(1);
    for (const each of held) each.dispose();
    expect(await ones([2], { device }).tolist()).toEqual([1, 1]);
    emptyCache(device);
  });

  test("[ND-07] tensors that a loop drops without awaiting do not fill the device", () => {
    const [count, size] = isEmulated ? [600, 4 * MiB] : [1000, 64 * MiB];
    const { allocated } = memoryStats(device);
    let most = 0;
    for (let i = 0; i < count; i++) {
      empty([size], { dtype: "uint8", device });
      most = Math.max(most, memoryStats(device).allocated - allocated);
    }
    expect(most).toBeLessThan((count * size) / 4);
  });

  describe("unsafeFromPointer", () => {
    const wrap = (x: Tensor, shape: number[]) =>
      unsafeFromPointer(x.pointer, { shape, dtype: "float32", device, owner: x });

    test("shares the memory with its owner, which stays", async () => {
      const x = ones([2, 3], { device });
      const y = wrap(x, [3, 2]);
      y.fill(4);
      expect(await x.tolist()).toEqual([
        [4, 4, 4],
        [4, 4, 4],
      ]);
      using stream = new CudaStream({ device });
      const z = withStream(stream, () => y.clone());
      y.dispose();
      await stream.synchronize();
      expect(await z.select(0, 0).tolist()).toEqual([4, 4]);
      expect(await x.select(0, 0).tolist()).toEqual([4, 4, 4]);
    });

    test("is kept by a graph", async () => {
      const x = ones([100], { device });
      const y = wrap(x, [100]);
      const graph = CudaGraph.capture(() => void y.fill(6));
      y.dispose();
      graph.launch();
      expect(await x.select(0, 99).item()).toBe(6);
      graph.dispose();
    });

    const failures: Failure[] = [
      [
        "ERR_DEVICE unsafeFromPointer: expected memory of cuda:0, got some of the host",
        () => wrap(ones([4]), [4]),
      ],
      ["ERR_DEVICE emptyCache: expected a CUDA device, got cpu", () => emptyCache("cpu")],
      ["ERR_VALUE memoryStats: *", () => memoryStats(wrong("gpu"))],
    ];
    test.each(failures)("%s", expectFailure);
  });
});
