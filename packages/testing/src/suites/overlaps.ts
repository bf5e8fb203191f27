// Every output with every other tensor, one element in common; and what may share memory.
import { type Device, ones, type Tensor, zeros } from "@warpwright/runtime";
import { describe, expect, test } from "vitest";

import { testDevices } from "../cuda.js";
import { valuesOf } from "../float64.js";
import { isAlike, type TensorArgument } from "./arguments.js";
import {
  type Arguments,
  type Callee,
  callWith,
  goodArguments,
  mapValues,
  namesOf,
} from "./callee.js";
import { type Refusal, testRefusals } from "./refusals.js";

/**
 * Tests that each function refuses outputs that share an element with another tensor, and takes
 * those that share none, and that its outputs may be exactly an input where that is declared.
 *
 * @example
 * import { rmsnorm, type RmsnormOptions } from "@warpwright/rmsnorm";
 * import type { Tensor } from "@warpwright/runtime";
 * import { calleeOf, rowParameter, rows, testOverlaps } from "@warpwright/testing/vitest";
 *
 * testOverlaps([
 *   calleeOf({
 *     op: "rmsnorm",
 *     inputs: { x: rows(), weight: rowParameter() },
 *     outputs: { out: rows() },
 *     call: (options: RmsnormOptions, x: Tensor, weight: Tensor) => rmsnorm(x, weight, options),
 *   }),
 * ]);
 */
export function testOverlaps(callees: readonly Callee[]): void {
  describe.each(testDevices())("overlaps on %s", (device) => {
    testRefusals(
      device,
      callees.flatMap((callee) => [
        ...overlapRefusals(callee, device),
        ...parameterRefusals(callee, device),
        ...twiceRefusals(callee),
        ...columnRefusals(callee, device),
      ]),
    );

    const each = test.each(callees.map((callee) => [callee.name, callee] as const));

    each("%s: two parts of one tensor may be an input and an output", (_, callee) => {
      const out = namesOf(callee.outputs, "rows")[0]!;
      const other = namesOf(callee.inputs, "rows")[0]!;
      const pairs: Pair[] = [
        [out, other],
        [other, out],
      ];
      for (const pair of pairs) {
        const args = besides(callee, pair, device);
        callWith(callee, args);
        expect(valuesOf(args[out] as Tensor).at(-1)).toBeCloseTo(callee.first, 5);
      }
    });

    each("%s: tensors that end where another begins", (_, callee) => {
      const args = adjacent(callee, device);
      callWith(callee, args);
      for (const name of namesOf(callee.outputs, "rows").slice(0, 1)) {
        expect(valuesOf(args[name] as Tensor).at(-1)).toBeCloseTo(callee.first, 5);
      }
      for (const name of Object.keys(callee.inputs)) {
        expect(new Set(valuesOf(args[name] as Tensor))).toEqual(new Set([1]));
      }
    });
  });
}

type Pair = readonly [out: string, other: string];

/** Each output with each input and with the outputs before it, as messages name them. */
function pairsOf({ inputs, outputs }: Callee): Pair[] {
  const names = Object.keys(outputs);
  return names.flatMap((out, i) => {
    // Of two outputs of rows the first is named first; a statistic comes before all that it meets.
    const isBehind = (other: string) => other in outputs && outputs[out]!.kind === "rows";
    const others = [...Object.keys(inputs), ...names.slice(0, i)];
    return others.map((other): Pair => (isBehind(other) ? [other, out] : [out, other]));
  });
}

function tensorOf({ inputs, outputs }: Callee, name: string): TensorArgument {
  return inputs[name] ?? outputs[name]!;
}

function errorFor(callee: Callee, [out, other]: Pair): string {
  const exact = mayBe(callee, out, other) ? ", or to be exactly it" : "";
  return (
    `ERR_OVERLAP ${callee.op}: expected ${out} to share no memory with ${other}${exact}, ` +
    "got views that overlap"
  );
}

/** Whether an output may be exactly the input. */
export function mayBe({ inputs, outputs }: Callee, out: string, input: string): boolean {
  const [written, read] = [outputs[out]!, inputs[input]];
  if (read === undefined) return false;
  return written.mayBe?.includes(input) ?? isAlike(written, read);
}

