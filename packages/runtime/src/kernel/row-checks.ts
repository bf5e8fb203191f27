// What row-wise kernels check of their inputs: x decides shape, dtype and device of the others.
import { shapeText } from "../describe.js";
import { shapeError, unsupportedError, valueError } from "../errors.js";
import type { Tensor } from "../tensor.js";
import { checkDevice, checkDtype, checkFinite, checkFloat, checkShape } from "./checks.js";
import { checkTensor } from "./handles.js";

// Columns are counted in an int on the native side, 16 bytes at a time.
const maxHiddenSize = 2 ** 30;

/** The length of x's rows. */
export function hiddenSizeOf(x: Tensor): number {
  return x.shape[x.shape.length - 1]!;
}

/**
 * Checks that x is a tensor of rows: float32, float16 or bfloat16, of one dimension or more.
 *
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE; Error ERR_DISPOSED, ERR_UNSUPPORTED
 *   for rows above 2^30 elements
 *
 * @example
 * import { ones } from "@warpwright/runtime";
 * import { checkRows } from "@warpwright/runtime/kernel";
 *
 * checkRows("rmsnorm", "x", ones([2, 8]));
 */
export function checkRows(op: string, name: string, x: Tensor): void {
  checkTensor(op, name, x);
  checkFloat(op, name, x);
  if (x.shape.length === 0) {
    throw shapeError(`${op}: expected ${name} to have at least 1 dimension, got shape []`);
  }
  if (hiddenSizeOf(x) > maxHiddenSize) {
    throw unsupportedError(
      `${op}: expected a hidden size of at most ${maxHiddenSize}, got ${hiddenSizeOf(x)}`,
    );
  }
}

/**
 * Checks that x's rows have the length that a module was made for.
 *
 * @throws TypeError ERR_KIND; RangeError ERR_SHAPE; Error ERR_DISPOSED
 *
 * @example
 * import { ones } from "@warpwright/runtime";
 * import { checkHiddenSize } from "@warpwright/runtime/kernel";
 *
 * checkHiddenSize("RMSNorm.forward", "x", ones([2, 8]), 8);
 */
export function checkHiddenSize(op: string, name: string, x: Tensor, hiddenSize: number): void {
  checkTensor(op, name, x);
  if (x.shape.at(-1) === hiddenSize) return;
  throw shapeError(
    `${op}: expected ${name} with a last dimension of ${hiddenSize}, ` +
      `got shape ${shapeText(x.shape)}`,
  );
}

/**
 * Checks that a tensor has x's shape, dtype and device.
 *
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE; Error ERR_DEVICE, ERR_DISPOSED
 *
 * @example
 * import { ones } from "@warpwright/runtime";
 * import { checkLike } from "@warpwright/runtime/kernel";
 *
 * checkLike("addRmsnorm", "residual", ones([2, 8]), ones([2, 8]));
 */
export function checkLike(op: string, name: string, tensor: Tensor, x: Tensor): void {
  checkTensor(op, name, tensor);
  checkDtype(op, name, tensor, x.dtype);
  checkShape(op, name, tensor, x.shape);
  checkDevice(op, name, tensor, x.device);
}

/**
 * Checks a parameter that all rows share, such as a weight: of shape [hiddenSize], on x's device,
 * of x's dtype or, beside a 16-bit x, float32.
 *
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE; Error ERR_DEVICE, ERR_DISPOSED
 *
 * @example
 * import { ones } from "@warpwright/runtime";
 * import { checkRowParameter } from "@warpwright/runtime/kernel";
 *
 * checkRowParameter("rmsnorm", "weight", ones([8]), ones([2, 8], { dtype: "bfloat16" }));
 */
export function checkRowParameter(op: string, name: string, parameter: Tensor, x: Tensor): void {
  checkTensor(op, name, parameter);
  if (parameter.dtype !== x.dtype) {
    checkDtype(op, name, parameter, x.dtype === "float32" ? "float32" : [x.dtype, "float32"]);
  }
  checkShape(op, name, parameter, [hiddenSizeOf(x)]);
  checkDevice(op, name, parameter, x.device);
}

/**
 * Checks that the value is a number which stays finite in float32, the kernels' arithmetic.
 *
 * @param min the least that it may be, if there is one
 * @throws TypeError ERR_KIND for what is no number; RangeError ERR_VALUE
 *
 * @example
 * import { checkFloat32 } from "@warpwright/runtime/kernel";
 *
 * checkFloat32("rmsnorm", "eps", 1e-6, 0);
 */
export function checkFloat32(
  op: string,
  name: string,
  value: unknown,
  min?: number,
): asserts value is number {
  checkFinite(op, name, value, min === undefined ? {} : { min });
  if (Number.isFinite(Math.fround(value))) return;
  const limit = min === undefined ? "" : ` of at least ${min}`;
  throw valueError(`${op}: expected ${name} to be a finite float32 number${limit}, got ${value}`);
}
