// What is refused of CUDA tensors and streams, and what CUDA itself refuses.
import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { CudaStream, cat, empty, explain, isAvailable, ones } from "../src/index.js";
import { checkDevice, streamFor } from "../src/kernel/index.js";

const device = "cuda:0";
const missing = isAvailable("cuda") ? "" : `: skipped, ${explain()}`;

describe.skipIf(!isAvailable("cuda"))(`cuda errors${missing}`, () => {
  const x = isAvailable("cuda") ? ones([2, 3], { device }) : ones([2, 3]);
  const onCpu = ones([2, 3]);
  const stream = isAvailable("cuda") ? new CudaStream({ device }) : wrong(null);
  const gone = isAvailable("cuda") ? new CudaStream({ device }) : wrong(null);
  if (isAvailable("cuda")) (gone as CudaStream).dispose();

  const failures: Failure[] = [
    ["cudaErrorMemoryAllocation empty: out of memory", () => empty([2 ** 45], { device })],
    ["ERR_DEVICE cat: expected tensors[1] on cuda:0, got cpu", () => cat([x, onCpu])],
    [
      "ERR_DEVICE rmsnorm: expected weight on cpu, got cuda:0",
      () => checkDevice("rmsnorm", "weight", x, "cpu"),
    ],
    [
      "ERR_DEVICE rmsnorm: expected a stream of cpu, got one of cuda:0",
      () => streamFor("rmsnorm", "cpu", stream),
    ],
    ["ERR_DISPOSED rmsnorm: stream has been disposed", () => streamFor("rmsnorm", device, gone)],
    ["ERR_DISPOSED to: stream has been disposed", () => onCpu.to({ device, stream: gone })],
    [
      "ERR_DISPOSED synchronize: the stream has been disposed",
      () => (gone as CudaStream).synchronize(),
    ],
    ["ERR_DISPOSED handle: the stream has been disposed", () => (gone as CudaStream).handle],
  ];
  test.each(failures)("%s", async (...failure) => {
    await expectFailure(...failure);
    expect(await x.tolist()).toEqual([
      [1, 1, 1],
      [1, 1, 1],
    ]);
  });
});