function overlapRefusals(callee: Callee, device: Device): Refusal[] {
  return pairsOf(callee).flatMap((pair) => {
    const [out, other] = pair;
    const error = errorFor(callee, pair);
    const refusals: Refusal[] = [pair, [other, out] as const].map(([first, second]) => ({
      ...{ callee, error, fault: `${first} ends in ${second}` },
      spoil: () => touching(callee, [first, second], device),
    }));
    if (pair.every((name) => tensorOf(callee, name).kind === "rows")) {
      refusals.push(
        ...[pair, [other, out] as const].map((columns) => ({
          ...{ callee, error, fault: `a column is ${columns.join("'s last and ")}'s first` },
          spoil: () => sharedColumn(callee, columns, device),
        })),
      );
    }
    return refusals;
  });
}

/** The last element of one tensor is the first of the other; their neighbours touch nothing. */
function touching(callee: Callee, [first, second]: Pair, device: Device): Arguments {
  const [a, b] = [shapeOf(callee, first), shapeOf(callee, second)];
  const buffer = zeros([sizeOf(a) + sizeOf(b) - 1], { device });
  return {
    [first]: buffer.narrow(0, 0, sizeOf(a)).view(a),
    [second]: buffer.narrow(0, sizeOf(a) - 1, sizeOf(b)).view(b),
  };
}

/** Of two tensors side by side in the rows of one, the last column of one is the other's first. */
function sharedColumn(callee: Callee, [first, second]: Pair, device: Device): Arguments {
  const [a, b] = [shapeOf(callee, first).at(-1)!, shapeOf(callee, second).at(-1)!];
  const wide = zeros([...shapeOf(callee, first).slice(0, -1), a + b - 1], { device });
  return { [first]: wide.narrow(-1, 0, a), [second]: wide.narrow(-1, a - 1, b) };
}

/** Outputs that are exactly a parameter, where x is one row of its shape. */
function parameterRefusals(callee: Callee, device: Device): Refusal[] {
  const row = () => ({
    ...mapValues(callee.inputs, ({ shape }) => ones(shape([], 8), { device })),
    ...mapValues(callee.outputs, () => undefined),
  });
  return namesOf(callee.inputs, "parameter").flatMap((parameter) =>
    namesOf(callee.outputs, "rows").map((out): Refusal => {
      const spoil = () => {
        const args: Arguments = row();
        return { ...args, [out]: args[parameter] };
      };
      const error = errorFor(callee, [out, parameter]);
      return { callee, fault: `${out} is ${parameter}`, spoil, error };
    }),
  );
}

/** One tensor for two outputs of rows. */
function twiceRefusals(callee: Callee): Refusal[] {
  const [first, ...others] = namesOf(callee.outputs, "rows");
  return others.map((other) => ({
    callee,
    fault: `${first} is ${other}`,
    spoil: (good) => ({ [other]: good[first!] }),
    error: errorFor(callee, [first!, other]),
  }));
}

function columnRefusals(callee: Callee, device: Device): Refusal[] {
  const out = namesOf(callee.outputs, "rows")[0]!;
  return namesOf(callee.outputs, "statistic").map((statistic) => ({
    callee,
    fault: `${statistic} is a column of ${out}`,
    spoil: () => {
      const columns = shapeOf(callee, out).at(-1)!;
      const wide = zeros([2, 3 * columns], { device });
      return { [out]: wide.narrow(1, 0, columns), [statistic]: wide.select(1, 3) };
    },
    error: errorFor(callee, [statistic, out]),
  }));
}

/** Good arguments, two of which lie side by side in the rows of one tensor. */
function besides(callee: Callee, [left, right]: Pair, device: Device): Arguments {
  const [a, b] = [shapeOf(callee, left).at(-1)!, shapeOf(callee, right).at(-1)!];
  const wide = ones([...shapeOf(callee, left).slice(0, -1), a + b], { device });
  const sides = { [left]: wide.narrow(-1, 0, a), [right]: wide.narrow(-1, a, b) };
  return { ...goodArguments(callee, device), ...sides };
}

/** All tensors one after the other in one. */
function adjacent(callee: Callee, device: Device): Arguments {
  const names = Object.keys({ ...callee.inputs, ...callee.outputs });
  const sizes = names.map((name) => sizeOf(shapeOf(callee, name)));
  const buffer = ones([sizes.reduce((a, b) => a + b, 0)], { device });
  const tensors = buffer.split(sizes, 0);
  const views = names.map((name, i) => [name, tensors[i]!.view(shapeOf(callee, name))] as const);
  return { ...callee.more(device), ...Object.fromEntries(views) };
}

function shapeOf(callee: Callee, name: string): readonly number[] {
  return tensorOf(callee, name).shape([2], 8);
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
