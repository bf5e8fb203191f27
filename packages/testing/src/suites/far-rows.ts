// Tensors of more than 2^31 elements, of which only the first and the last row hold data.
import { type Device, empty, type Tensor, zeros } from "@warpwright/runtime";
import { expect, test } from "vitest";

import { bitsOf, type FloatDType } from "../float64.js";
import { type Callee, callWith, mapValues, namesOf, type Place, randomInputs } from "./callee.js";
import { describeCuda } from "./describe-cuda.js";
import { mayBe } from "./overlaps.js";

export type FarRows = readonly [name: string, dtype: FloatDType, rows: number, size: number];

const device: Device = "cuda:0";

/**
 * Tests on a GPU, with tensors of more than 2^31 elements, that the first and the last row come out
 * as they do alone, and every row between, which is zero, as one that is; also in place.
 *
 * @example
 * import { rmsnorm, type RmsnormOptions } from "@warpwright/rmsnorm";
 * import type { Tensor } from "@warpwright/runtime";
 * import { calleeOf, rows, testFarRows } from "@warpwright/testing/vitest";
 *
 * const callee = calleeOf({
 *   op: "rmsnorm",
 *   inputs: { x: rows() },
 *   outputs: { out: rows() },
 *   call: (options: RmsnormOptions, x: Tensor) => rmsnorm(x, null, options),
 * });
 * testFarRows([callee], [["long rows", "float16", 175_000, 12_288]]);
 */
export function testFarRows(callees: readonly Callee[], cases: readonly FarRows[]): void {
  describeCuda("beyond 2^31 elements", () => {
    const all = callees.flatMap((callee) =>
      cases.map(
        ([name, dtype, rows, size]) => [callee.name, name, rows, size, dtype, callee] as const,
      ),
    );
    test.each(all)("%s: %s [%i, %i]", async (_, __, rows, size, dtype, callee) => {
      await expectFarRows(callee, rows, size, { dtype, device });
    });
  });
}

async function expectFarRows(
  callee: Callee,
  rows: number,
  size: number,
  place: Place,
): Promise<void> {
  const ends = randomInputs(callee, [2], size, place);
  const blank = mapValues(ends, (end, name) => (isRows(callee, name) ? zerosLike(end) : end));
  const call = (inputs: Tensors, outputs: Tensors) => {
    callWith(callee, { ...callee.more(device), ...inputs, ...outputs });
    return outputs;
  };
  // The two rows alone, and two of zeros.
  const alone = call(ends, outputsOf(callee, 2, size, place));
  const between = call(blank, outputsOf(callee, 2, size, place));
  const check = async (outputs: Tensors) => {
    for (const [name, output] of Object.entries(outputs)) {
      await expectEnds(output, alone[name]!);
      await expectAllRows(output.narrow(0, 1, rows - 2), between[name]!.narrow(0, 0, 1));
    }
  };

  const inputs = mapValues(ends, (end, name) => spread(callee, name, end, rows));
  const outputs = call(inputs, outputsOf(callee, rows, size, place));
  await check(outputs);
  for (const output of Object.values(outputs)) output.dispose();

  const places = inPlace(callee);
  await check(
    call(
      inputs,
      mapValues(places, (input) => inputs[input]!),
    ),
  );
  for (const tensor of Object.values(inputs)) tensor.dispose();
}

type Tensors = Record<string, Tensor>;

/** New outputs of rows, all NaN. */
function outputsOf(callee: Callee, rows: number, size: number, { dtype }: Place): Tensors {
  const names = namesOf(callee.outputs, "rows");
  return Object.fromEntries(
    names.map((name) => {
      const shape = callee.outputs[name]!.shape([rows], size);
      return [name, empty(shape, { dtype, device }).fill(Number.NaN)];
    }),
  );
}

/** An input for each output that may be exactly one, and is then written in its place. */
function inPlace(callee: Callee): Record<string, string> {
  const free = namesOf(callee.inputs, "rows");
  const chosen: Record<string, string> = {};
  for (const output of namesOf(callee.outputs, "rows")) {
    const at = free.findIndex((input) => mayBe(callee, output, input));
    if (at >= 0) [chosen[output]] = free.splice(at, 1) as [string];
  }
  return chosen;
}

async function expectEnds(output: Tensor, ends: Tensor): Promise<void> {
  for (const [row, at] of [
    [0, 0],
    [1, output.shape[0]! - 1],
  ] as const) {
    const found = await bitsOf(output.narrow(0, at, 1));
    expect(found === (await bitsOf(ends.narrow(0, row, 1)))).toBe(true);
  }
}

function isRows({ inputs }: Callee, name: string): boolean {
  return inputs[name]!.kind === "rows";
}

function zerosLike({ shape, dtype }: Tensor): Tensor {
  return zeros(shape, { dtype, device });
}

/** Of two rows, the first and the last of many; another tensor as it is. */
function spread(callee: Callee, name: string, ends: Tensor, rows: number): Tensor {
  if (!isRows(callee, name)) return ends.clone();
  const all = zeros([rows, ...ends.shape.slice(1)], { dtype: ends.dtype, device });
  for (const [row, at] of [
    [0, 0],
    [1, rows - 1],
  ] as const) {
    all.narrow(0, at, 1).copyFrom(ends.narrow(0, row, 1));
  }
  return all;
}

/** Reads all rows back, 256 MiB at a time. */
async function expectAllRows(rows: Tensor, row: Tensor): Promise<void> {
  const step = Math.max(1, Math.floor(2 ** 28 / row.byteLength));
  const wanted = Buffer.concat(new Array(step).fill(await row.bytes()));
  for (let at = 0; at < rows.shape[0]!; at += step) {
    const found = await rows.narrow(0, at, Math.min(step, rows.shape[0]! - at)).bytes();
    const same = wanted.subarray(0, found.length).equals(found);
    expect(same, `rows from ${at + 1} on are those of zeros`).toBe(true);
  }
}
