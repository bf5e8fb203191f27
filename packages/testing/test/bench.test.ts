import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { full, type Tensor } from "@warpwright/runtime";
import { describe, expect, test } from "vitest";

import { type BenchCase, type BenchOptions, benchmark, quantile } from "../src/bench.js";
import { testDevices } from "../src/cuda.js";
import { lastLevelCacheBytes, machineLine, machineOf } from "../src/machine.js";
import type { Timer } from "../src/timer.js";
import { expectClose } from "../src/tolerance.js";

interface Buffers {
  x: Tensor;
  out: Tensor;
}

const shape = [16, 64];

/** out = x, and how often each of its functions was called, in `log`. */
function copyCase(log: string[], verifyAs = 3): BenchCase<Buffers> {
  return {
    name: "copy",
    shape,
    dtype: "float32",
    bytes: 2 * 16 * 64 * 4,
    setup(index, device) {
      log.push(`setup ${index}`);
      return { x: full(shape, 3, { device }), out: full(shape, 0, { device }) };
    },
    run({ x, out }) {
      log.push("run");
      out.copyFrom(x);
    },
    verify({ out }) {
      log.push("verify");
      expectClose(out, new Array(out.size).fill(verifyAs));
    },
    dispose({ x, out }) {
      log.push("dispose");
      x.dispose();
      out.dispose();
    },
  };
}

/** Takes given microseconds per call, window by window, in turns. */
function scripted(windows: number[], log: number[] = []): Timer {
  let next = 0;
  return async (enqueue, calls) => {
    log.push(calls);
    for (let call = 0; call < calls; call++) enqueue(call);
    return windows[next++ % windows.length]!;
  };
}

const quiet: BenchOptions = { print: () => {} };

