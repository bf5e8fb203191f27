import { availableParallelism } from "node:os";
import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { builtFor } from "../src/architectures.js";
import {
  CudaStream,
  type Device,
  defaultDevice,
  devices,
  explain,
  getNumThreads,
  isAvailable,
  ones,
  setNumThreads,
} from "../src/index.js";

describe("devices", () => {
  test("the CPU comes first", () => {
    const [cpu] = devices();
    expect(cpu).toMatchObject({
      device: "cpu",
      computeCapability: null,
      multiprocessorCount: availableParallelism(),
    });
    expect(cpu?.name).not.toBe("");
    expect(cpu?.totalMemory).toBeGreaterThan(2 ** 20);
  });

  test("CUDA devices follow in order", () => {
    const names = devices()
      .slice(1)
      .map(({ device }) => device);
    expect(names).toEqual(names.map((_, i) => `cuda:${i}`));
  });

  test("isAvailable, explain and defaultDevice agree", () => {
    expect(isAvailable("cpu")).toBe(true);
    expect(isAvailable()).toBe(isAvailable("cuda:0"));
    expect(defaultDevice()).toBe(isAvailable("cuda") ? "cuda:0" : "cpu");
    expect(explain()).toMatch(
      isAvailable("cuda") ? /^cuda:0 \(.+\) is available/ : /not available: \S/,
    );
    expect(isAvailable("cuda:999")).toBe(false);
  });

  test.each<[string, string[], [number, number], string | null]>([
    ["its own", ["80-real", "90a-real"], [8, 0], null],
    ["a later minor version", ["80-real"], [8, 9], null],
    [
      "an earlier minor version",
      ["86-real"],
      [8, 0],
      "this build has code for 86-real, not for 8.0",
    ],
    ["a later major version", ["80-real"], [9, 0], "this build has code for 80-real, not for 9.0"],
    ["PTX at a later version", ["80-virtual"], [12, 0], null],
    ["both at a later version", ["80"], [12, 0], null],
    ["an exact one", ["90a-real"], [9, 0], null],
    ["an exact one elsewhere", ["90a"], [10, 0], "this build has code for 90a, not for 10.0"],
    ["three digits", ["100-real", "120-real"], [12, 0], null],
    ["no record", [], [9, 0], null],
    ["too old", ["80"], [7, 5], "compute capability 8.0 or later is needed, this is 7.5"],
  ])("XC-07: code for %s", (_, archs, [major, minor], reason) => {
    expect(builtFor(archs, major, minor)).toBe(reason);
  });
});

describe("threads", () => {
  test("are set and told", async () => {
    const before = getNumThreads();
    setNumThreads(3);
    expect(getNumThreads()).toBe(3);
    expect(await ones([100_000]).to("float16").select(0, 99_999).item()).toBe(1);
    setNumThreads(before);
  });
});

const noGpu: Failure[] = [
  ["ERR_DEVICE CudaStream: cuda:0 is not available: *", () => new CudaStream()],
  ["ERR_DEVICE CudaStream.default: cuda:0 is not available: *", () => CudaStream.default("cuda")],
  ["ERR_DEVICE CudaStream.fromHandle: cuda:0 is not available: *", () => CudaStream.fromHandle(0n)],
];

test.skipIf(isAvailable("cuda")).each(noGpu)("%s without a GPU", async (...failure) => {
  await expectFailure(...failure);
});

const failures: Failure[] = [
  [
    "ERR_KIND isAvailable: expected device to be a string, got a number",
    () => isAvailable(wrong(0)),
  ],
  [
    'ERR_VALUE isAvailable: expected device to be "cpu", "cuda" or "cuda:N", got "gpu"',
    () => isAvailable("gpu" as Device),
  ],
  [
    "ERR_VALUE setNumThreads: expected count to be an integer from 1 to 1024, got 0",
    () => setNumThreads(0),
  ],
  [
    "ERR_VALUE setNumThreads: expected count to be an integer from 1 to 1024, got 1000000",
    () => setNumThreads(1e6),
  ],
  [
    "ERR_VALUE setNumThreads: expected count to be an integer from 1 to 1024, got 1.5",
    () => setNumThreads(1.5),
  ],
  [
    "ERR_KIND setNumThreads: expected count to be an integer from 1 to 1024, got a string",
    () => setNumThreads(wrong("2")),
  ],
  [
    "ERR_DEVICE CudaStream: expected a CUDA device, got cpu",
    () => new CudaStream({ device: "cpu" }),
  ],
  [
    "ERR_KIND CudaStream: expected device to be a string, got a number",
    () => new CudaStream({ device: wrong(0) }),
  ],
  [
    "ERR_KIND CudaStream: expected options to be an object, got a string",
    () => new CudaStream(wrong("cuda")),
  ],
  [
    'ERR_VALUE CudaStream: unknown option "prio", the nearest known is "priority"',
    () => new CudaStream(wrong({ prio: 1 })),
  ],
  [
    "ERR_KIND CudaStream: expected priority to be a number, got a string",
    () => new CudaStream({ priority: wrong("high") }),
  ],
  [
    "ERR_VALUE CudaStream: expected priority to be an integer, got 0.5",
    () => new CudaStream({ priority: 0.5 }),
  ],
  [
    "ERR_DEVICE CudaStream.default: expected a CUDA device, got cpu",
    () => CudaStream.default("cpu"),
  ],
  [
    "ERR_KIND CudaStream.fromHandle: expected handle to be a bigint, got a number",
    () => CudaStream.fromHandle(wrong(1)),
  ],
  [
    "ERR_VALUE CudaStream.fromHandle: expected handle to be an unsigned 64-bit integer, got -1",
    () => CudaStream.fromHandle(-1n),
  ],
  [
    'ERR_VALUE CudaStream.fromHandle: unknown option "dev", the nearest known is "device"',
    () => CudaStream.fromHandle(0n, wrong({ dev: 1 })),
  ],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
});
