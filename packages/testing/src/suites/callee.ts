import { type Device, ones, randn, type Tensor, tensor } from "@warpwright/runtime";

import type { FloatDType } from "../float64.js";
import { poisoned } from "../poison.js";
import type { TensorArgument } from "./arguments.js";

/** Arguments by name; `options` replaces all that are passed as options. */
export type Arguments = Record<string, unknown>;

/**
 * An option that is no tensor: a good value that is not the default, and its bounds; `infinite` is
 * whether it may be Infinity.
 */
export type ScalarOption = { required?: boolean } & (
  | { number: number; min?: number; above?: number; integer?: boolean; infinite?: boolean }
  | { word: string; of: readonly string[]; not?: readonly string[] }
  | { flag: boolean }
  | { dtype: FloatDType }
  | { device: "any" }
);

/** A function under test. */
export interface Callee {
  /** Begins its messages. */
  op: string;
  /** Names it in the names of tests. */
  name: string;
  /** Tensors that it reads, and those that it writes if given, in the order of their checks. */
  inputs: Readonly<Record<string, TensorArgument>>;
  outputs: Readonly<Record<string, TensorArgument>>;
  /** Its other options. */
  options: Readonly<Record<string, ScalarOption>>;
  /** Options that it does not know, and the nearest that it does, as the error names them. */
  unknown: readonly (readonly [name: string, nearest: string])[];
  /** Names of the arguments before the options. */
  positional: readonly string[];
  /** The first element of its result where all inputs are ones. */
  first: number;
  /** Further arguments that it needs. */
  more(device: Device): Arguments;
  /** Calls it; returns its first output. */
  call(options: never, ...positional: never[]): Tensor;
}

/** A function's declaration; what is left out is empty. */
export type CalleeSettings = Pick<Callee, "op" | "call"> & Partial<Callee>;

/**
 * Declares a function for the suites that every kernel repeats.
 *
 * @param settings `positional` is by default all inputs that are no options; `first` is 1, and
 *   `name` is `op`
 * @example
 * import { rmsnorm, type RmsnormOptions } from "@warpwright/rmsnorm";
 * import type { Tensor } from "@warpwright/runtime";
 * import { calleeOf, rowParameter, rowStatistic, rows } from "@warpwright/testing/vitest";
 *
 * const callee = calleeOf({
 *   op: "rmsnorm",
 *   inputs: { x: rows(), weight: rowParameter() },
 *   outputs: { out: rows(), rstd: rowStatistic() },
 *   options: { eps: { number: 1e-5, min: 0 } },
 *   call: (options: RmsnormOptions, x: Tensor, weight: Tensor) => rmsnorm(x, weight, options),
 * });
 * console.log(callee.positional); // ["x", "weight"]
 */
export function calleeOf(settings: CalleeSettings): Callee {
  const { inputs = {} } = settings;
  const positional = Object.keys(inputs).filter((name) => !inputs[name]!.isOption);
  return {
    ...{ name: settings.op, inputs, outputs: {}, options: {}, unknown: [] },
    ...{ positional, first: 1, more: () => ({}) },
    ...settings,
  };
}

/**
 * The function with options of its own that every call has, such as those that choose an instance
 * of its kernel. For suites that compare its results with each other: `first` stays as it was.
 *
 * @example
 * import { rmsnorm, type RmsnormOptions } from "@warpwright/rmsnorm";
 * import type { Tensor } from "@warpwright/runtime";
 * import { calleeOf, rows, withOptions } from "@warpwright/testing/vitest";
 *
 * const callee = calleeOf({
 *   op: "rmsnorm",
 *   inputs: { x: rows() },
 *   outputs: { out: rows() },
 *   call: (options: RmsnormOptions, x: Tensor) => rmsnorm(x, null, options),
 * });
 * console.log(withOptions(callee, { casting: "llama" }).name); // rmsnorm { casting: llama }
 */
export function withOptions(callee: Callee, options: Arguments): Callee {
  const chosen = Object.entries(options).map(([name, value]) => `${name}: ${value}`);
  return {
    ...callee,
    name: `${callee.name} { ${chosen.join(", ")} }`,
    call: (given: never, ...positional: never[]) =>
      callee.call({ ...options, ...(given as Arguments) } as never, ...positional),
  };
}

/** A dtype and a device. */
export interface Place {
  dtype: FloatDType;
  device: Device;
}

/** New small arguments that the function takes: inputs are ones, outputs poison. */
export function goodArguments(
  callee: Callee,
  device: Device,
  dtype: FloatDType = "float32",
): Arguments {
  const made: Arguments = { ...callee.more(device) };
  for (const [name, argument] of Object.entries(callee.inputs)) {
    made[name] = ones(argument.shape([2], 8), placed(argument, { dtype, device }));
  }
  return { ...made, ...poisonedOutputs(callee, [2], 8, { dtype, device }) };
}

/** New outputs, all poison. */
export function poisonedOutputs(
  callee: Callee,
  outer: readonly number[],
  size: number,
  place: Place,
): Record<string, Tensor> {
  return mapValues(callee.outputs, (argument) =>
    poisoned(argument.shape(outer, size), placed(argument, place)),
  );
}

/** New normally distributed inputs; what all rows share has mean 1 and a fifth of the spread. */
export function randomInputs(
  callee: Callee,
  outer: readonly number[],
  size: number,
  place: Place,
  firstSeed = 1,
): Record<string, Tensor> {
  let seed = 100 * firstSeed;
  return mapValues(callee.inputs, (argument) => {
    const [shape, where] = [argument.shape(outer, size), placed(argument, place)];
    seed += 1;
    return argument.kind === "parameter"
      ? randomParameter(shape, where, seed)
      : randn(shape, { seed, ...where });
  });
}

/**
 * Values for what all rows share, such as a weight: normal, of mean 1 and a fifth of the spread.
 *
 * @example
 * import { randomParameter } from "@warpwright/testing/vitest";
 *
 * const weight = randomParameter([64], { dtype: "bfloat16", device: "cpu" });
 */
export function randomParameter(
  shape: readonly number[],
  { dtype, device }: Place,
  seed = 7,
): Tensor {
  const values = randn(shape, { seed }).dataSync() as Float32Array;
  return tensor(
    values.map((value) => 1 + 0.2 * value),
    { shape, dtype, device },
  );
}

/** Calls the function with arguments by name. */
export function callWith(callee: Callee, args: Arguments): Tensor {
  const rest = { ...args };
  const positional = callee.positional.map((name) => {
    delete rest[name];
    return args[name];
  });
  const options = "options" in rest ? rest["options"] : rest;
  return callee.call(options as never, ...(positional as never[]));
}

/** The names of the inputs or outputs of a kind. */
export function namesOf(
  tensors: Readonly<Record<string, TensorArgument>>,
  kind: TensorArgument["kind"],
): string[] {
  return Object.keys(tensors).filter((name) => tensors[name]!.kind === kind);
}

export function mapValues<From, To>(
  values: Readonly<Record<string, From>>,
  map: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, map(value, name)]),
  );
}

function placed({ dtype: rule }: TensorArgument, { dtype, device }: Place): Place {
  return { dtype: rule === "float32" ? "float32" : dtype, device };
}
