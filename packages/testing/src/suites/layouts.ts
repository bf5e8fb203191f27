// The same values in other places: a function's outputs do not depend on them.
import { randn, type Tensor, zeros } from "@warpwright/runtime";
import { describe, expect, test } from "vitest";

import { testDevices } from "../cuda.js";
import { bitsOf, type FloatDType, floatDTypes, valuesOf } from "../float64.js";
import { expanded, inputLayouts, misaligned } from "../layouts.js";
import { poisoned, withCanaries } from "../poison.js";
import { expectClose, tolerances } from "../tolerance.js";
import {
  type Callee,
  callWith,
  mapValues,
  namesOf,
  type Place,
  poisonedOutputs,
  randomInputs,
} from "./callee.js";
import { mayBe } from "./overlaps.js";

export interface LayoutOptions {
  /** Sizes of a row: within and beyond what the kernel reads at once, divisible and not. */
  sizes?: readonly number[];
  /**
   * Whether a GPU forms a row's sums in an order that depends on where the row lies, so that
   * results are compared within `tolerances.reduction` there. Default false.
   */
  sumsByAlignment?: boolean;
}

const layoutSizes = [8, 63, 640, 4096, 9000];
const guardedSizes = [1, 5, 8, 64, 769, 4095, 4096, 16391];

/**
 * Tests on all dtypes that each function gives the same results for inputs and outputs in any
 * layout and at any alignment, and writes nothing but its outputs.
 *
 * @example
 * import { rmsnorm, type RmsnormOptions } from "@warpwright/rmsnorm";
 * import type { Tensor } from "@warpwright/runtime";
 * import { calleeOf, rowParameter, rows, testLayouts } from "@warpwright/testing/vitest";
 *
 * const callee = calleeOf({
 *   op: "rmsnorm",
 *   inputs: { x: rows(), weight: rowParameter() },
 *   outputs: { out: rows() },
 *   call: (options: RmsnormOptions, x: Tensor, weight: Tensor) => rmsnorm(x, weight, options),
 * });
 * testLayouts([callee], { sizes: [7, 64] });
 */
export function testLayouts(callees: readonly Callee[], options: LayoutOptions = {}): void {
  const { sizes, sumsByAlignment = false } = options;
  describe.each(testDevices())("layouts on %s", (device) => {
    describe.each(floatDTypes)("%s", (dtype) => {
      const trials = callees.map((callee) => new Trial(callee, { dtype, device }, sumsByAlignment));
      const each = test.each(trials.map((trial) => [trial.callee.name, trial] as const));

      describe.each(inputLayouts.map(({ name, make }) => [name, make] as const))(
        "%s",
        (_, make) => {
          each("%s: the same as contiguous", (__, trial) =>
            trial.expectAnyLayout(make, sizes ?? layoutSizes),
          );
        },
      );
      each("%s: rows on a grid of two to four dimensions", (_, trial) => trial.expectGrids());
      each("%s: expanded rows are read where they are", (_, trial) => trial.expectExpanded());
      each("%s: misaligned, each tensor by itself", (_, trial) => trial.expectMisaligned());
      each("%s: nothing but the outputs is written", async (_, trial) => {
        for (const size of sizes ?? guardedSizes) await trial.expectCanaries(size);
      });
      const inPlace = trials.filter(({ callee }) => inPlaceInputs(callee).length > 0);
      test.each(inPlace.map((trial) => [trial.callee.name, trial] as const))(
        "%s: parts of a fused tensor, in place, leave the others alone",
        async (_, trial) => {
          for (const input of inPlaceInputs(trial.callee)) await trial.expectInPlace(input);
        },
      );
      const shared = trials.filter(({ callee }) => namesOf(callee.inputs, "parameter").length > 0);
      test.each(shared.map((trial) => [trial.callee.name, trial] as const))(
        "%s: a strided parameter is the dense one",
        (_, trial) => trial.expectStridedParameters(),
      );
    });
  });
}

