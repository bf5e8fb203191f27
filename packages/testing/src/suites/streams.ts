// What only a GPU can show of any kernel.
import { CudaGraph, CudaStream, type Device, type Tensor, zeros } from "@warpwright/runtime";
import { expect, test } from "vitest";

import { bitsOf, floatDTypes } from "../float64.js";
import {
  type Arguments,
  type Callee,
  callWith,
  mapValues,
  namesOf,
  poisonedOutputs,
  randomInputs,
} from "./callee.js";
import { describeCuda } from "./describe-cuda.js";

type Shape = readonly [rows: number, size: number];

export interface StreamOptions {
  /** One for each way in which the kernel shares a row out. */
  shapes?: readonly Shape[];
  /** Of a tensor that keeps a GPU busy for a while. */
  large?: Shape;
  /** As of `testLayouts`: a row's bits are compared where all rows lie alike. Default false. */
  sumsByAlignment?: boolean;
}

const defaultShapes: readonly Shape[] = [
  [300, 769],
  [200, 4096],
  [64, 40_000],
  [8, 131_072],
];

/** Elements of 16 bits that a GPU reads at once. */
const vectorSize = 8;

const device: Device = "cuda:0";
const place = { dtype: "bfloat16", device } as const;

/**
 * Tests on a GPU that a function's results are the same however often it is called and however many
 * rows there are, on streams of the caller's, in a captured graph, and where memory is given up
 * while it is in use.
 *
 * @example
 * import { rmsnorm, type RmsnormOptions } from "@warpwright/rmsnorm";
 * import type { Tensor } from "@warpwright/runtime";
 * import { calleeOf, rows, testStreams } from "@warpwright/testing/vitest";
 *
 * const callee = calleeOf({
 *   op: "rmsnorm",
 *   inputs: { x: rows() },
 *   outputs: { out: rows() },
 *   call: (options: RmsnormOptions, x: Tensor) => rmsnorm(x, null, options),
 * });
 * testStreams([callee], { shapes: [[7, 100]], large: [64, 64] });
 */
export function testStreams(
  callees: readonly Callee[],
  { shapes = defaultShapes, large = [8192, 8192], sumsByAlignment = false }: StreamOptions = {},
): void {
  describeCuda("streams, graphs and repetition", () => {
    const each = test.each(callees.map((callee) => [callee.name, callee] as const));

    each("XC-01, XC-03: %s in a graph, launched again with new inputs", async (_, callee) => {
      for (const shape of shapes) await expectCaptured(callee, shape);
    });

    test.each(
      callees.flatMap((callee) =>
        floatDTypes.map((dtype) => [callee.name, dtype, callee] as const),
      ),
    )("%s: 50 runs give the same bits, %s", async (_, dtype, callee) => {
      for (const [rows, size] of shapes) {
        const inputs = randomInputs(callee, [rows], size, { dtype, device });
        const run = () =>
          outputBits(callee, inputs, poisonedOutputs(callee, [rows], size, { dtype, device }));
        const first = await run();
        for (let i = 0; i < 50; i++) expect((await run()) === first).toBe(true);
      }
    });

    each("%s: a row's bits do not depend on how many rows there are", async (_, callee) => {
      for (const [, size] of shapes) {
        const alike = Math.ceil(size / vectorSize) * vectorSize;
        await expectRowsApart(callee, 133, sumsByAlignment ? alike : size);
      }
    });

    each("%s: a stream of the caller's, waited for by hand", (_, callee) =>
      expectOnStream(callee, large),
    );

    each("%s: memory that another stream uses is freed after that use", (_, callee) =>
      expectFreedAfterUse(callee, large),
    );
  });
}

/** The bits of the outputs after a call; they are disposed. */
async function outputBits(
  callee: Callee,
  inputs: Arguments,
  outputs: Record<string, Tensor>,
): Promise<string> {
  callWith(callee, { ...callee.more(device), ...inputs, ...outputs });
  const bits = await Promise.all(Object.values(outputs).map(bitsOf));
  for (const output of Object.values(outputs)) output.dispose();
  return bits.join();
}

