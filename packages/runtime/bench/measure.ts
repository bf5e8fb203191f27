// Timing of what is awaited, each beside the speed that it is held against, in turns.
import { performance } from "node:perf_hooks";
import { type Machine, machineLine, machineOf } from "../../testing/dist/index.js";
import type { Device } from "../dist/index.js";

export interface CopyCase {
  name: string;
  /** Bytes that one call moves. */
  bytes: number;
  /** One call, finished when it returns or resolves. */
  run(): unknown;
  /** Microseconds that the yardstick takes for the same bytes, measured now. */
  yardstick(): number | Promise<number>;
}

export interface CopyResult {
  name: string;
  bytes: number;
  /** Microseconds per call: median, and the 10th and 90th percentile. */
  medianUs: number;
  p10Us: number;
  p90Us: number;
  /** 1e9 bytes per second at the median. */
  gbPerSecond: number;
  yardstickGbPerSecond: number;
  /** gbPerSecond / yardstickGbPerSecond. */
  share: number;
}

export interface CopyReport {
  title: string;
  machine: Machine;
  yardstick: string;
  results: CopyResult[];
}

// A call for each kind of code path and page before the first timed one.
const warmUps = 2;
const windows = 9;
const windowUs = 50_000;

/** Microseconds that a call takes. */
export async function timed(run: () => unknown, calls = 1): Promise<number> {
  const start = performance.now();
  for (let call = 0; call < calls; call++) await run();
  return ((performance.now() - start) * 1000) / calls;
}

export async function measure({ name, bytes, run, yardstick }: CopyCase): Promise<CopyResult> {
  for (let call = 0; call < warmUps; call++) await run();
  await yardstick();
  const calls = Math.max(1, Math.floor(windowUs / (await timed(run))));
  const [times, yardsticks]: [number[], number[]] = [[], []];
  for (let window = 0; window < windows; window++) {
    times.push(await timed(run, calls));
    yardsticks.push(await yardstick());
  }
  const [p10Us, medianUs, p90Us] = quantiles(times);
  const [, yardstickUs] = quantiles(yardsticks);
  return {
    ...{ name, bytes, medianUs, p10Us, p90Us },
    // bytes / (us * 1e-6 s) / 1e9
    gbPerSecond: bytes / medianUs / 1000,
    yardstickGbPerSecond: bytes / yardstickUs / 1000,
    share: yardstickUs / medianUs,
  };
}

/** The 10th, 50th and 90th percentile. */
function quantiles(values: readonly number[]): [number, number, number] {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))]!;
  return [at(0.1), at(0.5), at(0.9)];
}

export function report(
  title: string,
  device: Device,
  yardstick: string,
  results: CopyResult[],
): CopyReport {
  const machine = machineOf(device);
  const headings = ["case", "MB", "median us", "p10", "p90", "GB/s", `${yardstick} GB/s`, "share"];
  const rows = results.map((result) => [
    result.name,
    ...[result.bytes / 1e6, result.medianUs, result.p10Us, result.p90Us].map((x) => x.toFixed(1)),
    ...[result.gbPerSecond, result.yardstickGbPerSecond].map((x) => x.toFixed(1)),
    `${(100 * result.share).toFixed(0)} %`,
  ]);
  const table = [headings, ...rows];
  const widths = headings.map((_, i) => Math.max(...table.map((row) => row[i]!.length)));
  const align = (cell: string, i: number): string =>
    i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!);
  console.log(`${title}\n${machineLine(machine)}`);
  for (const row of table) console.log(row.map(align).join("  "));
  return { title, machine, yardstick, results };
}