/** The inputs of rows that the first output may be exactly. */
function inPlaceInputs(callee: Callee): string[] {
  const [out] = Object.keys(callee.outputs);
  return namesOf(callee.inputs, "rows").filter((name) => mayBe(callee, out!, name));
}

type Tensors = Record<string, Tensor>;
type Make = (x: Tensor) => Tensor;

/** What a call left in an output. */
interface Result {
  bits: string;
  values: Float64Array;
  dtype: FloatDType;
}

async function resultOf(output: Tensor): Promise<Result> {
  const dtype = output.dtype as FloatDType;
  return { bits: await bitsOf(output), values: valuesOf(output), dtype };
}

/** A function on one dtype and device. */
class Trial {
  /** Whether results are the same to the bit wherever tensors lie. */
  readonly exact: boolean;

  constructor(
    readonly callee: Callee,
    readonly place: Place,
    sumsByAlignment: boolean,
  ) {
    this.exact = place.device === "cpu" || !sumsByAlignment;
  }

  inputs(outer: readonly number[], size: number): Tensors {
    return randomInputs(this.callee, outer, size, this.place);
  }

  outputs(outer: readonly number[], size: number): Tensors {
    return poisonedOutputs(this.callee, outer, size, this.place);
  }

  /** What is in all outputs, those that are given, after a call. */
  async results(inputs: Tensors, outputs: Tensors): Promise<Result[]> {
    callWith(this.callee, { ...this.callee.more(this.place.device), ...inputs, ...outputs });
    return Promise.all(Object.values(outputs).map(resultOf));
  }

  expectSame(found: readonly Result[], plain: readonly Result[]): void {
    if (this.exact) {
      expect(found.map(({ bits }) => bits)).toEqual(plain.map(({ bits }) => bits));
      return;
    }
    expect(found.length).toBe(plain.length);
    for (const [i, { values, dtype }] of found.entries()) {
      expectClose(values, plain[i]!.values, { dtype, ...tolerances.reduction[dtype] });
    }
  }

  /** With the tensors of rows, and only those, made anew. */
  mapRows(tensors: Tensors, make: Make): Tensors {
    const rows = namesOf({ ...this.callee.inputs, ...this.callee.outputs }, "rows");
    return mapValues(tensors, (tensor, name) => (rows.includes(name) ? make(tensor) : tensor));
  }

  async expectAnyLayout(make: Make, sizes: readonly number[]): Promise<void> {
    for (const size of sizes) {
      const inputs = this.inputs([3, 4], size);
      const plain = await this.results(inputs, this.outputs([3, 4], size));
      const laidOut = this.mapRows(inputs, make);
      const outputs = this.mapRows(this.outputs([3, 4], size), make);
      this.expectSame(await this.results(laidOut, outputs), plain);
      const fresh = callWith(this.callee, { ...this.callee.more(this.place.device), ...laidOut });
      this.expectSame([await resultOf(fresh)], plain.slice(0, 1));
    }
  }

  // Views of a wider tensor with 2 and 3 dimensions of rows, and one of them of 1; with 4, which do
  // not collapse, by way of a copy.
  async expectGrids(): Promise<void> {
    const outer = [2, 3, 4, 5];
    const views: ((x: Tensor) => Tensor)[] = [
      (x) => x.select(0, 1).select(0, 1),
      (x) => x.select(0, 1).transpose(0, 2),
      (x) => x.permute([3, 1, 0, 2, 4]),
      (x) => x.transpose(0, 1),
      (x) => x.narrow(3, 0, 1).narrow(2, 1, 2),
    ];
    const widen = (x: Tensor) => {
      const beside = zeros([...x.shape.slice(0, -1), 2 * x.shape.at(-1)!], this.place);
      return beside.narrow(-1, x.shape.at(-1)!, x.shape.at(-1)!).copyFrom(x);
    };
    const wide = this.mapRows(this.inputs(outer, 48), widen);
    for (const view of views) {
      const inputs = this.mapRows(wide, view);
      const rows = view(zeros([...outer, 1])).shape.slice(0, -1);
      const dense = this.mapRows(inputs, (x) => x.clone());
      const plain = await this.results(dense, this.outputs(rows, 48));
      this.expectSame(await this.results(inputs, this.outputs(rows, 48)), plain);
      const outputs = this.mapRows(this.outputs(rows, 48), (out) =>
        view(widen(poisoned([...outer, out.shape.at(-1)!], this.place))),
      );
      this.expectSame(await this.results(inputs, outputs), plain);
    }
  }

