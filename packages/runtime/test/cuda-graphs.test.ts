// Graphs: what they record, what they keep, and what they refuse.
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  CudaGraph,
  CudaStream,
  cat,
  emptyCache,
  explain,
  full,
  isAvailable,
  memoryStats,
  ones,
  randn,
  tensor,
  tidy,
  withStream,
  zeros,
} from "../src/index.js";
import { captured, expectAll } from "./captured.js";

const device = "cuda:0";

// compute-sanitizer does not see that all branches of a graph come after what its launch waits for.
const isSanitized = Boolean(process.env["WARPWRIGHT_SANITIZE"]);
const missing = isAvailable("cuda") ? "" : `: skipped, ${explain()}`;

describe.skipIf(!isAvailable("cuda"))(`cuda${missing}`, () => {
  describe("CudaGraph", () => {
    test("[XC-01] replays with new inputs as the eager calls would", async () => {
      const x = randn([64, 33], { seed: 1, device });
      const compute = () =>
        cat([x.to("bfloat16"), x.transpose(0, 1).contiguous().view(64, 33).to("bfloat16")]);
      using stream = new CudaStream({ device });
      await CudaStream.default(device).synchronize();
      const [graph, out] = captured(compute, stream);
      out.fill(-1);
      for (const seed of [2, 3]) {
        x.copyFrom(randn([64, 33], { seed }));
        stream.wait(CudaStream.default(device).record());
        graph.launch(stream);
        await stream.synchronize();
        expect(Buffer.compare(await out.bytes(), await compute().bytes())).toBe(0);
      }
      graph.dispose();
    });

    test("does not run what it records", async () => {
      const x = ones([100], { device });
      const [graph] = captured(() => x.fill(5));
      await expectAll(x, 1);
      graph.launch();
      await expectAll(x, 5);
    });

    test("[XC-03] can be launched again though it makes tensors, at the same address", async () => {
      const x = ones([1000], { device });
      const [graph, [y, z]] = captured(() => [x.clone(), zeros([1000], { device })] as const);
      const address = y.pointer;
      for (let i = 2; i < 6; i++) {
        x.fill(i);
        z.fill(9);
        graph.launch();
        await expectAll(y, i);
        await expectAll(z, 0);
        expect(y.pointer).toBe(address);
      }
    });

    test("keeps the memory that its kernels touch, and that of what was made inside", async () => {
      const x = ones([1000], { device });
      const [graph, out] = captured(() => {
        const doubled = cat([x, x]);
        const copy = doubled.clone();
        doubled.dispose();
        return copy;
      });
      x.dispose();
      for (let i = 0; i < 50; i++) full([1000], 7, { device }).dispose();
      graph.launch();
      await expectAll(out, 1);
      graph.launch();
      await expectAll(out, 1);
      const kept = out.clone();
      graph.dispose();
      graph.dispose();
      expect(graph.disposed).toBe(true);
      await expectAll(kept, 1);
      await expectAll(out, 1);
    });

    test("gives its memory back when it and its tensors are gone", async () => {
      const stream = CudaStream.default(device);
      const allocated = async () => {
        await stream.synchronize();
        return memoryStats(device).allocated;
      };
      const x = ones([2 ** 20], { device });
      const before = await allocated();
      const [graph, out] = captured(() => x.clone());
      graph.launch();
      expect(await allocated()).toBeGreaterThanOrEqual(before + 2 ** 22);
      out.dispose();
      graph.dispose();
      expect(await allocated()).toBe(before);
      x.dispose();
    });

    test("has what is disposed of inside make room for what follows", async () => {
      const x = ones([2 ** 20], { device });
      const addresses = new Set<bigint>();
      const [graph, out] = captured(() => {
        let y = x.clone();
        for (let i = 0; i < 10; i++) {
          addresses.add(y.pointer);
          y = tidy(() => {
            const next = y.clone();
            y.dispose();
            return next;
          });
        }
        return y;
      });
      expect(addresses.size).toBe(2);
      graph.launch();
      await expectAll(out, 1);
    });

    test.skipIf(isSanitized)(
      "does not let a tensor take over memory that another stream may still use",
      async () => {
        using side = new CudaStream({ device });
        const x = ones([2 ** 16], { device });
        const [graph, [copy, next]] = captured(() => {
          const y = x.clone();
          side.wait(CudaStream.default(device).record());
          const copy = withStream(side, () => y.clone());
          y.dispose();
          const next = full([2 ** 16], 3, { device });
          CudaStream.default(device).wait(side.record());
          return [copy, next] as const;
        });
        for (let i = 0; i < 3; i++) {
          graph.launch();
          await expectAll(copy, 1);
          await expectAll(next, 3);
        }
      },
    );

    test("does not let a tensor take over memory that work outside of it still uses", async () => {
      using side = new CudaStream({ device });
      for (let i = 0; i < 20; i++) {
        const [graph, y] = captured(() => {
          const gone = full([256], 1, { device });
          withStream(side, () => gone.fill(5)); // takes no part, so it runs
          gone.dispose();
          return full([256], 2, { device });
        });
        graph.launch();
        await CudaStream.default(device).synchronize();
        await side.synchronize();
        await expectAll(y, 2);
        graph.dispose();
      }
    });

    test("lets other streams work on what its own stream has made before", async () => {
      using side = new CudaStream({ device });
      const x = full([1000], 3, { device });
      const [, copies] = captured(() => {
        const both = [withStream(side, () => x.clone())];
        side.wait(CudaStream.default(device).record());
        CudaStream.default(device).wait(side.record());
        return both;
      });
      await expectAll(copies[0]!, 3);
    });

    test("writes the arrays that became tensors inside at every launch", async () => {
      const values = new Float32Array([1, 2, 3]);
      const fromCpu = tensor([7, 8]);
      const [graph, [x, y]] = captured(() => {
        const x = tensor(values, { device });
        const y = ones([2], { device });
        y.copyFrom(fromCpu);
        return [x, y] as const;
      });
      values.fill(0);
      fromCpu.fill(0);
      for (let i = 0; i < 2; i++) {
        graph.launch();
        expect(await x.tolist()).toEqual([1, 2, 3]);
        expect(await y.tolist()).toEqual([7, 8]);
        x.fill(9);
        y.fill(9);
      }
    });

    test.skipIf(isSanitized)(
      "[XC-04] takes in another stream that waits for its event, and joins it",
      async () => {
        using side = new CudaStream({ device });
        const main = CudaStream.default(device);
        const x = ones([1000], { device });
        const [graph, y] = captured(() => {
          const half = full([1000], 0.5, { device });
          side.wait(main.record());
          const y = withStream(side, () => half.clone());
          x.fill(4);
          main.wait(side.record());
          return y;
        });
        graph.launch();
        await expectAll(x, 4);
        await expectAll(y, 0.5);
        // The side stream is an ordinary one again.
        await expectAll(
          withStream(side, () => full([10], 2, { device })),
          2,
        );
        await side.synchronize();
      },
    );

    test("runs on the stream of each launch, one after the other", async () => {
      const streams = [0, 1, 2].map(() => new CudaStream({ device }));
      const x = zeros([1000], { device });
      const one = ones([1000], { device });
      const [graph, y] = captured(() => {
        const both = cat([x, one]);
        x.copyFrom(one);
        return both;
      });
      await CudaStream.default(device).synchronize();
      for (const stream of streams) graph.launch(stream);
      for (const stream of streams) {
        await stream.synchronize();
        stream.dispose();
      }
      await expectAll(y, 1);
      graph.dispose();
    });

    test("may be disposed of while it runs", async () => {
      const x = ones([2 ** 22], { device });
      const [graph, y] = captured(() => x.clone());
      for (let i = 0; i < 5; i++) graph.launch();
      graph.dispose();
      x.dispose();
      await expectAll(y, 1);
    });

    test("frees what was dropped meanwhile after the capture", async () => {
      const x = ones([1000], { device });
      for (let i = 0; i < 5; i++) {
        const doomed = ones([1000], { device });
        const stream = new CudaStream({ device });
        const [graph, y] = captured(() => {
          doomed.dispose();
          stream.dispose();
          return x.clone();
        });
        graph.launch();
        await expectAll(y, 1);
        graph.dispose();
        await setImmediate();
      }
      emptyCache(device);
    });

    test("is refused for a function that throws, whose error it throws on", async () => {
      const x = ones([10], { device });
      expect(() =>
        CudaGraph.capture(() => {
          x.fill(2);
          throw new Error("on purpose");
        }),
      ).toThrow("on purpose");
      await expectAll(x, 1);
    });

    test("can be collected, launched or not", async () => {
      const x = ones([10], { device });
      for (let i = 0; i < 20; i++) {
        const [graph] = captured(() => x.clone());
        if (i % 2 === 0) graph.launch();
      }
      await expectAll(x, 1);
    });
  });
});
