// rmsnorm's functions, for the suites that every kernel repeats.
import { type Device, ones, type Tensor } from "@warpwright/runtime";
import {
  type Callee,
  calleeOf,
  rowParameter,
  rowStatistic,
  rows,
  type ScalarOption,
} from "@warpwright/testing/vitest";
import {
  type AddRmsnormOptions,
  addRmsnorm,
  RMSNorm,
  type RMSNormOptions,
  type RmsnormOptions,
  rmsnorm,
} from "../src/index.js";

const scalars: Record<string, ScalarOption> = {
  eps: { number: 1e-5, min: 0 },
  weightOffset: { number: 0 },
  casting: { word: "llama", of: ["float32", "llama"], not: ["gemma", "float16"] },
};

const rmsnormCallee = calleeOf({
  op: "rmsnorm",
  inputs: { x: rows(), weight: rowParameter() },
  outputs: { out: rows(), rstd: rowStatistic() },
  options: scalars,
  unknown: [
    ["epsilon", '"eps"'],
    ["weight_offset", '"weightOffset"'],
    ["residualOut", '"rstd" or "out"'],
    ["weight", '"weightOffset"'],
  ],
  call: (options: RmsnormOptions, x: Tensor, weight: Tensor) => rmsnorm(x, weight, options),
});

const addRmsnormCallee = calleeOf({
  op: "addRmsnorm",
  inputs: { x: rows(), residual: rows(), weight: rowParameter() },
  outputs: { out: rows(), residualOut: rows(), rstd: rowStatistic() },
  options: scalars,
  unknown: [
    ["residual", '"residualOut"'],
    ["prenorm", '"stream"'],
  ],
  call: (options: AddRmsnormOptions, x: Tensor, residual: Tensor, weight: Tensor) =>
    addRmsnorm(x, residual, weight, options).out,
});

/** The functions that take tensors and options alike. */
export const functions: readonly Callee[] = [rmsnormCallee, addRmsnormCallee];

const wrongX = "x with a last dimension of 8, got shape";

const forwardCallee = calleeOf({
  op: "RMSNorm.forward",
  inputs: {
    x: rows({
      refused: [
        ["x of another hidden size", [2, 9], `${wrongX} [2, 9]`],
        ["x without dimensions", [], `${wrongX} []`],
      ],
    }),
    weight: rowParameter(),
  },
  outputs: { out: rows(), rstd: rowStatistic() },
  unknown: [
    ["eps", '"out"'],
    ["casting", '"rstd"'],
  ],
  call(options: RmsnormOptions, x: Tensor, weight: Tensor) {
    const norm = new RMSNorm(8);
    norm.weight = weight;
    return norm.forward(x, options);
  },
});

/** And the module's method. */
export const callees: readonly Callee[] = [...functions, forwardCallee];

/** The constructor; what it makes is called once. */
export const moduleCallee = calleeOf({
  op: "RMSNorm",
  positional: ["hiddenSize"],
  more: (device: Device) => ({ hiddenSize: 8, device }),
  options: {
    hiddenSize: { number: 8, min: 1, integer: true, required: true },
    ...scalars,
    elementwiseAffine: { flag: true },
    dtype: { dtype: "float16" },
    device: { device: "any" },
  },
  unknown: [
    ["elementwise_affine", '"elementwiseAffine"'],
    ["bias", '"eps"'],
    ["stream", '"eps" or "dtype"'],
  ],
  call: (options: RMSNormOptions, hiddenSize: number) =>
    new RMSNorm(hiddenSize, options).forward(ones([2, 8], { device: options.device! })),
});
