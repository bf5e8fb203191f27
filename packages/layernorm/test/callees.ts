// layernorm's functions, for the suites that every kernel repeats.
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
  type AddLayernormOptions,
  addLayernorm,
  LayerNorm,
  type LayerNormOptions,
  type LayernormOptions,
  layernorm,
} from "../src/index.js";

const scalars: Record<string, ScalarOption> = { eps: { number: 1e-3, min: 0 } };
const affine = { weight: rowParameter(), bias: rowParameter() };
const statistics = { mean: rowStatistic(), rstd: rowStatistic() };

const layernormCallee = calleeOf({
  op: "layernorm",
  inputs: { x: rows(), ...affine },
  outputs: { out: rows(), ...statistics },
  options: scalars,
  unknown: [
    ["epsilon", '"eps"'],
    ["residualOut", '"rstd" or "out"'],
  ],
  call: (options: LayernormOptions, x: Tensor, weight: Tensor, bias: Tensor) =>
    layernorm(x, weight, bias, options),
});

const addLayernormCallee = calleeOf({
  op: "addLayernorm",
  inputs: { x: rows(), residual: rows(), ...affine },
  outputs: { out: rows(), residualOut: rows(), ...statistics },
  options: scalars,
  unknown: [["residual", '"residualOut"']],
  call: (o: AddLayernormOptions, x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor) =>
    addLayernorm(x, residual, weight, bias, o).out,
});

/** The functions that take tensors and options alike. */
export const functions: readonly Callee[] = [layernormCallee, addLayernormCallee];

const wrongX = "x with a last dimension of 8, got shape";

const forwardCallee = calleeOf({
  op: "LayerNorm.forward",
  inputs: {
    x: rows({
      refused: [
        ["x of another hidden size", [2, 9], `${wrongX} [2, 9]`],
        ["x without dimensions", [], `${wrongX} []`],
      ],
    }),
    ...affine,
  },
  outputs: { out: rows(), ...statistics },
  unknown: [["eps", '"mean" or "out"']],
  call(options: LayernormOptions, x: Tensor, weight: Tensor, bias: Tensor) {
    const norm = new LayerNorm(8);
    Object.assign(norm, { weight, bias });
    return norm.forward(x, options);
  },
});

/** And the module's method. */
export const callees: readonly Callee[] = [...functions, forwardCallee];

/** The constructor; what it makes is called once. */
export const moduleCallee = calleeOf({
  op: "LayerNorm",
  positional: ["hiddenSize"],
  more: (device: Device) => ({ hiddenSize: 8, device }),
  options: {
    hiddenSize: { number: 8, min: 1, integer: true, required: true },
    ...scalars,
    elementwiseAffine: { flag: true },
    bias: { flag: true },
    dtype: { dtype: "float16" },
    device: { device: "any" },
  },
  unknown: [["elementwise_affine", '"elementwiseAffine"']],
  first: 0, // the norm of equal values, and a bias of zeros
  call: (options: LayerNormOptions, hiddenSize: number) =>
    new LayerNorm(hiddenSize, options).forward(ones([2, 8], { device: options.device! })),
});
