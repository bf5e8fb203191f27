// A device that a CUDA error has made unusable, in programs of their own: it stays so.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { explain, isAvailable } from "../src/index.js";
import { type Installed, install } from "./installed.js";
import { resultOf, runProgram } from "./programs.js";

const asan = isEmulated && process.env.WARPWRIGHT_EMULATOR_CHECK === "asan";
const reason = asan ? "AddressSanitizer ends the program at the access" : explain();
const usable = isAvailable("cuda") && !asan;
const missing = usable ? "" : `: skipped, ${reason}`;

let installed: Installed;
beforeAll(() => {
  installed = install({ addon: true });
});
afterAll(() => installed?.remove());

// lose() enqueues a kernel that reads 4 TB behind a tensor, where nothing is.
const before = `
  const device = "cuda:0";
  const x = ww.ones([1000], { device });
  const large = ww.ones([2 ** 21], { device });
  const stream = new ww.CudaStream({ device });
  const main = ww.CudaStream.default(device);
  const event = main.record();
  const graph = ww.CudaGraph.capture(() => void x.clone());
  await main.synchronize();
  const options = { shape: [2 ** 40], dtype: "float32", device, owner: x };
  const wild = ww.unsafeFromPointer(x.pointer, options).narrow(0, 2 ** 40 - 4, 4);
  const lose = () => wild.to("float16");
  const failures = {};
  const attempt = async (name, call) => {
    try {
      await call();
      failures[name] = "none";
    } catch ({ code, message }) {
      failures[name] = code + " " + message;
    }
  };
  const report = (value) => console.log(JSON.stringify(value));
`;

type Failures = Record<string, string>;

function expectLost(failures: Failures): void {
  for (const [name, failure] of Object.entries(failures)) {
    expect(failure, name).toMatch(
      /^(ERR_DEVICE_LOST \w+: cuda:0 was lost to an earlier error, )?cudaErrorIllegalAddress\W/,
    );
  }
}

