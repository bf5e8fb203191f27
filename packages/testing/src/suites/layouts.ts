// The same values in other places: the bits of a function's outputs do not depend on them.
import { randn, type Tensor, zeros } from "@warpwright/runtime";
import { describe, expect, test } from "vitest";

import { testDevices } from "../cuda.js";
import { bitsOf, floatDTypes } from "../float64.js";
import { expanded, inputLayouts, misaligned } from "../layouts.js";
import { poisoned, withCanaries } from "../poison.js";
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
}

const layoutSizes = [8, 63, 640, 4096, 9000];
const guardedSizes = [1, 5, 8, 64, 769, 4095, 4096, 16391];

/**
 * Tests on all dtypes that each function gives the same bits for inputs and outputs in any layout
 * and at any alignment, and writes nothing but its outputs.
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
export function testLayouts(callees: readonly Callee[], { sizes }: LayoutOptions = {}): void {
  describe.each(testDevices())("layouts on %s", (device) => {
    describe.each(floatDTypes)("%s", (dtype) => {
      const trials = callees.map((callee) => new Trial(callee, { dtype, device }));
      const each = test.each(trials.map((trial) => [trial.callee.name, trial] as const));

      describe.each(inputLayouts.map(({ name, make }) => [name, make] as const))(
        "%s",
        (_, make) => {
          each("%s: the same bits as contiguous", (__, trial) =>
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

/** A function on one dtype and device. */
class Trial {
  constructor(
    readonly callee: Callee,
    readonly place: Place,
  ) {}

  inputs(outer: readonly number[], size: number): Tensors {
    return randomInputs(this.callee, outer, size, this.place);
  }

  outputs(outer: readonly number[], size: number): Tensors {
    return poisonedOutputs(this.callee, outer, size, this.place);
  }

  /** The bits of all outputs, those that are given, after a call. */
  async bits(inputs: Tensors, outputs: Tensors): Promise<string[]> {
    callWith(this.callee, { ...this.callee.more(this.place.device), ...inputs, ...outputs });
    return Promise.all(Object.values(outputs).map(bitsOf));
  }

  /** With the tensors of rows, and only those, made anew. */
  mapRows(tensors: Tensors, make: Make): Tensors {
    const rows = namesOf({ ...this.callee.inputs, ...this.callee.outputs }, "rows");
    return mapValues(tensors, (tensor, name) => (rows.includes(name) ? make(tensor) : tensor));
  }

  async expectAnyLayout(make: Make, sizes: readonly number[]): Promise<void> {
    for (const size of sizes) {
      const inputs = this.inputs([3, 4], size);
      const plain = await this.bits(inputs, this.outputs([3, 4], size));
      const laidOut = this.mapRows(inputs, make);
      const outputs = this.mapRows(this.outputs([3, 4], size), make);
      expect(await this.bits(laidOut, outputs)).toEqual(plain);
      const fresh = callWith(this.callee, { ...this.callee.more(this.place.device), ...laidOut });
      expect(await bitsOf(fresh)).toBe(plain[0]);
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
      const plain = await this.bits(dense, this.outputs(rows, 48));
      expect(await this.bits(inputs, this.outputs(rows, 48))).toEqual(plain);
      const outputs = this.mapRows(this.outputs(rows, 48), (out) =>
        view(widen(poisoned([...outer, out.shape.at(-1)!], this.place))),
      );
      expect(await this.bits(inputs, outputs)).toEqual(plain);
    }
  }

  async expectExpanded(): Promise<void> {
    const inputs = this.inputs([], 100);
    const one = await this.bits(inputs, this.outputs([], 100));
    const all = this.outputs([7], 100);
    await this.bits(
      this.mapRows(inputs, (x) => expanded(x, 7)),
      all,
    );
    const last = Object.values(all).map((output) => bitsOf(output.select(0, 6)));
    expect(await Promise.all(last)).toEqual(one);
  }

  async expectMisaligned(): Promise<void> {
    for (const size of [4096, 4095]) {
      const inputs = this.inputs([5], size);
      const plain = await this.bits(inputs, this.outputs([5], size));
      for (let offset = 1; offset < 8; offset++) {
        const off = (tensors: Tensors, name: string) =>
          mapValues(tensors, (tensor, each) =>
            each === name ? misaligned(tensor, offset) : tensor,
          );
        for (const name of Object.keys({ ...inputs, ...this.callee.outputs })) {
          const found = await this.bits(off(inputs, name), off(this.outputs([5], size), name));
          expect(found).toEqual(plain);
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
      await this.bits(
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
      const plain = await this.bits({ ...inputs, [input]: given.clone() }, this.outputs(outer, 32));
      const outputs = { ...this.outputs(outer, 32), [out]: given };
      expect(await this.bits({ ...inputs, [input]: given }, outputs)).toEqual(plain);
    }
    expect(await bitsOf(fused.select(2, 2))).toBe(before);
  }

  async expectStridedParameters(): Promise<void> {
    const inputs = this.inputs([3], 24);
    const plain = await this.bits(inputs, this.outputs([3], 24));
    const names = namesOf(this.callee.inputs, "parameter");
    const strided = mapValues(inputs, (tensor, name) =>
      names.includes(name) ? everySecond(tensor) : tensor,
    );
    expect(await this.bits(strided, this.outputs([3], 24))).toEqual(plain);
  }
}

/** A vector's values with gaps between them. */
function everySecond(tensor: Tensor): Tensor {
  const { shape, dtype, device } = tensor;
  return zeros([...shape, 2], { dtype, device })
    .select(1, 1)
    .copyFrom(tensor);
}
