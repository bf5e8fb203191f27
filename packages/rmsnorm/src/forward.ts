// What rmsnorm and addRmsnorm share: checks, allocation, the native call.
import type { CudaStream, Tensor } from "@warpwright/runtime";
import {
  checkDevice,
  checkDtype,
  checkFinite,
  checkFloat,
  checkOneOf,
  checkOptions,
  checkOverlap,
  checkShape,
  checkTensor,
  checkWritable,
  dtypeCode,
  fillOn,
  handleOf,
  newTensor,
  type Operand,
  packRows,
  type StreamHandle,
  shapeError,
  streamFor,
  throughDenseRows,
  unsupportedError,
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

export interface Outputs {
  out: Tensor;
  residualOut: Tensor | null;
}

const optionNames = ["eps", "weightOffset", "casting", "rstd", "out", "stream"];
const addOptionNames = [...optionNames, "residualOut"];
const castings: readonly Casting[] = ["float32", "llama"];

export const defaultEps = 1e-6;

// Columns are counted in an int on the native side, 16 bytes at a time.
const maxHiddenSize = 2 ** 30;

interface Call {
  x: Tensor;
  residual: Operand;
  weight: Operand;
  rstd: Operand;
  stream: StreamHandle | null;
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
  const { eps = defaultEps, weightOffset = 0, casting = "float32", rstd, stream } = options;
  const given = { out: options.out, residualOut: options.residualOut };
  checkInput(op, x);
  if (residual) checkLike(op, "residual", residual.value, x);
  if (weight !== null && weight !== undefined) checkWeight(op, weight, x);
  checkScalars(op, eps, weightOffset, casting);
  if (weightOffset !== 0 && (weight === null || weight === undefined)) {
    throw valueError(`${op}: expected a weight beside a weightOffset of ${weightOffset}`);
  }
  const call: Call = {
    x,
    residual: residual?.value ?? null,
    weight: weight ?? null,
    rstd: null,
    stream: streamFor(op, x.device, stream),
    eps,
    weightOffset,
    casting,
  };
  checkOutputs(op, call, given);
  if (rstd !== undefined) {
    checkRstd(op, rstd, call, given);
    call.rstd = rstd;
  }
  const out = given.out ?? newTensor(x.shape, x.dtype, x.device, call.stream, op);
  const residualOut = residual
    ? (given.residualOut ?? newTensor(x.shape, x.dtype, x.device, call.stream, op))
    : null;
  run(call, { out, residualOut });
  return { out, residualOut };
}

function checkInput(op: string, x: Tensor): void {
  checkTensor(op, "x", x);
  checkFloat(op, "x", x);
  if (x.shape.length === 0) {
    throw shapeError(`${op}: expected x to have at least 1 dimension, got shape []`);
  }
  if (hiddenSizeOf(x) > maxHiddenSize) {
    throw unsupportedError(
      `${op}: expected a hidden size of at most ${maxHiddenSize}, got ${hiddenSizeOf(x)}`,
    );
  }
}

/** A tensor that has x's shape, dtype and device. */
function checkLike(op: string, name: string, tensor: Tensor, x: Tensor): void {
  checkTensor(op, name, tensor);
  checkDtype(op, name, tensor, x.dtype);
  checkShape(op, name, tensor, x.shape);
  checkDevice(op, name, tensor, x.device);
}

/** The weight may be float32 beside a 16-bit x. */
function checkWeight(op: string, weight: Tensor, x: Tensor): void {
  checkTensor(op, "weight", weight);
  if (weight.dtype !== x.dtype) {
    checkDtype(op, "weight", weight, x.dtype === "float32" ? "float32" : [x.dtype, "float32"]);
  }
  checkShape(op, "weight", weight, [hiddenSizeOf(x)]);
  checkDevice(op, "weight", weight, x.device);
}

/** What the functions and the class take alike. */
export function checkScalars(
  op: string,
  eps: number,
  weightOffset: number,
  casting: Casting,
): void {
  checkFinite(op, "eps", eps, { min: 0 });
  checkFinite(op, "weightOffset", weightOffset);
  checkFloat32(op, "eps", eps, " of at least 0");
  checkFloat32(op, "weightOffset", weightOffset, "");
  checkOneOf(op, "casting", casting, castings);
}

function checkFloat32(op: string, name: string, value: number, limit: string): void {
  if (Number.isFinite(Math.fround(value))) return;
  throw valueError(`${op}: expected ${name} to be a finite float32 number${limit}, got ${value}`);
}

/** The outputs that the caller gave. */
interface Given {
  out: Tensor | undefined;
  residualOut: Tensor | undefined;
}

function checkOutputs(op: string, call: Call, { out, residualOut }: Given): void {
  if (out !== undefined) checkOutput(op, "out", out, call);
  if (residualOut !== undefined) checkOutput(op, "residualOut", residualOut, call);
  if (out && residualOut) {
    checkOverlap(op, "out", out, "residualOut", residualOut, { exact: false });
  }
}

// A row is read whole before it is written, so an output may be exactly x or the residual.
function checkOutput(
  op: string,
  name: string,
  output: Tensor,
  { x, residual, weight }: Call,
): void {
  checkLike(op, name, output, x);
  checkWritable(op, name, output);
  checkOverlap(op, name, output, "x", x, { exact: true });
  if (residual) checkOverlap(op, name, output, "residual", residual, { exact: true });
  if (weight) checkOverlap(op, name, output, "weight", weight, { exact: false });
}

function checkRstd(op: string, rstd: Tensor, call: Call, { out, residualOut }: Given): void {
  const { x, residual, weight } = call;
  checkTensor(op, "rstd", rstd);
  checkDtype(op, "rstd", rstd, "float32");
  const flat = rstd.shape.length === 1 && rstd.shape[0] === numRowsOf(x);
  if (!flat) checkShape(op, "rstd", rstd, x.shape.slice(0, -1));
  checkDevice(op, "rstd", rstd, x.device);
  checkWritable(op, "rstd", rstd);
  for (const [name, tensor] of Object.entries({ x, residual, weight, out, residualOut })) {
    if (tensor) checkOverlap(op, "rstd", rstd, name, tensor, { exact: false });
  }
}

function run(call: Call, { out, residualOut }: Outputs): void {
  const { x, residual, weight, rstd, stream } = call;
  if (x.size === 0) {
    if (rstd) fillOn(stream, rstd, Number.NaN); // the mean over no elements
    return;
  }
  if (!isDenseVector(weight) || rstd?.isContiguous() === false) {
    throughDenseRows([weight], [rstd], stream, ([denseWeight = null], [denseRstd = null]) => {
      run({ ...call, weight: denseWeight, rstd: denseRstd }, { out, residualOut });
    });
    return;
  }
  const geometry = packRows([x, residual, out, residualOut], [weight, rstd]);
  if (geometry !== null) {
    launch(call, out, residualOut, geometry);
    return;
  }
  throughDenseRows([x, residual], [out, residualOut], stream, (inputs, outputs) => {
    const [denseX, denseResidual = null] = inputs;
    const [denseOut, denseResidualOut = null] = outputs;
    const dense = { out: denseOut!, residualOut: denseResidualOut };
    run({ ...call, x: denseX!, residual: denseResidual }, dense);
  });
}

function launch(call: Call, out: Tensor, residualOut: Operand, geometry: Float64Array): void {
  const { x, residual, weight, rstd } = call;
  native().rmsnormFwd(
    handleOf(x),
    residual && handleOf(residual),
    weight && handleOf(weight),
    handleOf(out),
    residualOut && handleOf(residualOut),
    rstd && handleOf(rstd),
    call.stream,
    geometry,
    dtypeCode(x.dtype),
    dtypeCode(weight?.dtype ?? x.dtype),
    call.eps,
    call.weightOffset,
    castings.indexOf(call.casting),
  );
}

function isDenseVector(tensor: Operand): boolean {
  return tensor === null || tensor.strides[0] === 1 || tensor.size <= 1;
}

function hiddenSizeOf(x: Tensor): number {
  return x.shape[x.shape.length - 1]!;
}

function numRowsOf(x: Tensor): number {
  const hiddenSize = hiddenSizeOf(x);
  return hiddenSize === 0 ? x.shape.slice(0, -1).reduce((a, b) => a * b, 1) : x.size / hiddenSize;
}
