// What the tests of refusals share: every function with good arguments, of which each test spoils
// one, and the words that errors have for what is no tensor.
import { type Device, ones, type Tensor } from "@warpwright/runtime";
import { type FloatDType, poisoned, valuesOf } from "@warpwright/testing";
import { expect, test } from "vitest";
import { expectFailure, wrong } from "../../../tooling/vitest/failures.js";
import { addRmsnorm, RMSNorm, rmsnorm } from "../src/index.js";

/** Arguments by name; `options` replaces all that are passed as options. */
export type Arguments = Record<string, unknown>;

/** A function under test. */
export interface Callee {
  /** Begins its messages. */
  op: string;
  /** Tensors that it reads, and those that it writes if given, in the order of their checks. */
  inputs: readonly string[];
  outputs: readonly string[];
  /** New arguments that it takes; outputs are poison. */
  good(device: Device, dtype?: FloatDType): Arguments;
  /** Returns a tensor that starts with 1 for good arguments. */
  call(args: Arguments): Tensor;
}

function tensorsFor(names: readonly string[], device: Device, dtype: FloatDType): Arguments {
  const made: Arguments = {};
  for (const name of names) {
    if (name === "weight") made[name] = ones([8], { dtype, device });
    else if (name === "rstd") made[name] = poisoned([2], { device });
    else if (/out$/i.test(name)) made[name] = poisoned([2, 8], { dtype, device });
    else made[name] = ones([2, 8], { dtype, device });
  }
  return made;
}

function optionsIn(rest: Arguments): never {
  return wrong("options" in rest ? rest["options"] : rest);
}

function calleeOf(
  op: string,
  inputs: readonly string[],
  outputs: readonly string[],
  call: Callee["call"],
): Callee {
  const names = [...inputs, ...outputs];
  return {
    ...{ op, inputs, outputs, call },
    good: (device, dtype = "float32") => tensorsFor(names, device, dtype),
  };
}

/** The functions that take tensors. */
export const callees: readonly Callee[] = [
  calleeOf("rmsnorm", ["x", "weight"], ["out", "rstd"], ({ x, weight, ...rest }) =>
    rmsnorm(wrong(x), wrong(weight), optionsIn(rest)),
  ),
  calleeOf(
    "addRmsnorm",
    ["x", "residual", "weight"],
    ["out", "residualOut", "rstd"],
    ({ x, residual, weight, ...rest }) =>
      addRmsnorm(wrong(x), wrong(residual), wrong(weight), optionsIn(rest)).out,
  ),
  calleeOf("RMSNorm.forward", ["x", "weight"], ["out", "rstd"], ({ x, weight, ...rest }) => {
    const norm = new RMSNorm(8);
    norm.weight = wrong(weight);
    return norm.forward(wrong(x), optionsIn(rest));
  }),
];

/** The constructor; what it makes is called once. */
export const moduleCallee: Callee = {
  op: "RMSNorm",
  inputs: [],
  outputs: [],
  good: (device) => ({ hiddenSize: 8, device }),
  call: ({ hiddenSize, ...rest }) => {
    const norm = new RMSNorm(wrong(hiddenSize), optionsIn(rest));
    return norm.forward(ones([2, 8], { device: rest["device"] as Device }));
  },
};

/** A call that has to fail. */
export interface Refusal {
  callee: Callee;
  /** The argument, and what is wrong with it. */
  fault: string;
  /** What replaces good arguments. */
  spoil: (good: Arguments) => Arguments;
  /** The code, a space, and the message. */
  error: string;
  /** Of the good arguments. Default "float32". */
  dtype?: FloatDType;
}

/** Tests that each is refused with its error, writes nothing, and leaves the next call alone. */
export function testRefusals(device: Device, refusals: readonly Refusal[]): void {
  test.each(refusals.map((refusal) => [refusal.callee.op, refusal.fault, refusal] as const))(
    "%s: %s",
    async (_, __, { callee, spoil, error, dtype }) => {
      const good = callee.good(device, dtype);
      await expectFailure(error, () => callee.call({ ...good, ...spoil(good) }));
      for (const name of callee.outputs) {
        expect(valuesOf(good[name] as Tensor).every(Number.isNaN)).toBe(true);
      }
      expect(valuesOf(callee.call(good))[0]).toBeCloseTo(1, 5);
    },
  );
}

/** Values that are no tensor, no number, …, and how errors describe them. */
export const kinds: readonly [described: string, value: unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["a number", 1],
  ["a bigint", 1n],
  ["a string", "x"],
  ["a boolean", true],
  ["a symbol", Symbol("x")],
  ["a function", () => 1],
  ["an array", [1, 2]],
  ["a Float32Array", new Float32Array(4)],
  ["an object", { shape: [2, 8], dtype: "float32" }],
  ["a promise", Promise.resolve(1)],
];

/** A refusal for each kind of value but those that the argument may be. */
export function kindRefusals(
  callee: Callee,
  argument: string,
  wanted: string,
  allowed: readonly string[],
): Refusal[] {
  const found = kinds.filter(([described]) => !allowed.includes(described));
  return found.map(([described, value]) => {
    const remedy =
      described === "a promise" && ["a Tensor", "an object"].includes(wanted)
        ? "; await it first"
        : "";
    const sentence = `expected ${argument} to be ${wanted}, got ${described}${remedy}`;
    return {
      callee,
      fault: `${argument} is ${described}`,
      spoil: () => ({ [argument]: value }),
      error: `ERR_KIND ${callee.op}: ${sentence}`,
    };
  });
}
