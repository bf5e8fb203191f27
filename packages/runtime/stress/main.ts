// npm run stress -- [--device cuda:N] [--emulated] [--minutes M] [--actions N] [--seed S]
// [--workers W]
import { parseArgs } from "node:util";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import {
  CudaStream,
  type DeviceName,
  devices,
  emptyCache,
  isAvailable,
  memoryStats,
} from "@warpwright/runtime";
import { stress } from "./stress.js";
import type { Limits, World } from "./world.js";

interface Settings {
  seed: number;
  devices: DeviceName[];
  limits: Limits;
  minutes: number;
  actions: number;
  isAlone: boolean;
}

const minute = 60_000;

/** Ends the process with the first thing that goes wrong. */
function exitWith(problem: string): never {
  console.error(problem);
  process.exit(1);
}

function settings(): Settings & { workers: number } {
  const { values } = parseArgs({
    options: {
      device: { type: "string", default: "cuda:0" },
      emulated: { type: "boolean", default: false },
      minutes: { type: "string", default: "1" },
      actions: { type: "string", default: "Infinity" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      workers: { type: "string", default: "0" },
    },
  });
  const device = values.device as DeviceName;
  if (!isAvailable(device)) exitWith(`stress: ${device} cannot be used`);
  const others = devices().map((each) => each.device);
  return {
    seed: Number(values.seed),
    devices: [device, ...others.filter((other) => other !== "cpu" && other !== device)],
    // The emulator takes a tenth of a second for a million elements.
    limits: values.emulated
      ? { computed: 4096, copied: 2 ** 21 }
      : { computed: 2 ** 18, copied: 2 ** 23 },
    minutes: Number(values.minutes),
    actions: Number(values.actions),
    isAlone: values.workers === "0",
    workers: Number(values.workers),
  };
}

async function runOne({ minutes, actions, ...rest }: Settings): Promise<void> {
  const start = Date.now();
  let reported = start;
  const end = start + minutes * minute;
  const report = (world: World) => {
    if (Date.now() < reported + minute) return;
    reported = Date.now();
    print(rest.seed, world);
  };
  const until = (done: number) => done >= actions || Date.now() >= end;
  const world = await stress({ ...rest, until, report });
  print(rest.seed, world);
}

function print(seed: number, world: World): void {
  const counts = [...world.counts].sort(([, a], [, b]) => b - a);
  const memory = world.devices.map((device) => {
    const { allocated, peak, reserved } = memoryStats(device);
    return `${device} ${megabytes(allocated)} of ${megabytes(reserved)}, peak ${megabytes(peak)}`;
  });
  console.log(`seed ${seed}: ${world.actions} actions, ${world.graphs.length} graphs`);
  console.log(`  ${counts.map(([name, count]) => `${name} ${count}`).join(", ")}`);
  console.log(`  memory: ${memory.join("; ")}; RSS ${megabytes(process.memoryUsage.rss())}`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

/** In workers, with a seed each; memory is counted when all of them have ended. */
async function runMany({ workers, ...rest }: Settings & { workers: number }): Promise<void> {
  const ends = Array.from({ length: workers }, (_, i) => {
    const workerData: Settings = { ...rest, seed: rest.seed + i };
    const worker = new Worker(new URL(import.meta.url), { workerData });
    return new Promise<void>((done, fail) => {
      worker.on("error", fail).on("exit", (code) => {
        if (code === 0) done();
        else fail(new Error(`worker ${i} ended with ${code}`));
      });
    });
  });
  await Promise.all(ends);
  for (const device of rest.devices) {
    await CudaStream.default(device).synchronize();
    emptyCache(device);
    const { allocated } = memoryStats(device);
    if (allocated > 0) exitWith(`expected no memory of ${device} at the end, got ${allocated}`);
  }
}

process.on("unhandledRejection", (error) => exitWith(`unhandled: ${(error as Error).stack}`));
try {
  if (isMainThread) {
    const { workers, ...rest } = settings();
    console.log(`seed ${rest.seed}, ${rest.devices.join(" and ")}`);
    await (workers > 0 ? runMany({ workers, ...rest }) : runOne(rest));
    console.log("all as expected");
  } else {
    await runOne(workerData as Settings);
  }
} catch (error) {
  const { message, cause } = error as Error;
  exitWith(`${message}\n${cause instanceof Error ? cause.stack : ""}`);
}
