// What only a process of its own shows: how it ends, its memory, who sets its threads.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Installed, install, type Output, runModule } from "./installed.js";

let installed: Installed;
beforeAll(() => {
  installed = install({ addon: true });
});
afterAll(() => installed.remove());

/** Runs a module in a process with the runtime there, and `inWorker(source)` to await a worker. */
function run(source: string, env: Record<string, string> = {}): Output {
  const before = `
    import { Worker } from "node:worker_threads";
    const inWorker = (source) => new Promise((done, fail) => {
      const code = 'import { parentPort } from "node:worker_threads";'
        + 'const ww = await import("@warpwright/runtime");' + source;
      const worker = new Worker(code, { eval: true });
      worker.on("message", console.log).on("error", fail).on("exit", done);
    });
  `;
  return runModule(installed, before + source, env);
}

const load = 'const ww = await import("@warpwright/runtime");';

describe("a process", () => {
  test("outlives workers that alone load the addon and compute", () => {
    const source = `
      for (let i = 0; i < 20; i++) {
        await inWorker('ww.setNumThreads(4); ww.randn([2 ** 20], { seed: 1 }).to("bfloat16");');
      }`;
    expect(run(source)).toEqual({ stdout: "", stderr: "", status: 0 });
  });

  test("[ND-09] [ND-20] without a GPU says why when asked, and uses no CPU in its place", () => {
    const source = `
      ${load}
      const failure = (call) => {
        try { call(); return "none"; } catch ({ code }) { return code; }
      };
      console.log(JSON.stringify({
        devices: ww.devices().map(({ device }) => device),
        available: ww.isAvailable("cuda"),
        reason: ww.explain(),
        made: failure(() => ww.ones([2], { device: "cuda" })),
        moved: failure(() => ww.ones([2]).to("cuda:0")),
        stream: failure(() => new ww.CudaStream()),
      }));`;
    const { stdout, stderr, status } = run(source, { CUDA_VISIBLE_DEVICES: "" });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(JSON.parse(stdout)).toEqual({
      devices: ["cpu"],
      available: false,
      reason: expect.stringMatching(/^CUDA is not available: ./),
      made: "ERR_DEVICE",
      moved: "ERR_DEVICE",
      stream: "ERR_DEVICE",
    });
  });

  const reads = ["data()", "bytes()", "item()", "read(into)"];
  test.each(reads)("awaits %s of tensors that it drops within bounds", (read) => {
    const source = `
      ${load}
      const x = ww.ones([2 ** 21]); // 8 MB
      const into = new Float32Array(2 ** 21);
      for (let i = 0; i < 300; i++) {
        await x.clone()${read === "item()" ? ".select(0, 0)" : ""}.${read};
      }
      console.log(process.resourceUsage().maxRSS < 2 ** 20);`; // kilobytes
    expect(run(source)).toEqual({ stdout: "true\n", stderr: "", status: 0 });
  });
});

describe("the threads of a process", () => {
  const post = "parentPort.postMessage(ww.getNumThreads());";

  test("are the environment's, also when a worker loads first", () => {
    const source = `
      await inWorker('${post}');
      ${load}
      console.log(ww.getNumThreads());`;
    expect(run(source, { WARPWRIGHT_NUM_THREADS: "3" }).stdout).toBe("3\n3\n");
  });

  test("stay what a worker has set when another thread loads", () => {
    const source = `
      await inWorker('ww.setNumThreads(5);${post}');
      ${load}
      console.log(ww.getNumThreads());
      await inWorker('${post}');`;
    expect(run(source, { WARPWRIGHT_NUM_THREADS: "3" }).stdout).toBe("5\n5\n5\n");
  });

  test("a number that is none is an error in a worker too", () => {
    const source = `
      await inWorker('try { ww.getNumThreads() } catch (error) {'
        + 'parentPort.postMessage(error.code + " " + error.message) }');`;
    expect(run(source, { WARPWRIGHT_NUM_THREADS: "many" }).stdout).toBe(
      "ERR_VALUE runtime: expected WARPWRIGHT_NUM_THREADS to be an integer from 1 to 1024, " +
        'got "many"\n',
    );
  });

  test("are at most 1024 on a machine with more", () => {
    const source = `
      import os from "node:os";
      import { syncBuiltinESMExports } from "node:module";
      os.availableParallelism = () => 1152;
      syncBuiltinESMExports();
      ${load}
      console.log(ww.getNumThreads());`;
    expect(run(source)).toEqual({ stdout: "1024\n", stderr: "", status: 0 });
  });
});