describe("benchmark", () => {
  test("quotes the windows' median and percentiles, and the copy's speed", async () => {
    // Warm-up and trial of the work, of the copy, then five windows of both in turns.
    const times = [9, 10, 9, 5, 4, 8, 5, 8, 6, 8, 7, 8, 8, 8];
    const options = {
      ...quiet,
      rotateBytes: 1,
      windows: 5,
      windowMs: 0.04,
      timer: scripted(times),
    };
    const { title, results } = await benchmark("a title", [copyCase([])], options);
    expect(title).toBe("a title");
    expect(results).toEqual([
      {
        name: "copy",
        shape,
        dtype: "float32",
        bytes: 8192,
        medianUs: 6,
        p10Us: expect.closeTo(4.4, 12),
        p90Us: expect.closeTo(7.6, 12),
        gbPerSecond: expect.closeTo(8192 / 6 / 1000, 12),
        copyGbPerSecond: 1.024,
        shareOfCopy: expect.closeTo(8 / 6, 12),
      },
    ]);
  });

  test("fills a window with as many calls as the trial says", async () => {
    const calls: number[] = [];
    const timer = scripted([1, 10, 1, 100, 1, 1], calls);
    await benchmark("", [copyCase([])], {
      ...quiet,
      rotateBytes: 1,
      windows: 1,
      windowMs: 1,
      timer,
    });
    expect(calls).toEqual([1, 1, 1, 1, 100, 10]);
  });

  test("verifies the first and the last set before it times, and disposes all", async () => {
    const log: string[] = [];
    const timer: Timer = async () => {
      log.push("time");
      return 1;
    };
    await benchmark("", [copyCase(log)], { ...quiet, rotateBytes: 3 * 8192, windows: 1, timer });
    expect(log).toEqual([
      ...["setup 0", "setup 1", "setup 2", "run", "verify", "run", "verify"],
      ...["time", "time", "time", "time", "time", "time", "dispose", "dispose", "dispose"],
    ]);
  });

  test("each window goes on with the set after the last one's", async () => {
    const sets: number[] = [];
    const outs: Tensor[] = [];
    const counting: BenchCase<Buffers> = {
      ...copyCase([]),
      setup(index, device) {
        const buffers = copyCase([]).setup(index, device);
        outs.push(buffers.out);
        return buffers;
      },
      run({ x, out }) {
        sets.push(outs.indexOf(out));
        out.copyFrom(x);
      },
    };
    const options = { rotateBytes: 5 * 8192, windows: 3, windowMs: 0.002, timer: scripted([1]) };
    await benchmark("", [counting], { ...quiet, ...options });
    // Verified: the first and the last. Warm-up and trial: the first. Then two calls a window.
    expect(sets).toEqual([0, 4, 0, 0, 0, 1, 2, 3, 4, 0]);
  });

  test("a wrong result is not timed", async () => {
    const log: string[] = [];
    const timer: Timer = () => expect.fail("timed");
    const run = benchmark("", [copyCase(log, 4)], { ...quiet, rotateBytes: 1, timer });
    await expect(run).rejects.toThrow("values: 1024 of 1024 elements differ");
    expect(log.slice(-2)).toEqual(["dispose", "dispose"]);
  });

  test("prints aligned columns under the machine and writes the same as JSON", async () => {
    const directory = mkdtempSync(join(tmpdir(), "bench-"));
    const json = join(directory, "report.json");
    const printed: string[] = [];
    const timer = scripted([10]);
    const longer = { ...copyCase([]), name: "a longer name" };
    const options = {
      rotateBytes: 1,
      windows: 2,
      timer,
      json,
      print: (s: string) => printed.push(s),
    };
    const report = await benchmark("copies", [copyCase([]), longer], options);
    expect(printed).toEqual([
      [
        "copies",
        machineLine(report.machine),
        "case           shape  dtype    median us    p10    p90  GB/s  copy GB/s  of copy",
        "copy           16x64  float32      10.00  10.00  10.00   0.8        0.8    100 %",
        "a longer name  16x64  float32      10.00  10.00  10.00   0.8        0.8    100 %",
      ].join("\n"),
    ]);
    expect(JSON.parse(readFileSync(json, "utf8"))).toEqual(report);
    rmSync(directory, { recursive: true });
  });

  test("a case without bytes is refused", async () => {
    const run = benchmark("", [{ ...copyCase([]), bytes: 0 }], quiet);
    await expect(run).rejects.toMatchObject({
      code: "ERR_VALUE",
      message: "testing: expected bytes of copy to be positive, got 0",
    });
  });

  test.each(testDevices())("measures on %s", async (device) => {
    const options = { ...quiet, device, rotateBytes: 1e5, windows: 3, windowMs: 1 };
    const { results } = await benchmark("", [copyCase([])], options);
    const { p10Us, medianUs, p90Us, shareOfCopy } = results[0]!;
    expect(p10Us).toBeGreaterThan(0);
    expect(medianUs).toBeGreaterThanOrEqual(p10Us);
    expect(p90Us).toBeGreaterThanOrEqual(medianUs);
    expect(medianUs).toBeLessThan(1e5);
    expect(shareOfCopy).toBeGreaterThan(0.001);
  });
});

describe("quantile", () => {
  test.each([
    [[3], 0.9, 3],
    [[2, 1], 0.5, 1.5],
    [[5, 1, 3], 0.5, 3],
    [[0, 10, 20, 30, 40], 0.1, 4],
    [[0, 10, 20, 30, 40], 1, 40],
  ])("of %j at %d is %d", (values, share, wanted) => {
    expect(quantile(values, share)).toBeCloseTo(wanted, 12);
  });
});

describe("machineOf", () => {
  test.each(testDevices())("describes %s", (device) => {
    const machine = machineOf(device);
    expect(machine.commit).toMatch(/^([0-9a-f]{7,}\+?|unknown)$/);
    expect(machine.date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/);
    if (device === "cpu") expect(machine.device).toMatch(/, \d+ of \d+ threads$/);
    else expect(machine.driver).toMatch(/^(\d+\.[\d.]+|unknown)$/);
  });

  test("is one line", () => {
    const machine = {
      device: "H200",
      driver: "580.1",
      cuda: "13.0",
      commit: "abc1234",
      date: "now",
    };
    expect(machineLine(machine)).toBe("H200 | driver 580.1 | CUDA 13.0 | abc1234 | now");
  });
});

describe("lastLevelCacheBytes", () => {
  test("is at least a megabyte", () => {
    expect(lastLevelCacheBytes()).toBeGreaterThanOrEqual(2 ** 20);
  });
});