// Both outputs of the caller's and a new one, whose memory is the graph's, are written in it.
async function expectCaptured(callee: Callee, [rows, size]: Shape): Promise<void> {
  const made = (seed: number) => randomInputs(callee, [rows], size, place, seed);
  const inputs = made(1);
  const outputs = poisonedOutputs(callee, [rows], size, place);
  const stream = new CudaStream({ device });
  const args = { ...callee.more(device), ...inputs };
  let fresh: Tensor | undefined;
  const graph = CudaGraph.capture(
    () => {
      callWith(callee, { ...args, ...outputs });
      fresh = callWith(callee, args);
    },
    { stream },
  );
  for (const seed of [2, 3]) {
    for (const [name, values] of Object.entries(made(seed))) {
      (inputs[name] as Tensor).copyFrom(values);
    }
    for (const output of Object.values(outputs)) output.fill(Number.NaN);
    graph.launch();
    const found = await Promise.all([...Object.values(outputs), fresh!].map(bitsOf));
    const wanted = await outputBits(callee, inputs, poisonedOutputs(callee, [rows], size, place));
    expect(found.slice(0, -1).join() === wanted).toBe(true);
    expect(found.at(-1) === found[0]).toBe(true);
  }
  graph.dispose();
  stream.dispose();
}

async function expectRowsApart(callee: Callee, rows: number, size: number): Promise<void> {
  const inputs = randomInputs(callee, [rows], size, place);
  const all = poisonedOutputs(callee, [rows], size, place);
  callWith(callee, { ...callee.more(device), ...inputs, ...all });
  const names = namesOf(callee.inputs, "rows");
  for (const row of [0, 1, rows - 1]) {
    const one = mapValues(inputs, (tensor, name) =>
      names.includes(name) ? tensor.narrow(0, row, 1) : tensor,
    );
    const alone = await outputBits(callee, one, poisonedOutputs(callee, [1], size, place));
    const wanted = Object.values(all).map((output) => bitsOf(output.narrow(0, row, 1)));
    expect(alone === (await Promise.all(wanted)).join()).toBe(true);
  }
}

async function expectOnStream(callee: Callee, [rows, size]: Shape): Promise<void> {
  const stream = new CudaStream({ device });
  const inputs = randomInputs(callee, [rows], size, place);
  const args = { ...callee.more(device), ...inputs };
  const wanted = await outputBits(callee, args, poisonedOutputs(callee, [rows], size, place));
  const outputs = poisonedOutputs(callee, [rows], size, place);
  await CudaStream.default(device).synchronize();
  for (let run = 0; run < 20; run++) callWith(callee, { ...args, ...outputs, stream });
  const fresh = callWith(callee, { ...args, stream });
  await stream.synchronize();
  const bits = await Promise.all(Object.values(outputs).map(bitsOf));
  expect(bits.join() === wanted).toBe(true);
  expect((await bitsOf(fresh)) === bits[0]).toBe(true);
  stream.dispose();
  expect(() => callWith(callee, { ...args, stream })).toThrow(
    `${callee.op}: stream has been disposed`,
  );
}

async function expectFreedAfterUse(callee: Callee, [rows, size]: Shape): Promise<void> {
  const stream = new CudaStream({ device });
  const inputs = randomInputs(callee, [rows], size, place);
  const args = { ...callee.more(device), ...inputs };
  const scratch = poisonedOutputs(callee, [rows], size, place);
  const wanted = await lastRows(callWith(callee, args), rows);
  for (let run = 0; run < 3; run++) {
    const copies = mapValues(inputs, (tensor) => tensor.clone());
    await CudaStream.default(device).synchronize();
    // Some ten milliseconds of work, behind which the call on the copies waits while their memory
    // is given up here and, were it free already, overwritten by the next allocation of its size.
    for (let busy = 0; busy < 200; busy++) callWith(callee, { ...args, ...scratch, stream });
    const out = callWith(callee, { ...args, ...copies, stream });
    for (const copy of Object.values(copies)) {
      copy.dispose();
      zeros(copy.shape, { dtype: copy.dtype, device }).dispose();
    }
    await CudaStream.default(device).synchronize();
    await stream.synchronize();
    expect((await lastRows(out, rows)) === wanted).toBe(true);
    out.dispose();
  }
  stream.dispose();
}

/** The rows that are read last. */
function lastRows(out: Tensor, rows: number): Promise<string> {
  const count = Math.min(rows, 64);
  return bitsOf(out.narrow(0, rows - count, count));
}
