// What layernorm and addLayernorm share: checks, allocation, the native call.
import type { CudaStream, Tensor } from "@warpwright/runtime";
import {
  checkFloat32,
  checkLike,
  checkOptions,
  checkRowOutputs,
  checkRowParameter,
  checkRows,
  dtypeCode,
  handleOf,
  newTensor,
  type Operand,
  optionalHandle,
  runRows,
  type StreamHandle,
  streamFor,
} from "@warpwright/runtime/kernel";
import { native } from "./native.js";

export interface LayernormOptions {
  /** Added to the variance before the root, at least 0. Default 1e-5. */
  eps?: number | undefined;
  /** Receives mean(x): float32, of x's shape without the last dimension, or [rows]. */
  mean?: Tensor | undefined;
  /** Receives 1 / sqrt(var(x) + eps): like `mean`. */
  rstd?: Tensor | undefined;
  /** Written and returned instead of a new tensor: of x's shape, dtype and device; may be x. */
  out?: Tensor | undefined;
  /** Default: the device's current stream. */
  stream?: CudaStream | undefined;
}

export interface AddLayernormOptions extends LayernormOptions {
  /** Receives x + residual instead of a new tensor: like `out`; may be `residual` or x. */
  residualOut?: Tensor | undefined;
}

/** Tensors that scale and shift every row; null or undefined for none. */
export interface Affine {
  weight: Tensor | null | undefined;
  bias: Tensor | null | undefined;
}

// Types, not interfaces: only those are records of tensors to the compiler.
export type Outputs = { out: Tensor; residualOut: Operand };

const optionNames = ["eps", "mean", "rstd", "out", "stream"];
const addOptionNames = [...optionNames, "residualOut"];

export const defaultEps = 1e-5;

/** `residual` is undefined for layernorm, and checked otherwise. */
export function forward(
  op: string,
  x: Tensor,
  residual: { value: Tensor } | undefined,
  { weight, bias }: Affine,
  options: AddLayernormOptions,
): Outputs {
  checkOptions(op, options, residual ? addOptionNames : optionNames);
  // Read once: what has been checked is what is used, whatever the getters of an object return.
  const { eps = defaultEps, mean, rstd, out, residualOut, stream } = options;
  checkRows(op, "x", x);
  if (residual) checkLike(op, "residual", residual.value, x);
  if (weight !== null && weight !== undefined) checkRowParameter(op, "weight", weight, x);
  if (bias !== null && bias !== undefined) checkRowParameter(op, "bias", bias, x);
  checkFloat32(op, "eps", eps, 0);
  const handle = streamFor(op, x.device, stream);
  const inputs = { x, residual: residual?.value ?? null };
  const parameters = { weight: weight ?? null, bias: bias ?? null };
  const given = { outputs: { out, residualOut }, statistics: { mean, rstd } };
  checkRowOutputs(op, { inputs, parameters, ...given });

  const newOutput = (): Tensor => newTensor(x.shape, x.dtype, x.device, handle, op);
  const outputs: Outputs = {
    out: out ?? newOutput(),
    residualOut: residual ? (residualOut ?? newOutput()) : null,
  };
  const statistics = { mean: mean ?? null, rstd: rstd ?? null };
  const call: Call = { inputs, parameters, outputs, statistics };
  runRows(call, handle, (tensors, geometry) => launch(tensors, eps, handle, geometry));
  return outputs;
}

type Call = {
  inputs: { x: Tensor; residual: Operand };
  parameters: { weight: Operand; bias: Operand };
  outputs: Outputs;
  statistics: { mean: Operand; rstd: Operand };
};

function launch(
  { inputs: { x, residual }, parameters: { weight, bias }, outputs, statistics }: Call,
  eps: number,
  stream: StreamHandle | null,
  geometry: Float64Array,
): void {
  native().layernormFwd(
    handleOf(x),
    optionalHandle(residual),
    optionalHandle(weight),
    optionalHandle(bias),
    handleOf(outputs.out),
    optionalHandle(outputs.residualOut),
    optionalHandle(statistics.mean),
    optionalHandle(statistics.rstd),
    stream,
    geometry,
    dtypeCode(x.dtype),
    dtypeCode(weight?.dtype ?? x.dtype),
    dtypeCode(bias?.dtype ?? x.dtype),
    eps,
  );
}
