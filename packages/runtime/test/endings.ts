// How programs end that hold tensors and, on a GPU, streams, events and graphs, amid their work.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Device } from "../src/index.js";
import { type Installed, install } from "./installed.js";
import { type Ending, runProgram } from "./programs.js";

// What every program, and every worker, has when it ends. busy() waits for work again and again.
const holding = (device: Device) => `
  const device = "${device}";
  const onCuda = device !== "cpu";
  const x = ww.randn([2 ** 20], { device });
  const held = [x, x.clone(), x.view(2, 2 ** 19), x.to("bfloat16")];
  const ignore = () => {};
  if (onCuda) {
    const stream = new ww.CudaStream({ device });
    const main = ww.CudaStream.default(device);
    const event = main.record();
    const graph = ww.CudaGraph.capture(() => held.push(x.clone()), { stream: main });
    stream.wait(event);
    ww.withStream(stream, () => held.push(x.clone()));
    held.push(stream, event, graph, ww.CudaStream.default(device).record());
    for (let i = 0; i < 5; i++) graph.launch();
  }
  const pend = () => {
    const promises = [x.data(), x.bytes(), held[3].tolist()];
    const host = ww.randn([2 ** 20]);
    promises.push(host.to(device).data());
    if (onCuda) {
      const [stream, event, graph] = held.slice(-4);
      graph.launch();
      promises.push(stream.synchronize(), event.synchronize(), stream.record().elapsedMs(event));
    }
    return promises;
  };
  const busy = () => { for (;;) x.to("bfloat16").dataSync(); };
`;

interface Way {
  name: string;
  source: string;
  /** The exit code, or the signal that ended it. Default: 0 */
  by?: number | NodeJS.Signals;
  stdout?: string;
  /** In what it says; without this it says nothing. */
  stderr?: string;
}

const inMain: Way[] = [
  { name: "running out of work", source: "" },
  {
    name: "running out of work after what was pending",
    source: 'Promise.all(pend()).then(() => console.log("done"));',
    stdout: "done\n",
  },
  { name: "process.exitCode", source: "pend(); process.exitCode = 4;", by: 4 },
  { name: "process.exit() with promises pending", source: "pend(); process.exit(3);", by: 3 },
  {
    name: "process.exit() in a then-handler",
    source: "const [first] = pend(); first.then(() => process.exit(3));",
    by: 3,
  },
  {
    name: "process.exit() in a callback",
    source: "pend(); setTimeout(() => process.exit(3), 2);",
    by: 3,
  },
  {
    name: "process.exit() in an exit handler, after tensors were used there",
    source: 'pend(); process.on("exit", () => { x.dataSync(); process.exit(6); });',
    by: 6,
  },
  {
    name: "an uncaught exception",
    source: 'pend(); setImmediate(() => { throw new Error("on purpose"); });',
    by: 1,
    stderr: "on purpose",
  },
  {
    name: "an unhandled rejection",
    source: 'const [first] = pend(); first.then(() => { throw new Error("on purpose"); });',
    by: 1,
    stderr: "on purpose",
  },
  {
    name: "SIGTERM, handled",
    source: `process.on("SIGTERM", () => process.exit(5)); pend();
      process.kill(process.pid, "SIGTERM"); setInterval(ignore, 1000);`,
    by: 5,
  },
  {
    name: "SIGTERM amid a call",
    source: `const { Worker } = await import("node:worker_threads");
      const code = 'setTimeout(() => process.kill(process.pid, "SIGTERM"), 100)';
      new Worker(code, { eval: true }).on("online", busy);`,
    by: "SIGTERM",
  },
];

const onCuda: Way[] = [
  {
    name: "process.exit() amid a capture",
    source: "pend(); ww.CudaGraph.capture(() => { x.clone(); process.exit(3); });",
    by: 3,
  },
];

