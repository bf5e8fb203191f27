// What a capture refuses, and that everything works after it.
import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import {
  CudaGraph,
  CudaStream,
  explain,
  full,
  isAvailable,
  memoryStats,
  ones,
  type Tensor,
  withStream,
} from "../src/index.js";
import { captured, expectAll } from "./captured.js";

const device = "cuda:0";
const missing = isAvailable("cuda") ? "" : `: skipped, ${explain()}`;

describe.skipIf(!isAvailable("cuda"))(`cuda${missing}`, () => {
  const usable = isAvailable("cuda");
  const x = usable ? ones([2, 3], { device }) : wrong(null);
  const side = usable ? new CudaStream({ device }) : wrong(null);
  const before = usable ? (side as CudaStream).record() : wrong(null);
  const gone = usable ? captured(() => 1)[0] : wrong(null);
  if (usable) (gone as CudaGraph).dispose();
  const cannotWait = "cannot wait for a device during a capture";
  const capture = (fn: () => unknown) => CudaGraph.capture(fn);
  const main = () => CudaStream.default(device);
  const failures: Failure[] = [
    [`ERR_CAPTURE dataSync: ${cannotWait}`, () => capture(() => (x as Tensor).dataSync())],
    [`ERR_CAPTURE synchronizeSync: ${cannotWait}`, () => capture(() => main().synchronizeSync())],
    [`ERR_CAPTURE to: ${cannotWait}`, () => capture(() => (x as Tensor).to("cpu"))],
    [
      "ERR_CAPTURE capture: cannot begin during another capture",
      () => capture(() => capture(() => 1)),
    ],
    [
      "ERR_CAPTURE launch: cannot launch a graph into a capture",
      () => {
        const [graph] = captured(() => (x as Tensor).fill(1));
        return capture(() => graph.launch());
      },
    ],
    [
      "ERR_CAPTURE disposeStream: the stream is being captured",
      () => CudaGraph.capture(() => (side as CudaStream).dispose(), { stream: side }),
    ],
    [
      "ERR_CAPTURE wait: expected an event of the capture that the stream takes part in, *",
      () => capture(() => main().wait(before)),
    ],
    [
      "ERR_CAPTURE wait: the event was recorded in a capture that has ended",
      () => (side as CudaStream).wait(captured(() => main().record())[1]),
    ],
    [
      "ERR_CAPTURE query: the event was recorded in a capture, in its graph",
      () => captured(() => main().record())[1].query(),
    ],
    [
      "ERR_CAPTURE synchronize: the event was recorded in a capture, in its graph",
      () => captured(() => main().record())[1].synchronize(),
    ],
    ["ERR_DISPOSED launch: the graph has been disposed", () => (gone as CudaGraph).launch()],
    [
      "ERR_KIND CudaGraph.capture: expected fn to be a function, got undefined",
      () => CudaGraph.capture(wrong(undefined)),
    ],
    [
      "ERR_KIND CudaGraph.capture: expected stream to be a CudaStream, got a string",
      () => CudaGraph.capture(() => 1, { stream: wrong("main") }),
    ],
  ];
  // [XC-08] After each of them the stream works, eagerly and in a capture.
  test.each(failures)("%s", async (...failure) => {
    await expectFailure(...failure);
    const y = full([10], 6, { device });
    await expectAll(y, 6);
    const [graph, z] = captured(() => y.clone());
    graph.launch();
    await expectAll(z, 6);
    await (side as CudaStream).synchronize();
  });

  test("what is refused leaves nothing of it in the graph", async () => {
    const half = ones([1000], { device, dtype: "float16" });
    await main().synchronize();
    const { allocated } = memoryStats(device);
    const refused: unknown[] = [];
    const graph = CudaGraph.capture(() => {
      for (const read of [
        () => half.dataSync(),
        () => half.to({ device: "cpu", dtype: "uint8" }),
      ]) {
        try {
          read(); // converts first
        } catch (error) {
          refused.push((error as { code?: unknown }).code);
        }
      }
    });
    expect(refused).toEqual(["ERR_CAPTURE", "ERR_CAPTURE"]);
    graph.launch();
    half.dispose();
    await main().synchronize();
    expect(memoryStats(device).allocated).toBeLessThan(allocated);
  });

  test("a function that returns a promise is a TypeError", () => {
    const error = expect.objectContaining({ name: "TypeError", code: "ERR_CAPTURE" });
    expect(() => capture(async () => 1)).toThrow(error);
  });

  test("[XC-04] work on an unjoined stream is refused, and the streams go on", async () => {
    using other = new CudaStream({ device });
    const unjoined = () =>
      CudaGraph.capture(() => {
        other.wait(main().record());
        withStream(other, () => (x as Tensor).clone());
      });
    expect(unjoined).toThrow(expect.objectContaining({ code: "ERR_CAPTURE" }));
    await expectAll(
      withStream(other, () => full([10], 1, { device })),
      1,
    );
    await expectAll(full([10], 2, { device }), 2);
  });

  test("asynchronous reads inside reject with ERR_CAPTURE", async () => {
    const reads: Promise<unknown>[] = [];
    const y = ones([4], { device });
    const graph = CudaGraph.capture(() => {
      reads.push(y.data(), y.tolist(), y.bytes(), main().synchronize());
    });
    const settled = await Promise.allSettled(reads);
    for (const each of settled) {
      expect(each).toMatchObject({ status: "rejected", reason: { code: "ERR_CAPTURE" } });
    }
    graph.launch();
    await expectAll(y, 1);
  });
});
