// What rmsnorm and addRmsnorm share: checks, allocation, the native call.
import type { CudaStream, Tensor } from "@warpwright/runtime";
import {
  checkFloat32,
  checkLike,
  checkOneOf,
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
  valueError,
} from "@warpwright/runtime/kernel";
import { native } from "./native.js";

/** How intermediate results are rounded, see `casting` of RmsnormOptions. */
export type Casting = "float32" | "llama";

export interface RmsnormOptions {
  /** Added to the mean square before the root, at least 0. Default 1e-6. */
  eps?: number | undefined;
  /** Added to the weight, in float32: 1 for Gemma's `1 + w`. Needs a weight. Default 0. */
  weightOffset?: number | undefined;
  /**
   * "float32" (default): everything in float32, one rounding at the end. "llama": `x * rstd` is
   * rounded to x's dtype and multiplied in that dtype by the weight, itself rounded to it with
   * its offset, as Hugging Face's Llama does.
   */
  casting?: Casting | undefined;
  /**
   * Receives 1 / sqrt(mean(x²) + eps): float32, of x's shape without the last dimension, or
   * [rows].
   */
  rstd?: Tensor | undefined;
  /** Written and returned instead of a new tensor: of x's shape, dtype and device; may be x. */
  out?: Tensor | undefined;
  /** Default: the device's current stream. */
  stream?: CudaStream | undefined;
}

export interface AddRmsnormOptions extends RmsnormOptions {
  /** Receives x + residual instead of a new tensor: like `out`; may be `residual` or x. */
  residualOut?: Tensor | undefined;
}

// Types, not interfaces: only those are records of tensors to the compiler.
export type Outputs = { out: Tensor; residualOut: Operand };

const optionNames = ["eps", "weightOffset", "casting", "rstd", "out", "stream"];
const addOptionNames = [...optionNames, "residualOut"];
const castings: readonly Casting[] = ["float32", "llama"];

export const defaultEps = 1e-6;

interface Scalars {
  eps: number;
  weightOffset: number;
  casting: Casting;
}

/** `residual` is undefined for rmsnorm, and checked otherwise. */
export function forward(
  op: string,
  x: Tensor,
  residual: { value: Tensor } | undefined,
  weight: Tensor | null | undefined,
  options: AddRmsnormOptions,
): Outputs {
  checkOptions(op, options, residual ? addOptionNames : optionNames);
  // Read once: what has been checked is what is used, whatever the getters of an object return.
  const { eps = defaultEps, weightOffset = 0, casting = "float32" } = options;
  const { rstd, out, residualOut, stream } = options;
  const scalars: Scalars = { eps, weightOffset, casting };
  checkRows(op, "x", x);
  if (residual) checkLike(op, "residual", residual.value, x);
  if (weight !== null && weight !== undefined) checkRowParameter(op, "weight", weight, x);
  checkScalars(op, scalars);
  if (weightOffset !== 0 && (weight === null || weight === undefined)) {
    throw valueError(`${op}: expected a weight beside a weightOffset of ${weightOffset}`);
  }
  const handle = streamFor(op, x.device, stream);
  const inputs = { x, residual: residual?.value ?? null };
  const parameters = { weight: weight ?? null };
  const given = { outputs: { out, residualOut }, statistics: { rstd } };
  checkRowOutputs(op, { inputs, parameters, ...given });

  const newOutput = (): Tensor => newTensor(x.shape, x.dtype, x.device, handle, op);
  const outputs: Outputs = {
    out: out ?? newOutput(),
    residualOut: residual ? (residualOut ?? newOutput()) : null,
  };
  const call = { inputs, parameters, outputs, statistics: { rstd: rstd ?? null } };
  runRows(call, handle, (tensors, geometry) => launch(tensors, scalars, handle, geometry));
  return outputs;
}

/** What the functions and the class take alike. */
export function checkScalars(op: string, { eps, weightOffset, casting }: Scalars): void {
  checkFloat32(op, "eps", eps, 0);
  checkFloat32(op, "weightOffset", weightOffset);
  checkOneOf(op, "casting", casting, castings);
}

interface Call {
  inputs: { x: Tensor; residual: Operand };
  parameters: { weight: Operand };
  outputs: Outputs;
  statistics: { rstd: Operand };
}

function launch(
  { inputs: { x, residual }, parameters: { weight }, outputs, statistics }: Call,
  { eps, weightOffset, casting }: Scalars,
  stream: StreamHandle | null,
  geometry: Float64Array,
): void {
  native().rmsnormFwd(
    handleOf(x),
    optionalHandle(residual),
    optionalHandle(weight),
    handleOf(outputs.out),
    optionalHandle(outputs.residualOut),
    optionalHandle(statistics.rstd),
    stream,
    geometry,
    dtypeCode(x.dtype),
    dtypeCode(weight?.dtype ?? x.dtype),
    eps,
    weightOffset,
    castings.indexOf(casting),
  );
}
