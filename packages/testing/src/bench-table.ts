import type { BenchResult } from "./bench.js";

type Column = [heading: string, cell: (result: BenchResult) => string];

const columns: readonly Column[] = [
  ["case", ({ name }) => name],
  ["shape", ({ shape }) => shape.join("x")],
  ["dtype", ({ dtype }) => dtype],
  ["median us", ({ medianUs }) => medianUs.toFixed(2)],
  ["p10", ({ p10Us }) => p10Us.toFixed(2)],
  ["p90", ({ p90Us }) => p90Us.toFixed(2)],
  ["GB/s", ({ gbPerSecond }) => gbPerSecond.toFixed(1)],
  ["copy GB/s", ({ copyGbPerSecond }) => copyGbPerSecond.toFixed(1)],
  ["of copy", ({ shareOfCopy }) => `${(100 * shareOfCopy).toFixed(0)} %`],
];

/** The columns that read from the left: words; numbers stand under their last digit. */
const words = 3;

/** The results as aligned text columns, one line a case, each verified before it was timed. */
export function benchTable(results: readonly BenchResult[]): string {
  const headings = columns.map(([heading]) => heading);
  const rows = results.map((result) => columns.map(([, cell]) => cell(result)));
  const table = [headings, ...rows];
  const widths = headings.map((_, i) => Math.max(...table.map((row) => row[i]!.length)));
  const align = (cell: string, i: number) =>
    i < words ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!);
  return table.map((row) => row.map(align).join("  ").trimEnd()).join("\n");
}