  async expectExpanded(): Promise<void> {
    const inputs = this.inputs([], 100);
    const one = await this.results(inputs, this.outputs([], 100));
    const all = this.outputs([7], 100);
    await this.results(
      this.mapRows(inputs, (x) => expanded(x, 7)),
      all,
    );
    const last = Object.values(all).map((output) => resultOf(output.select(0, 6)));
    this.expectSame(await Promise.all(last), one);
  }

  async expectMisaligned(): Promise<void> {
    for (const size of [4096, 4095]) {
      const inputs = this.inputs([5], size);
      const plain = await this.results(inputs, this.outputs([5], size));
      for (let offset = 1; offset < 8; offset++) {
        const off = (tensors: Tensors, name: string) =>
          mapValues(tensors, (tensor, each) =>
            each === name ? misaligned(tensor, offset) : tensor,
          );
        for (const name of Object.keys({ ...inputs, ...this.callee.outputs })) {
          const found = await this.results(off(inputs, name), off(this.outputs([5], size), name));
          this.expectSame(found, plain);
        }
      }
    }
  }

  async expectCanaries(size: number): Promise<void> {
    const inputs = this.inputs([7], size);
    for (const [rowGuard, misalign] of [
      [0, 0],
      [1, 1],
      [8, 0],
      [3, 5],
    ] as const) {
      const guards = mapValues(this.outputs([7], size), ({ shape, dtype, device }) =>
        withCanaries(shape, { dtype, device, misalign, rowGuard: shape.length > 1 ? rowGuard : 0 }),
      );
      await this.results(
        inputs,
        mapValues(guards, ({ tensor }) => tensor),
      );
      await Promise.all(Object.values(guards).map((guard) => guard.check()));
      for (const guard of Object.values(guards)) guard.dispose();
    }
  }

  async expectInPlace(input: string): Promise<void> {
    const [out] = Object.keys(this.callee.outputs) as [string];
    const inputs = this.inputs([2, 5, 4], 32);
    const [x, outer] = [inputs[input]!, [2, 5, 4]];
    const fused = randn([2, 5, 3, 4, x.shape.at(-1)!], { seed: 8, ...this.place });
    const before = await bitsOf(fused.select(2, 2));
    for (const part of [0, 1]) {
      const given = fused.select(2, part);
      const plain = await this.results(
        { ...inputs, [input]: given.clone() },
        this.outputs(outer, 32),
      );
      const outputs = { ...this.outputs(outer, 32), [out]: given };
      this.expectSame(await this.results({ ...inputs, [input]: given }, outputs), plain);
    }
    expect(await bitsOf(fused.select(2, 2))).toBe(before);
  }

  async expectStridedParameters(): Promise<void> {
    const inputs = this.inputs([3], 24);
    const plain = await this.results(inputs, this.outputs([3], 24));
    const names = namesOf(this.callee.inputs, "parameter");
    const strided = mapValues(inputs, (tensor, name) =>
      names.includes(name) ? everySecond(tensor) : tensor,
    );
    this.expectSame(await this.results(strided, this.outputs([3], 24)), plain);
  }
}

/** A vector's values with gaps between them. */
function everySecond(tensor: Tensor): Tensor {
  const { shape, dtype, device } = tensor;
  return zeros([...shape, 2], { dtype, device })
    .select(1, 1)
    .copyFrom(tensor);
}
