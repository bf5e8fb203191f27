// Worker threads on GPUs.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { explain, isAvailable } from "../src/index.js";
import { type Installed, install } from "./installed.js";
import { resultOf, runProgram } from "./programs.js";
import { describeWorkers } from "./workers.js";

const missing = isAvailable("cuda") ? "" : `: skipped, ${explain()}`;
const noSecond = isAvailable("cuda:1") ? "" : ": skipped, there is no cuda:1";

describe.skipIf(!isAvailable("cuda"))(`cuda${missing}`, () => {
  describeWorkers("cuda:0");
});

// Each call on the other device than the one before; unsafeFromPointer() asks CUDA where memory is.
const alternating = `
  const { parentPort } = await import("node:worker_threads");
  const devices = ["cuda:0", "cuda:1"];
  const failures = [];
  const expectOn = (device, x, what) => {
    const { shape, dtype } = x;
    try {
      ww.unsafeFromPointer(x.pointer, { shape, dtype, device, owner: x }).dispose();
    } catch ({ message }) {
      failures.push(what + ": " + message);
    }
  };
  for (let i = 0; i < 20; i++) {
    const pairs = (fn) => devices.map((device, j) => fn(device, j));
    const made = pairs((device, j) => ww.full([1000], i + j, { device }));
    const streams = pairs((device) => new ww.CudaStream({ device }));
    const converted = pairs((_, j) => made[j].to("bfloat16"));
    const crossed = pairs((device, j) => made[1 - j].to(device));
    const copied = pairs((_, j) => ww.withStream(streams[j], () => converted[j].to("float32")));
    for (const stream of streams) await stream.synchronize();
    const graphs = pairs((_, j) =>
      ww.CudaGraph.capture(() => void copied[j].copyFrom(crossed[j]), { stream: streams[j] }));
    pairs((_, j) => graphs[j].launch(streams[j]));
    const reads = await Promise.all(
      pairs((_, j) => [made[j].data(), converted[j].tolist(), crossed[j].data()]).flat());
    for (const stream of streams) await stream.synchronize();
    for (const [j, device] of devices.entries()) {
      const [own, rounded, other] = reads.slice(3 * j);
      const values = [own, rounded, other, copied[j].dataSync()].map((data) => data[999] - i);
      if (values.join() !== [j, j, 1 - j, 1 - j].join()) failures.push(device + ": " + values);
      for (const x of [made, converted, crossed, copied]) expectOn(device, x[j], "round " + i);
    }
    for (const each of [made, streams, converted, crossed, copied, graphs].flat()) each.dispose();
  }
`;

describe.skipIf(!isAvailable("cuda:1"))(`two GPUs${noSecond}`, () => {
  let installed: Installed;
  beforeAll(() => {
    installed = install({ addon: true });
  });
  afterAll(() => installed?.remove());

  test.each(["1", "16"])(
    "[ND-19] calls on two devices in turn use the right one, from workers, with %s pool threads",
    (size) => {
      const source = `
        import { Worker } from "node:worker_threads";
        const code = 'const ww = await import("@warpwright/runtime");'
          + ${JSON.stringify(alternating)} + "parentPort.postMessage(failures);";
        const run = () => new Promise((done, fail) => {
          new Worker(code, { eval: true }).on("message", done).on("error", fail);
        });
        const workers = Array.from({ length: 4 }, run);
        ${alternating}
        failures.push(...(await Promise.all(workers)).flat());
        console.log(JSON.stringify(failures));`;
      const env = { UV_THREADPOOL_SIZE: size, WARPWRIGHT_NUM_THREADS: size };
      expect(resultOf(runProgram(installed, source, { env }))).toEqual([]);
    },
  );
});