// `worker` has the runtime and holds the same; `ended` resolves to its exit code. The program goes
// on to compute, and ends by itself.
const inWorker: Way[] = [
  { name: "by itself", source: 'work(""); console.log(await ended);', stdout: "0\n" },
  {
    name: "by process.exit() with promises pending",
    source: 'work("pend(); process.exit(7);"); console.log(await ended);',
    stdout: "7\n",
  },
  {
    name: "by an uncaught exception",
    source: `work('pend(); throw new Error("on purpose");');
      worker.on("error", ({ message }) => console.log(message)); console.log(await ended);`,
    stdout: "on purpose\n1\n",
  },
  {
    name: "by terminate() with promises pending",
    source: `work('pend(); post("pending"); setInterval(ignore, 1000);');
      worker.on("message", () => worker.terminate()); console.log(await ended);`,
    stdout: "1\n",
  },
  {
    name: "by terminate() amid a call",
    source: `work('pend(); post("busy"); busy();');
      worker.on("message", () => setTimeout(() => worker.terminate(), 20));
      console.log(await ended);`,
    stdout: "1\n",
  },
  {
    name: "by the end of the program, amid a call",
    source: `work('pend(); post("busy"); busy();'); worker.on("message", () => process.exit(8));
      await ended;`,
    by: 8,
  },
];

const inWorkerOnCuda: Way[] = [
  {
    name: "by terminate() amid a capture, which the others' work waits for",
    source: `work('ww.CudaGraph.capture(() => { x.clone(); post("capturing"); for (;;) {} });');
      worker.on("message", () => worker.terminate());
      console.log(await ended);
      await ww.CudaStream.default(device).synchronize();
      const { allocated } = ww.memoryStats(device);
      ww.ones([2 ** 20], { device }).dispose();
      await ww.CudaStream.default(device).synchronize();
      console.log(ww.memoryStats(device).allocated - allocated);`,
    stdout: "1\n0\n",
  },
  {
    name: "by terminate() while another stream uses memory that one of its tensors owns",
    source: `work(\`
        const options = { shape: [2 ** 20], dtype: "float32", device, owner: x };
        const y = ww.unsafeFromPointer(x.pointer, options);
        const other = new ww.CudaStream({ device });
        other.wait(ww.CudaStream.default(device).record());
        for (let i = 0; i < 10; i++) ww.withStream(other, () => y.fill(i));
        post("filling");
        setInterval(ignore, 1000);\`);
      worker.on("message", () => worker.terminate());
      console.log(await ended);`,
    stdout: "1\n",
  },
];

const withWorker = (device: Device) => `
  import { Worker } from "node:worker_threads";
  const device = "${device}";
  let worker;
  let ended;
  const work = (source) => {
    const code = 'import { parentPort } from "node:worker_threads";'
      + 'const ww = await import("@warpwright/runtime");'
      + 'const post = (message) => parentPort.postMessage(message);'
      + ${JSON.stringify(holding(device))} + source;
    worker = new Worker(code, { eval: true });
    ended = new Promise((done) => worker.on("exit", done).on("error", () => {}));
  };
`;

// After the worker's end.
const goesOn = `
  const y = ww.ones([2 ** 16], { device }).to("bfloat16");
  if ((await y.data())[2 ** 16 - 1] !== 1) throw new Error("wrong");
`;

export function describeEndings(device: Device): void {
  let installed: Installed;
  beforeAll(() => {
    installed = install({ addon: true });
  });
  afterAll(() => installed?.remove());

  function expectEnding(ending: Ending, { by = 0, stdout = "", stderr }: Way): void {
    const [status, signal] = typeof by === "number" ? [by, null] : [null, by];
    expect(ending).toMatchObject({ status, signal, stdout });
    if (stderr === undefined) expect(ending.stderr).toBe("");
    else expect(ending.stderr).toContain(stderr);
  }

  const ways = device === "cpu" ? inMain : [...inMain, ...onCuda];
  describe("[ND-17] a program that holds all it can ends by", () => {
    test.each(ways)("$name", (way) => {
      expectEnding(runProgram(installed, holding(device) + way.source), way);
    });
  });

  const workerWays = device === "cpu" ? inWorker : [...inWorker, ...inWorkerOnCuda];
  describe("[ND-17] a worker that holds all it can ends", () => {
    test.each(workerWays)("$name", (way) => {
      expectEnding(runProgram(installed, withWorker(device) + way.source + goesOn), way);
    });
  });
}
