import { writeFileSync } from "node:fs";

import { type Device, type DType, empty, type Tensor } from "@warpwright/runtime";

import { benchTable } from "./bench-table.js";
import { valueError } from "./errors.js";
import { lastLevelCacheBytes, type Machine, machineLine, machineOf } from "./machine.js";
import { type Timer, wallClockTimer } from "./timer.js";

/** One row of a benchmark. `Buffers` is what one call reads and writes. */
export interface BenchCase<Buffers = unknown> {
  name: string;
  /** Of the main input. */
  shape: readonly number[];
  dtype: DType;
  /** Bytes one call has to move: each input read once, each output written once. */
  bytes: number;
  /** Makes one set of inputs and outputs on the benchmark's device; called once per rotated set. */
  setup(index: number, device: Device): Buffers;
  /** One call, into outputs that are there: it must not read back or wait. */
  run(buffers: Buffers): void;
  /** Throws, or rejects, when what `run` left in the outputs is wrong. */
  verify(buffers: Buffers): void | Promise<void>;
  /** Disposes one set. */
  dispose(buffers: Buffers): void;
}

export interface BenchOptions {
  /** Default "cpu". */
  device?: Device;
  /**
   * Bytes that the rotated sets cover together, so that a call finds none of its data in a cache.
   * Default 300e6 on CUDA, about 6 times an H200's L2; 4 times the last-level cache on the CPU.
   */
  rotateBytes?: number;
  /** Timed windows per case. Default 15. */
  windows?: number;
  /** Milliseconds a window lasts at least. Default 20. */
  windowMs?: number;
  /** Calls a window has at least. Default 20 on CUDA, 1 on the CPU. */
  minCalls?: number;
  /** Default {@link wallClockTimer}. */
  timer?: Timer;
  /** File that receives the report as JSON. Default none. */
  json?: string;
  /** Receives the table. Default console.log. */
  print?: (text: string) => void;
}

/** What one case measured. */
export interface BenchResult {
  name: string;
  shape: readonly number[];
  dtype: DType;
  bytes: number;
  /** Microseconds per call: median, and the 10th and 90th percentile, of the windows. */
  medianUs: number;
  p10Us: number;
  p90Us: number;
  /** 1e9 bytes per second at the median. */
  gbPerSecond: number;
  /** The speed of a plain copy that moves the same bytes in the same run. */
  copyGbPerSecond: number;
  /** gbPerSecond / copyGbPerSecond. */
  shareOfCopy: number;
}

export interface BenchReport {
  title: string;
  machine: Machine;
  /** Bytes that the rotated sets covered at least. */
  rotateBytes: number;
  results: BenchResult[];
}

/**
 * Measures the cases and prints a table. Every case is verified before it is timed, on its first
 * and its last set. Its windows alternate with windows of a plain copy of the same bytes, so that
 * both see the machine in the same state.
 *
 * @throws whatever a case's `verify` throws; RangeError ERR_VALUE for a case without bytes
 * @example
 * import { empty, full, type Tensor } from "@warpwright/runtime";
 * import { benchmark, expectClose } from "@warpwright/testing";
 *
 * const shape = [64, 1024];
 * const clone = {
 *   name: "copyFrom",
 *   shape,
 *   dtype: "float32" as const,
 *   bytes: 2 * 64 * 1024 * 4, // x read, out written
 *   setup: () => ({ x: full(shape, 3), out: empty(shape) }),
 *   run: ({ x, out }: Record<"x" | "out", Tensor>) => void out.copyFrom(x),
 *   verify: ({ out }: { out: Tensor }) => expectClose(out, new Array(out.size).fill(3)),
 *   dispose: ({ x, out }: Record<"x" | "out", Tensor>) => [x, out].forEach((t) => t.dispose()),
 * };
 * await benchmark("copy", [clone], { rotateBytes: 4e6, windows: 3, windowMs: 1 });
 */
