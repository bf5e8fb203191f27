import { CudaGraph, CudaStream, ones, randn, type Tensor, zeros } from "@warpwright/runtime";
import { bitsOf, poisoned, testDevices, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { RmsnormRhtAmax, type RmsnormRhtAmaxSamples, rmsnormRhtAmax } from "../src/index.js";
import { cachedPlan, type Plan } from "../src/plans.js";
import { compare, disposeAll, referenceOf } from "./support.js";

describe.each(testDevices())("RmsnormRhtAmax on %s", (device) => {
  const bf16 = { dtype: "bfloat16", device } as const;

  function tensorsOf(rows: number, hiddenSize = 256, seed = 1) {
    return {
      x: randn([rows, hiddenSize], { seed, ...bf16 }),
      weight: randn([hiddenSize], { seed: 2, ...bf16 }),
      out: poisoned([rows, hiddenSize], bf16),
      amax: poisoned([rows / 2], { device }),
    };
  }

  test("one object for any number of rows, the samples gone", () => {
    const samples = tensorsOf(4);
    const norm = new RmsnormRhtAmax({ ...samples, signs: 0xd7e8, eps: 1e-3, rowsPerCta: 2 });
    disposeAll(Object.values(samples));
    norm.compile();
    for (const rows of [4, 8, 2, 0]) {
      const tensors = tensorsOf(rows, 256, rows);
      const wanted = referenceOf(tensors.x, tensors.weight, {
        ...{ rowsPerCta: 2, signs: 0xd7e8, eps: 1e-3 },
      });
      norm.execute(tensors);
      compare(tensors as never, wanted);
    }
  });

  test("it gives the function's bits", async () => {
    const tensors = tensorsOf(6, 2048);
    const options = { eps: 1e-3, numThreads: 128, rowsPerCta: 2, signs: 5, nan: "ignore" } as const;
    tensors.x.select(0, 3).narrow(0, 40, 1).fill(Number.NaN);
    const wanted = rmsnormRhtAmax(tensors.x, tensors.weight, options);
    const norm = new RmsnormRhtAmax({ ...tensors, ...options });
    norm.compile();
    norm.execute({ ...tensors, stream: undefined });
    expect(await bitsOf(tensors.out)).toBe(await bitsOf(wanted.out));
    expect(await bitsOf(tensors.amax)).toBe(await bitsOf(wanted.amax));
    expect(valuesOf(tensors.amax).every(Number.isFinite)).toBe(true);
  });

  test.each([
    [256, 2048, 128, 2],
    [1184, 3072, 128, 8],
    [3, 768, undefined, 1],
  ])("%i rows of %i: %s threads, %i rows", (rows, hiddenSize, numThreads, rowsPerCta) => {
    const x = zeros([rows, hiddenSize], bf16);
    const amax = zeros([rows / rowsPerCta], { device });
    const norm = new RmsnormRhtAmax({ x, weight: zeros([hiddenSize], bf16), out: x, amax });
    expect([norm.numThreads, norm.rowsPerCta]).toEqual([numThreads, rowsPerCta]);
    expect(new RmsnormRhtAmax({ ...tensorsOf(4, 2048), numThreads: 64 }).numThreads).toBe(64);
  });

  const faults: [fault: string, change: Record<string, unknown>, error: string][] = [
    ["x of int32", { x: zeros([4, 256], { dtype: "int32", device }) }, "ERR_DTYPE expected x of"],
    ["17 columns", { x: zeros([4, 17], bf16) }, "ERR_SHAPE expected x with a last dimension"],
    ["a shorter weight", { weight: zeros([240], bf16) }, "ERR_SHAPE expected weight of shape"],
    ["no weight", { weight: undefined }, "ERR_KIND expected weight to be a Tensor"],
    ["a wider out", { out: zeros([4, 272], bf16) }, "ERR_SHAPE expected out of shape [4, 256]"],
    ["out of float32", { out: zeros([4, 256], { device }) }, "ERR_DTYPE expected out of dtype"],
    ["no out", { out: undefined }, "ERR_KIND expected out to be a Tensor"],
    ["a longer amax", { amax: zeros([4], { device }) }, "ERR_SHAPE expected amax of shape [2]"],
    ["amax of bfloat16", { amax: zeros([2], bf16) }, "ERR_DTYPE expected amax of dtype float32"],
    ["no amax", { amax: undefined }, "ERR_KIND expected amax to be a Tensor"],
  ];
  const settings: typeof faults = [
    ["threads of no warp", { numThreads: 48 }, "ERR_VALUE expected numThreads to be a multiple"],
    ["too many threads", { numThreads: 64 }, "ERR_VALUE expected 256 columns to give each"],
    ["3 rows of 4", { rowsPerCta: 3 }, "ERR_VALUE expected rowsPerCta to divide the 4 rows"],
    ["no rows", { rowsPerCta: 0 }, "ERR_VALUE expected rowsPerCta to be an integer of at least 1"],
    ["a negative eps", { eps: -1 }, "ERR_VALUE expected eps to be a finite number"],
    ["signs of 17 bits", { signs: 65_536 }, "ERR_VALUE expected signs to be a mask"],
    ["another nan", { nan: "drop" }, 'ERR_VALUE expected nan to be "propagate" or "ignore"'],
  ];

  test.each([...faults, ...settings])("samples: %s", (_, change, wanted) => {
    const norm = new RmsnormRhtAmax({ ...tensorsOf(4), ...change } as RmsnormRhtAmaxSamples);
    const [code, ...words] = wanted.split(" ");
    const message = expect.stringContaining(`RmsnormRhtAmax: ${words.join(" ")}`);
    const error = expect.objectContaining({ code, message });
    expect(() => norm.checkSupport()).toThrow(error);
    expect(() => norm.compile()).toThrow(error);
    expect([norm.numThreads, norm.rowsPerCta]).toEqual([undefined, undefined]);
  });

  test.each([
    ...faults.filter(([fault]) => fault !== "x of int32" && fault !== "17 columns"),
    ["x of float16", { x: zeros([4, 256], { dtype: "float16", device }) }, "ERR_DTYPE expected x"],
    ["272 columns", { x: zeros([4, 272], bf16) }, "ERR_SHAPE expected x with a last dimension of"],
    ["weight of float32", { weight: zeros([256], { device }) }, "ERR_DTYPE expected weight of"],
    ["5 rows", { x: zeros([5, 256], bf16) }, "ERR_VALUE expected rowsPerCta to divide the 5"],
    ["a stream that is none", { stream: 1 }, "ERR_KIND expected stream to be a CudaStream"],
    ["an option", { eps: 1 }, 'ERR_VALUE unknown option "eps"'],
  ] as typeof faults)("execute: %s", (_, change, wanted) => {
    const tensors = tensorsOf(4);
    const norm = new RmsnormRhtAmax({ ...tensors, rowsPerCta: 2 });
    norm.compile();
    const [code, ...words] = wanted.split(" ");
    const message = expect.stringContaining(`RmsnormRhtAmax.execute: ${words.join(" ")}`);
    const error = expect.objectContaining({ code, message });
    expect(() => norm.execute({ ...tensors, ...change } as never)).toThrow(error);
    for (const written of [tensors.out, tensors.amax]) {
      expect(valuesOf(written).every(Number.isNaN)).toBe(true);
    }
  });

  test("execute refuses an out that overlaps", () => {
    const both = zeros([5, 256], bf16);
    const tensors = { ...tensorsOf(4), x: both.narrow(0, 0, 4) };
    const norm = new RmsnormRhtAmax(tensors);
    norm.compile();
    const execute = (out: Tensor) => () => norm.execute({ ...tensors, out });
    expect(execute(both.narrow(0, 1, 4))).toThrow(expect.objectContaining({ code: "ERR_OVERLAP" }));
    execute(tensors.x)();
  });

  test("execute before compile, and compile twice", () => {
    const tensors = tensorsOf(2);
    const norm = new RmsnormRhtAmax(tensors);
    const message = "RmsnormRhtAmax.execute: expected compile to be called first";
    const error = expect.objectContaining({ code: "ERR_UNSUPPORTED", message });
    expect(() => norm.execute(tensors)).toThrow(error);
    norm.compile();
    norm.compile();
    norm.execute(tensors);
  });

  test.skipIf(device === "cpu")("executes in a graph, on a stream of the caller's", async () => {
    const tensors = tensorsOf(8);
    const norm = new RmsnormRhtAmax({ ...tensors, rowsPerCta: 2 });
    norm.compile();
    const stream = new CudaStream({ device });
    const graph = CudaGraph.capture(() => norm.execute({ ...tensors, stream }), { stream });
    const wanted = rmsnormRhtAmax(tensors.x, tensors.weight, { rowsPerCta: 2 });
    await CudaStream.default(device).synchronize();
    graph.launch(stream);
    await stream.synchronize();
    expect(await bitsOf(tensors.out)).toBe(await bitsOf(wanted.out));
    expect(await bitsOf(tensors.amax)).toBe(await bitsOf(wanted.amax));
    graph.dispose();
    stream.dispose();
  });
});

test("no object, and options that are none", () => {
  const kind = expect.objectContaining({ code: "ERR_KIND" });
  expect(() => new RmsnormRhtAmax(undefined as never)).toThrow(kind);
  const tensors = { x: ones([2, 16]), weight: ones([16]), out: ones([2, 16]), amax: ones([1]) };
  const message = expect.stringContaining('RmsnormRhtAmax: unknown option "rows"');
  expect(() => new RmsnormRhtAmax({ ...tensors, rows: 2 } as never)).toThrow(
    expect.objectContaining({ code: "ERR_VALUE", message }),
  );
});

describe("plans", () => {
  const plan: Plan = {
    ...({ device: "cpu", dtype: "bfloat16", weightDtype: "bfloat16" } as const),
    ...({ eps: 1e-5, numThreads: 0, rowsPerCta: 2, signs: 0, nan: "propagate" } as const),
    hiddenSize: 4096,
  };

  test("calls alike have one, whatever else", () => {
    const kept = cachedPlan({ ...plan });
    expect(cachedPlan({ ...plan })).toBe(kept);
  });

  test.each([
    ["device", "cuda:1"],
    ["dtype", "float16"],
    ["weightDtype", "float32"],
    ["hiddenSize", 4112],
    ["eps", 1e-6],
    ["numThreads", 128],
    ["rowsPerCta", 4],
    ["signs", 1],
    ["nan", "ignore"],
  ])("another %s is another", (key, value) => {
    const other = { ...plan, [key]: value } as Plan;
    expect(cachedPlan(other)).toBe(other);
    expect(cachedPlan({ ...plan })).not.toBe(other);
  });

  test("there is a limit to how many are kept", () => {
    const first = cachedPlan({ ...plan, eps: 0.5 });
    for (let i = 1; i <= 1024; i++) cachedPlan({ ...plan, eps: i });
    expect(cachedPlan({ ...plan, eps: 0.5 })).not.toBe(first);
  });
});
