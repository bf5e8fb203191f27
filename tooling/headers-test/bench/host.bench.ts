// npm run bench -- headers-test [--device cuda:N] [--json FILE]
//
// What a call costs the JavaScript thread, beside CUDA's own launch in the same run: from the call
// until it returns, the device being idle enough not to hold it up.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { rmsnorm } from "@warpwright/rmsnorm";
import { CudaGraph, CudaStream, type Device, empty, isAvailable, ones } from "@warpwright/runtime";
import { handleOf, streamFor } from "@warpwright/runtime/kernel";
import { machineLine, machineOf } from "@warpwright/testing";
import { native } from "../src/native.js";

// Fewer than the launches that a stream queues before it makes the host wait.
const callsPerRound = 200;
const rounds = 301;
// Until V8 has compiled what is measured for good: half a second.
const warmUpRounds = 500;
const graphKernels = 100;
const launchesPerRound = 10;

interface Row {
  name: string;
  medianUs: number;
  p10Us: number;
  p90Us: number;
  /** Median, less that of what CUDA alone takes for it. */
  overCudaUs?: number;
}

const { values } = parseArgs({
  options: { device: { type: "string", default: "cuda:0" }, json: { type: "string" } },
});
const device = values.device as Device;
if (!isAvailable(device)) throw new Error(`host.bench: ${device} is not available`);

const onGpu = device !== "cpu";
const stream = onGpu ? CudaStream.default(device) : undefined;
const x = ones([1, 64], { dtype: "bfloat16", device });
const weight = ones([64], { dtype: "bfloat16", device });
const out = empty([1, 64], { dtype: "bfloat16", device });

function measure(name: string, round: () => number): Row {
  for (let i = 0; i < warmUpRounds; i++) round();
  const times = Array.from({ length: rounds }, round).sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(share * (rounds - 1))] as number;
  return { name, medianUs: at(0.5), p10Us: at(0.1), p90Us: at(0.9) };
}

/** Microseconds a call; the device catches up after each round, outside the clock. */
function timed(call: () => void, calls = callsPerRound): () => number {
  return () => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < calls; i++) call();
    const elapsed = Number(process.hrtime.bigint() - start) / 1000 / calls;
    stream?.synchronizeSync();
    return elapsed;
  };
}

function cuda(count: number, nodes: number): () => number {
  return () => {
    const time = native.timeLaunches(handleOf(x), streamFor("bench", x.device), count, nodes);
    stream?.synchronizeSync();
    return time;
  };
}

const calls: Row[] = [
  measure(
    "rmsnorm with out",
    timed(() => rmsnorm(x, weight, { out })),
  ),
  measure(
    "rmsnorm, disposed",
    timed(() => rmsnorm(x, weight).dispose()),
  ),
  measure(
    "empty, disposed",
    timed(() => empty([1, 64], { device }).dispose()),
  ),
  measure(
    "view, disposed",
    timed(() => x.view(64).dispose()),
  ),
];
const rows: Row[] = [];
if (onGpu) {
  const launch = measure("CUDA: launch", cuda(callsPerRound, 0));
  rows.push(launch);
  for (const row of calls.slice(0, 2)) row.overCudaUs = row.medianUs - launch.medianUs;
}
rows.push(...calls);
if (onGpu) {
  const graph = CudaGraph.capture(() => {
    for (let i = 0; i < graphKernels; i++) rmsnorm(x, weight, { out });
  });
  const name = `graph of ${graphKernels} kernels`;
  const bare = measure(`CUDA: launch of a ${name}`, cuda(launchesPerRound, graphKernels));
  const ours = measure(
    `launch of a ${name}`,
    timed(() => graph.launch(), launchesPerRound),
  );
  rows.push(bare, { ...ours, overCudaUs: ours.medianUs - bare.medianUs });
}

const machine = machineOf(device);
console.log(machineLine(machine));
const fixed = (value: number | undefined) => (value === undefined ? "" : value.toFixed(2));
console.table(
  rows.map((row) => ({
    call: row.name,
    "median us": fixed(row.medianUs),
    p10: fixed(row.p10Us),
    p90: fixed(row.p90Us),
    "over CUDA": fixed(row.overCudaUs),
  })),
);
if (values.json !== undefined) {
  writeFileSync(values.json, JSON.stringify({ title: "host cost", machine, rows }, null, 2));
}
