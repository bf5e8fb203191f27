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
  /** Receives 1 / sqrt(mean(x²) + eps): float32, of x's shape without the last dimension, or [rows]. */
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
  const { eps = defaultEps, weightOffset = 0, casting = "float32" } = options;
  checkInput(op, x);
  if (residual) checkLike(op, "residual", residual.value, x);
  if (weight !== null && weight !== undefined) checkWeight(op, weight, x);
  checkScalars(op, eps, weightOffset, casting, weight);
  const call: Call = {
    x,
    residual: residual?.value ?? null,
    weight: weight ?? null,
    rstd: options.rstd ?? null,
    stream: streamFor(op, x.device, options.stream),
    eps,
    weightOffset,
    casting,
  };
  checkOutputs(op, call, options);

  const out = options.out ?? newTensor(x.shape, x.dtype, x.device, call.stream);
  const residualOut = residual
    ? (options.residualOut ?? newTensor(x.shape, x.dtype, x.device, call.stream))
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
export function checkWeight(op: string, weight: Tensor, x: Tensor): void {
  checkTensor(op, "weight", weight);
  if (weight.dtype !== x.dtype) {
    checkDtype(op, "weight", weight, x.dtype === "float32" ? "float32" : [x.dtype, "float32"]);
  }
  checkShape(op, "weight", weight, [hiddenSizeOf(x)]);
  checkDevice(op, "weight", weight, x.device);
}

function checkScalars(
  op: string,
  eps: number,
  weightOffset: number,
  casting: Casting,
  weight: Tensor | null | undefined,
): void {
  checkFinite(op, "eps", eps, { min: 0 });
  checkFinite(op, "weightOffset", weightOffset);
  checkOneOf(op, "casting", casting, castings);
  if (weightOffset !== 0 && (weight === null || weight === undefined)) {
    throw valueError(`${op}: expected a weight beside a weightOffset of ${weightOffset}`);
  }
}

// A row is read whole before it is written, so an output may be exactly x or the residual.
function checkOutputs(op: string, { x, residual, weight, rstd }: Call, options: AddRmsnormOptions) {
  const outputs = [
    { name: "out", tensor: options.out },
    { name: "residualOut", tensor: options.residualOut },
  ];
  for (const { name, tensor } of outputs) {
    if (tensor === undefined) continue;
    checkLike(op, name, tensor, x);
    checkWritable(op, name, tensor);
    checkOverlap(op, name, tensor, "x", x, { exact: true });
    if (residual) checkOverlap(op, name, tensor, "residual", residual, { exact: true });
    if (weight) checkOverlap(op, name, tensor, "weight", weight, { exact: false });
  }
  if (options.out && options.residualOut) {
    checkOverlap(op, "out", options.out, "residualOut", options.residualOut, { exact: false });
  }
  if (rstd) checkRstd(op, rstd, x, residual, weight, outputs);
}

function checkRstd(
  op: string,
  rstd: Tensor,
  x: Tensor,
  residual: Operand,
  weight: Operand,
  outputs: readonly { name: string; tensor: Tensor | undefined }[],
): void {
  checkTensor(op, "rstd", rstd);
  checkDtype(op, "rstd", rstd, "float32");
  const flat = rstd.shape.length === 1 && rstd.shape[0] === numRowsOf(x);
  if (!flat) checkShape(op, "rstd", rstd, x.shape.slice(0, -1));
  checkDevice(op, "rstd", rstd, x.device);
  checkWritable(op, "rstd", rstd);
  const others = [
    { name: "x", tensor: x },
    { name: "residual", tensor: residual },
    { name: "weight", tensor: weight },
    ...outputs,
  ];
  for (const { name, tensor } of others) {
    if (tensor) checkOverlap(op, "rstd", rstd, name, tensor, { exact: false });
  }
}

function run(call: Call, { out, residualOut }: Outputs): void {
  const { x, residual, weight, rstd, stream } = call;
  if (x.size === 0) {
    rstd?.fill(Number.NaN); // the mean over no elements
    return;
  }
  const ready = isDenseVector(weight) && (rstd === null || rstd.isContiguous());
  const geometry = ready ? packRows([x, residual, out, residualOut], [weight, rstd]) : null;
  if (geometry !== null) {
    launch(call, out, residualOut, geometry);
    return;
  }
  throughDenseRows([x, residual, weight], [out, residualOut, rstd], stream, (inputs, outputs) => {
    const [denseX, denseResidual = null, denseWeight = null] = inputs;
    const [denseOut, denseResidualOut = null, denseRstd = null] = outputs;
    const dense = { x: denseX!, residual: denseResidual, weight: denseWeight, rstd: denseRstd };
    const rows = packRows(
      [dense.x, dense.residual, denseOut!, denseResidualOut],
      [dense.weight, dense.rstd],
    );
    launch({ ...call, ...dense }, denseOut!, denseResidualOut, rows!);
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