describe.skipIf(!usable)(`cuda${missing}`, () => {
  test("an illegal access rejects every pending promise, with its name", () => {
    const source = `${before}
      const lost = lose();
      const first = large.data().catch(({ name, code, message }) => [name, code, message]);
      await Promise.all([
        attempt("data", () => lost.data()),
        attempt("bytes", () => x.bytes()),
        attempt("tolist", () => large.tolist()),
        attempt("item", () => x.select(0, 0).item()),
        attempt("synchronize", () => main.synchronize()),
        attempt("event", () => main.record().synchronize()),
        attempt("elapsedMs", () => main.record().elapsedMs(event)),
        attempt("other stream", () => {
          stream.wait(main.record());
          return stream.synchronize();
        }),
      ]);
      report([await first, failures]);`;
    const [first, failures] = resultOf<[string[], Failures]>(runProgram(installed, source));
    expect(first).toEqual([
      "CudaError",
      "cudaErrorIllegalAddress",
      expect.stringMatching(/^read: /),
    ]);
    expect(Object.keys(failures)).toHaveLength(8);
    for (const failure of Object.values(failures)) {
      expect(failure).toMatch(/^(cudaErrorIllegalAddress|ERR_DEVICE_LOST) [a-zA-Z]+: ./);
    }
  });

  test("later calls on it throw ERR_DEVICE_LOST with the first cause", () => {
    const calls: Record<string, string> = {
      clone: "x.clone()",
      fill: "x.fill(1)",
      data: "x.data()",
      dataSync: "x.dataSync()",
      "to the CPU": 'x.to("cpu")',
      "from the CPU": "host.to(device)",
      convert: 'x.to("bfloat16")',
      ones: "ww.ones([2], { device })",
      empty: "ww.empty([0], { device })",
      tensor: "ww.tensor([1], { device })",
      randn: "ww.randn([2], { device })",
      cat: "ww.cat([x, x])",
      "copyFrom the CPU": "x.copyFrom(ww.ones([1000]))",
      "copyFrom to the CPU": "ww.ones([1000]).copyFrom(x)",
      "new stream": "new ww.CudaStream({ device })",
      fromHandle: "ww.CudaStream.fromHandle(4096n, { device })",
      withStream: "ww.withStream(stream, () => x.clone())",
      record: "stream.record()",
      wait: "stream.wait(event)",
      synchronize: "stream.synchronize()",
      synchronizeSync: "stream.synchronizeSync()",
      query: "event.query()",
      "event.synchronize": "event.synchronize()",
      elapsedMs: "event.elapsedMs(event)",
      launch: "graph.launch()",
      capture: "ww.CudaGraph.capture(() => x.clone())",
      memoryStats: "ww.memoryStats(device)",
      emptyCache: "ww.emptyCache(device)",
      unsafeFromPointer: "ww.unsafeFromPointer(x.pointer, { ...options, shape: [2] })",
    };
    const attempts = Object.entries(calls).map(
      ([name, call]) => `await attempt(${JSON.stringify(name)}, () => ${call});`,
    );
    const source = `${before}
      const host = ww.ones([4]);
      await attempt("first", () => lose().data());
      const { first } = failures;
      delete failures.first;
      ${attempts.join("\n")}
      report([first, failures]);`;
    const [first, failures] = resultOf<[string, Failures]>(runProgram(installed, source));
    const text = first.replace(/^(\w+) read: /, "$1: ");
    expect(text).toMatch(/^cudaErrorIllegalAddress: ./);
    for (const name of Object.keys(calls)) {
      const start = /^ERR_DEVICE_LOST \w+: cuda:0 was lost to an earlier error, /;
      expect(failures[name], name).toMatch(start);
      expect(failures[name]?.replace(start, ""), name).toBe(text);
    }
  });

  test("it is not available, and explain() says why; the CPU goes on", () => {
    const source = `${before}
      const lost = lose();
      await attempt("data", () => lost.data());
      const y = ww.randn([2 ** 16], { seed: 1 }).to("bfloat16");
      const { isAvailable, defaultDevice, explain } = ww;
      report([isAvailable(device), defaultDevice(), explain(), (await y.data()).length]);`;
    const [available, byDefault, text, length] = resultOf<[boolean, string, string, number]>(
      runProgram(installed, source),
    );
    expect([available, byDefault, length]).toEqual([false, "cpu", 2 ** 16]);
    expect(text).toMatch(/^cuda:0 .* is not available: it was lost to an earlier error, cudaError/);
  });

  test("dispose() and the collector let go of what was there", () => {
    const source = `${before}
      import { setImmediate } from "node:timers/promises";
      const lost = lose();
      await attempt("data", () => lost.data());
      const views = [x.narrow(0, 0, 4), large.view(2, 2 ** 20)];
      for (let i = 0; i < 100; i++) x.narrow(0, 0, 2);
      for (const each of [lost, wild, x, large, stream, event, graph, main, ...views]) {
        each.dispose();
        each.dispose();
      }
      for (let i = 0; i < 5; i++) { gc(); await setImmediate(); }
      report(x.disposed && graph.disposed);`;
    const ending = runProgram(installed, source, { flags: ["--expose-gc"] });
    expect(resultOf(ending)).toBe(true);
  });

  test("live tensors, streams, events, graphs and promises do not keep it from ending", () => {
    const source = `${before}
      const lost = lose();
      const promises = [lost.data(), large.data(), main.synchronize()];
      Promise.allSettled(promises).then(() => report(promises.length));`;
    expect(resultOf(runProgram(installed, source))).toBe(3);
  });

  test("a capture that it happens in fails, and every thread goes on", () => {
    const source = `${before}
      const { withStream, CudaGraph } = ww;
      await attempt("capture", () => CudaGraph.capture(() => {
        withStream(stream, lose);
        while (ww.isAvailable(device)) {
          try { stream.record().query(); } catch {}
        }
        x.clone();
      }));
      for (const each of [x, large, wild, graph]) each.dispose();
      report([failures, (await ww.ones([3]).tolist()).length]);`;
    const [failures, length] = resultOf<[Failures, number]>(runProgram(installed, source));
    expectLost(failures);
    expect(length).toBe(3);
  });

  test("other threads find it lost, those that come later too", () => {
    const source = `${before}
      import { Worker } from "node:worker_threads";
      const code = \`
        import { parentPort } from "node:worker_threads";
        const ww = await import("@warpwright/runtime");
        const failures = {};
        const use = () => {
          try {
            ww.ones([2], { device: "cuda:0" });
          } catch ({ code, message }) {
            failures[ww.isAvailable("cuda:0")] = code + " " + message;
          }
          return [failures, ww.ones([3]).dataSync().length];
        };
        parentPort.on("message", () => { parentPort.postMessage(use()); parentPort.close(); });
        parentPort.postMessage(use());\`;
      const start = () => new Promise((done) => {
        const worker = new Worker(code, { eval: true });
        worker.once("message", () => done(worker));
      });
      const answer = (worker) => new Promise((done) => {
        worker.once("message", done);
        worker.postMessage("");
      });
      const early = await start();
      await attempt("data", () => lose().data());
      const late = await start();
      report([await answer(early), await answer(late)]);`;
    for (const [failures, length] of resultOf<[Failures, number][]>(
      runProgram(installed, source),
    )) {
      expect(Object.keys(failures)).toEqual(["false"]);
      expectLost(failures);
      expect(length).toBe(3);
    }
  });

  test.skipIf(!isAvailable("cuda:1"))("takes the other devices with it, not the CPU", () => {
    const source = `${before}
      const y = ww.ones([5], { device: "cuda:1" });
      await attempt("data", () => lose().data());
      await attempt("to it", () => y.to(device));
      await attempt("from it", () => x.to("cuda:1"));
      await attempt("copyFrom", () => y.copyFrom(x.narrow(0, 0, 5)));
      await attempt("wait", () => ww.CudaStream.default("cuda:1").wait(event));
      await attempt("elsewhere", () => ww.cat([y, y]));
      const doubled = ww.cat([ww.ones([5]), ww.ones([5])]).tolist();
      report([failures, await doubled, ww.isAvailable("cuda:1")]);`;
    const [failures, doubled, available] = resultOf<[Failures, number[], boolean]>(
      runProgram(installed, source),
    );
    expect(failures["data"]).toMatch(/^cudaErrorIllegalAddress /);
    for (const name of ["to it", "from it", "copyFrom", "wait", "elsewhere"]) {
      expect(failures[name], name).toMatch(
        /^ERR_DEVICE_LOST \w+: cuda:[01] was lost to an earlier error, cudaErrorIllegalAddress: /,
      );
    }
    expect(failures["elsewhere"]).toMatch(/: cuda:1 was lost .*, on cuda:0$/);
    expect([doubled, available]).toEqual([Array(10).fill(1), false]);
  });
});