export async function benchmark<Buffers>(
  title: string,
  cases: readonly BenchCase<Buffers>[],
  options: BenchOptions = {},
): Promise<BenchReport> {
  const { device = "cpu", json, print = console.log } = options;
  const { rotateBytes = device === "cpu" ? 4 * lastLevelCacheBytes() : 300e6 } = options;
  const results: BenchResult[] = [];
  for (const benchCase of cases) {
    results.push(await measureCase(benchCase, device, rotateBytes, options));
  }
  const report: BenchReport = { title, machine: machineOf(device), rotateBytes, results };
  print(`${title}\n${machineLine(report.machine)}\n${benchTable(results)}`);
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
  return report;
}

async function measureCase<Buffers>(
  benchCase: BenchCase<Buffers>,
  device: Device,
  rotateBytes: number,
  options: BenchOptions,
): Promise<BenchResult> {
  const { name, shape, dtype, bytes } = benchCase;
  if (!(bytes > 0)) throw valueError(`expected bytes of ${name} to be positive, got ${bytes}`);
  // Two at least: a set that follows itself would be found in the cache.
  const count = Math.max(2, Math.ceil(rotateBytes / bytes));
  const sets: Buffers[] = [];
  const copies: { from: Tensor; to: Tensor }[] = [];
  try {
    while (sets.length < count) sets.push(benchCase.setup(sets.length, device));
    while (copies.length < count) copies.push(copyBuffers(bytes, device));
    for (const buffers of [sets[0]!, sets[count - 1]!]) {
      benchCase.run(buffers);
      await benchCase.verify(buffers);
    }
    const work = (call: number) => benchCase.run(sets[call % count]!);
    const copy = (call: number) => {
      const { from, to } = copies[call % count]!;
      to.copyFrom(from);
    };
    const [times, copyTimes] = await alternate([work, copy], device, options);
    const medianUs = quantile(times!, 0.5);
    const copyUs = quantile(copyTimes!, 0.5);
    return {
      ...{ name, shape, dtype, bytes, medianUs },
      p10Us: quantile(times!, 0.1),
      p90Us: quantile(times!, 0.9),
      // bytes / (us * 1e-6 s) / 1e9
      gbPerSecond: bytes / medianUs / 1000,
      copyGbPerSecond: bytes / copyUs / 1000,
      shareOfCopy: copyUs / medianUs,
    };
  } finally {
    for (const buffers of sets) benchCase.dispose(buffers);
    for (const { from, to } of copies) for (const buffer of [from, to]) buffer.dispose();
  }
}

/** Times the works in turns: window by window, so that a drift of the clock touches all alike. */
async function alternate(
  works: readonly ((call: number) => void)[],
  device: Device,
  options: BenchOptions,
): Promise<number[][]> {
  const { windows = 15, windowMs = 20, timer = wallClockTimer } = options;
  const { minCalls = device === "cpu" ? 1 : 20 } = options;
  const plans: { enqueue: (call: number) => void; calls: number; times: number[] }[] = [];
  for (const enqueue of works) {
    // The first window warms up (pages, code, clocks); the second tells how many calls fill one.
    await timer(enqueue, minCalls, device);
    const us = await timer(enqueue, minCalls, device);
    const calls = Math.max(minCalls, Math.ceil((windowMs * 1000) / us));
    plans.push({ enqueue, calls, times: [] });
  }
  for (let window = 0; window < windows; window++) {
    for (const { enqueue, calls, times } of plans) {
      // Each window goes on where the one before it stopped: its first sets are the coldest ones.
      const first = window * calls;
      times.push(await timer((call) => enqueue(first + call), calls, device));
    }
  }
  return plans.map(({ times }) => times);
}

/** A source and a target whose copy moves `bytes`: half of them read, half written. */
function copyBuffers(bytes: number, device: Device): { from: Tensor; to: Tensor } {
  const shape = [Math.max(1, Math.floor(bytes / 2))];
  const options = { dtype: "uint8", device } as const;
  // Written once: untouched pages of the CPU all are one page of zeros.
  return { from: empty(shape, options).fill(1), to: empty(shape, options).fill(0) };
}

/** The value below which `share` of the sorted values lie, by linear interpolation. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const position = share * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (position - below) * (sorted[above]! - sorted[below]!);
}
