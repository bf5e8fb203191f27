// Eight workers at once, round after round, some of them terminated at any moment.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import type { Device } from "../src/index.js";
import { type Installed, install } from "./installed.js";
import { longTest, resultOf, runProgram } from "./programs.js";

const rounds = isEmulated ? 12 : 50;

// What each worker does, and posts: sums that are right only if nothing was mixed up.
const work = (device: Device) => `
  import { parentPort, workerData } from "node:worker_threads";
  const ww = await import("@warpwright/runtime");
  const device = "${device}";
  const value = workerData;
  const size = 2 ** 14;
  const sum = (data) => data.reduce((a, b) => a + b, 0) / size;
  const x = ww.full([size], value, { device });
  const made = [];
  let graph;
  if (device !== "cpu") {
    graph = ww.CudaGraph.capture(() => {
      made.push(ww.cat([x, x]).narrow(0, 1, size).clone());
    });
    graph.launch();
  }
  const stale = x.data(); // of before the fill
  const half = x.to("bfloat16").to("float32");
  const views = half.chunk(4).map((view) => view.clone());
  x.fill(value + 1);
  graph?.launch();
  const reads = [x, ww.cat(views), ...made].map((y) => y.data());
  parentPort.postMessage((await Promise.all([stale, ...reads])).map(sum));
  if (value % 3 === 0) for (const each of [x, half, ...views, ...made]) each.dispose();
`;

const program = (device: Device) => `
  import { setTimeout } from "node:timers/promises";
  import { Worker } from "node:worker_threads";
  const device = "${device}";
  let state = 1; // xorshift, so that a run can be repeated
  const random = (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  const run = (value) => new Promise((done) => {
    const worker = new Worker(${JSON.stringify(work(device))}, { eval: true, workerData: value });
    const ending = { value, sums: null, error: null, terminated: false };
    worker.on("message", (sums) => { ending.sums = sums; });
    worker.on("error", (error) => { ending.error = String(error); });
    worker.on("exit", (code) => done({ ...ending, code }));
    if (random(2) === 0) return;
    const pause = random(8) * random(20);
    setTimeout(pause, undefined, { ref: false }).then(() => {
      ending.terminated = true;
      worker.terminate();
    });
  });
  const settled = async () => {
    if (device !== "cpu") await ww.CudaStream.default(device).synchronize();
    return ww.memoryStats(device).allocated;
  };
  const own = ww.full([1000], 7, { device });
  const before = await settled();
  const wrong = [];
  let finished = 0;
  for (let round = 0; round < ${rounds}; round++) {
    const endings = Array.from({ length: 8 }, () => run(1 + random(50)));
    const mine = ww.cat([own, own]);
    if ((await mine.data())[1999] !== 7) wrong.push("main");
    mine.dispose();
    for (const { value, sums, error, terminated, code } of await Promise.all(endings)) {
      if (sums !== null) finished++;
      const wanted = device === "cpu" ? [0, 1, 0] : [0, 1, 0, 1];
      const good = sums === null ? terminated : sums.every((sum, i) => sum === value + wanted[i]);
      if (!good || error !== null || (code !== 0 && !terminated)) {
        wrong.push({ value, sums, error, terminated, code });
      }
    }
  }
  console.log(JSON.stringify({ wrong, finished, left: (await settled()) - before }));
`;

interface Result {
  wrong: unknown[];
  finished: number;
  /** Bytes of memory that were allocated and not given back. */
  left: number;
}

export function describeWorkers(device: Device): void {
  let installed: Installed;
  beforeAll(() => {
    installed = install({ addon: true });
  });
  afterAll(() => installed?.remove());

  describe(`[ND-04] ${rounds} rounds of eight workers at once, terminated at random,`, () => {
    test("compute what is right, and leave no memory behind", longTest, () => {
      const { wrong, finished, left } = resultOf<Result>(runProgram(installed, program(device)));
      expect(wrong).toEqual([]);
      expect(finished).toBeGreaterThan(2 * rounds);
      expect(left).toBe(0);
    });
  });
}
