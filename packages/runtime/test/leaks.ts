// What a program's memory does over many rounds of creating, computing and disposing.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import type { Device } from "../src/index.js";
import { type Installed, install } from "./installed.js";
import { longTest, resultOf, runProgram } from "./programs.js";

const MiB = 2 ** 20;
const rounds = isEmulated ? 3000 : 100_000;

// A sample of the resident memory after every hundredth part, garbage collected.
const program = (device: Device) => `
  import { setImmediate } from "node:timers/promises";
  const device = "${device}";
  const onCuda = device !== "cpu";
  const stream = onCuda ? ww.CudaStream.default(device) : null;
  const host = ww.randn([32, 32], { seed: 1 });
  const round = () => ww.tidy(() => {
    const x = host.to(device).clone();
    const y = ww.cat([x.transpose().contiguous(), ww.ones([8, 32], { device })]).to("bfloat16");
    y.narrow(0, 3, 4).fill(2);
    stream?.record().dispose();
  });
  const settle = async () => {
    if (onCuda) await stream.synchronize();
    gc();
    await setImmediate();
    if (onCuda) ww.emptyCache(device);
    const { allocated, free } = ww.memoryStats(device);
    return { allocated, free, resident: process.memoryUsage.rss() };
  };
  const samples = [];
  for (let part = 0; part < 100; part++) {
    for (let i = 0; i < ${rounds / 100}; i++) round();
    samples.push(await settle());
  }
  console.log(JSON.stringify(samples));
`;

interface Sample {
  allocated: number;
  free: number;
  resident: number;
}

/** Growth per sample of the line that fits best. */
function slopeOf(values: readonly number[]): number {
  const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  const middle = (values.length - 1) / 2;
  const average = mean(values);
  const products = values.map((value, i) => (i - middle) * (value - average));
  return mean(products) / mean(values.map((_, i) => (i - middle) ** 2));
}

export function describeLeaks(device: Device): void {
  let installed: Installed;
  beforeAll(() => {
    installed = install({ addon: true });
  });
  afterAll(() => installed?.remove());

  describe(`[ND-06] ${rounds} rounds of creating, computing and disposing`, () => {
    test("leave memory as it was", longTest, () => {
      // V8 may enlarge the space of its new objects at any time.
      const flags = ["--expose-gc", "--min-semi-space-size=1", "--max-semi-space-size=1"];
      const ending = runProgram(installed, program(device), { flags });
      const samples = resultOf<Sample[]>(ending).slice(20);
      const [first, last] = [samples[0], samples.at(-1)] as [Sample, Sample];
      expect(last.allocated).toBe(first.allocated);
      if (device !== "cpu") expect(last.free).toBeGreaterThanOrEqual(first.free - 2 * MiB);
      // The emulator never uses an address again.
      if (isEmulated) return;
      const grown = slopeOf(samples.map(({ resident }) => resident)) * samples.length;
      expect(grown).toBeLessThan(MiB);
    });
  });
}
