// What the function and the class share: checks, allocation, the native call.
import type { CudaStream, Tensor } from "@warpwright/runtime";
import {
  checkDevice,
  checkDtype,
  checkFinite,
  checkFloat32,
  checkLike,
  checkOneOf,
  checkOverlap,
  checkRowParameter,
  checkRows,
  checkShape,
  checkTensor,
  checkWritable,
  dtypeCode,
  fillOn,
  handleOf,
  runRows,
  type StreamHandle,
  shapeError,
  valueError,
} from "@warpwright/runtime/kernel";
import { native } from "./native.js";
import { blockSize, checkNumThreads, checkRowsPerCta, pickRowsPerCta } from "./rules.js";

/** What becomes of NaN in an amax, see `nan` of RmsnormRhtAmaxOptions. */
export type NanPolicy = "propagate" | "ignore";

/** What both take beside tensors. */
export interface Scalars {
  /** Added to the mean square before the root, at least 0. Default 1e-5. */
  eps?: number | undefined;
  /**
   * At least this many threads share a row on the GPU: a multiple of 32 up to 1024 that leaves
   * each a multiple of 8 columns, as cuDNN frontend has it. Beyond 512 it counts as 512, and a row
   * that a block cannot hold is shared as it is without. Another number sums a row in another
   * order, nothing more; the CPU's order is its own. Default: as many as suit the length of a row,
   * which may be any multiple of 16.
   */
  numThreads?: number | undefined;
  /**
   * Consecutive rows that share an amax; divides the number of rows. Rows of one amax follow each
   * other on the GPU, so a large number leaves it idle. Default: pickRowsPerCta(rows).
   */
  rowsPerCta?: number | undefined;
  /**
   * Bit i negates column i of each 16 before the transform: TransformerEngine's mask, whose own is
   * 0xd7e8. Default 0, as in cuDNN frontend.
   */
  signs?: number | undefined;
  /**
   * "propagate" (default): an amax is NaN where one of its values is. "ignore": NaN counts as 0,
   * as in cuDNN frontend.
   */
  nan?: NanPolicy | undefined;
}

/** Options of a call, checked. */
export interface Settings {
  eps: number;
  /** 0 for any number. */
  numThreads: number;
  rowsPerCta: number;
  signs: number;
  nan: NanPolicy;
}

const policies: readonly NanPolicy[] = ["propagate", "ignore"];
const maxSigns = 2 ** blockSize - 1;

export function hiddenSizeOf(x: Tensor): number {
  return x.shape.at(-1)!;
}

export function numRowsOf({ shape }: Tensor): number {
  return shape.slice(0, -1).reduce((product, size) => product * size, 1);
}

/** Checks x, the weight and the options, and fills in what depends on x. */
export function checkInputs(op: string, x: Tensor, weight: Tensor, scalars: Scalars): Settings {
  checkRows(op, "x", x);
  if (hiddenSizeOf(x) % blockSize !== 0) {
    throw shapeError(
      `${op}: expected x with a last dimension that is a multiple of ${blockSize}, ` +
        `got shape [${x.shape.join(", ")}]`,
    );
  }
  checkRowParameter(op, "weight", weight, x);
  const { eps = 1e-5, numThreads, rowsPerCta, signs = 0, nan = "propagate" } = scalars;
  checkFloat32(op, "eps", eps, 0);
  if (numThreads !== undefined) checkNumThreads(op, numThreads, hiddenSizeOf(x));
  if (rowsPerCta !== undefined) checkRowsPerCta(op, rowsPerCta, numRowsOf(x));
  checkFinite(op, "signs", signs, { min: 0, integer: true });
  if (signs > maxSigns) {
    throw valueError(`${op}: expected signs to be a mask of ${blockSize} bits, got ${signs}`);
  }
  checkOneOf(op, "nan", nan, policies);
  return {
    eps,
    numThreads: numThreads ?? 0,
    rowsPerCta: rowsPerCta ?? pickRowsPerCta(numRowsOf(x)),
    signs,
    nan,
  };
}

/** The tensors of a call, those that are written undefined where they are to be made. */
export interface Operands {
  x: Tensor;
  weight: Tensor;
  out: Tensor | undefined;
  amax: Tensor | undefined;
}

/** Checks what the caller gave to be written. */
export function checkOutputs(
  op: string,
  { x, weight, out, amax }: Operands,
  { rowsPerCta }: Settings,
): void {
  if (out !== undefined) {
    checkLike(op, "out", out, x);
    checkWritable(op, "out", out);
    // A row is read whole before it is written.
    checkOverlap(op, "out", out, "x", x, { exact: true });
    checkOverlap(op, "out", out, "weight", weight, { exact: false });
  }
  if (amax === undefined) return;
  checkTensor(op, "amax", amax);
  checkDtype(op, "amax", amax, "float32");
  checkShape(op, "amax", amax, [numRowsOf(x) / rowsPerCta]);
  checkDevice(op, "amax", amax, x.device);
  checkWritable(op, "amax", amax);
  checkOverlap(op, "amax", amax, "x", x, { exact: false });
  checkOverlap(op, "amax", amax, "weight", weight, { exact: false });
  if (out !== undefined) checkOverlap(op, "amax", amax, "out", out, { exact: false });
}

/** Runs a checked call. */
export function run(
  { x, weight, out, amax }: Operands & { out: Tensor; amax: Tensor },
  settings: Settings,
  stream: StreamHandle | null,
): void {
  // The largest of no magnitudes.
  if (x.size === 0) {
    fillOn(stream, amax, 0);
    return;
  }
  const call = {
    ...{ inputs: { x }, parameters: { weight } },
    ...{ outputs: { out }, statistics: { amax } },
  };
  runRows(call, stream, ({ inputs, parameters, outputs, statistics }, geometry) =>
    native().rmsnormRhtAmaxFwd(
      handleOf(inputs.x),
      handleOf(parameters.weight),
      handleOf(outputs.out),
      handleOf(statistics.amax),
      stream,
      geometry,
      dtypeCode(x.dtype),
      dtypeCode(weight.dtype),
      settings.rowsPerCta,
      settings.numThreads,
      settings.eps,
      settings.signs,
      policies.indexOf(settings.nan),
    ),
  );
}

/** What every call may have. */
export interface CallOptions {
  /** Default: the device's current stream. */
  stream?: CudaStream | undefined;
}
