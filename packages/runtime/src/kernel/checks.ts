// What kernels check before they launch. Nothing is allocated unless a check fails.
import { describe, isPromise, listOf, quote, shapeText } from "../describe.js";
import { type DType, type FloatDType, isFloat } from "../dtypes.js";
import {
  deviceError,
  dtypeError,
  kindError,
  overlapError,
  shapeError,
  valueError,
} from "../errors.js";
import { isRecord } from "../records.js";
import type { Tensor } from "../tensor.js";
import { nearest } from "./nearest.js";

/**
 * Checks that a tensor has the dtype, or one of them.
 *
 * @throws TypeError ERR_DTYPE
 *
 * @example
 * import { tensor } from "@warpwright/runtime";
 * import { checkDtype } from "@warpwright/runtime/kernel";
 *
 * checkDtype("rope", "positions", tensor([1, 2], { dtype: "int32" }), ["int32", "int64"]);
 */
export function checkDtype(
  op: string,
  name: string,
  tensor: Tensor,
  allowed: DType | readonly DType[],
): void {
  if (typeof allowed === "string" ? tensor.dtype === allowed : allowed.includes(tensor.dtype)) {
    return;
  }
  const wanted = listOf(typeof allowed === "string" ? [allowed] : allowed);
  throw dtypeError(`${op}: expected ${name} of dtype ${wanted}, got ${tensor.dtype}`);
}

/**
 * Checks that a tensor is float32, float16 or bfloat16.
 *
 * @throws TypeError ERR_DTYPE
 *
 * @example
 * import { tensor } from "@warpwright/runtime";
 * import { checkFloat } from "@warpwright/runtime/kernel";
 *
 * checkFloat("rmsnorm", "x", tensor([1, 2]));
 */
export function checkFloat(
  op: string,
  name: string,
  tensor: Tensor,
): asserts tensor is Tensor<FloatDType> {
  if (isFloat(tensor.dtype)) return;
  throw dtypeError(
    `${op}: expected ${name} of dtype float32, float16 or bfloat16, got ${tensor.dtype}`,
  );
}

/**
 * Checks that a tensor has exactly the shape.
 *
 * @throws RangeError ERR_SHAPE
 *
 * @example
 * import { ones } from "@warpwright/runtime";
 * import { checkShape } from "@warpwright/runtime/kernel";
 *
 * checkShape("rmsnorm", "weight", ones([4096]), [4096]);
 */
export function checkShape(
  op: string,
  name: string,
  tensor: Tensor,
  shape: readonly number[],
): void {
  const actual = tensor.shape;
  let same = actual.length === shape.length;
  for (let i = 0; same && i < shape.length; i++) same = actual[i] === shape[i];
  if (same) return;
  throw shapeError(
    `${op}: expected ${name} of shape ${shapeText(shape)}, got ${shapeText(actual)}`,
  );
}

/**
 * Checks that a tensor is on the device.
 *
 * @throws Error ERR_DEVICE
 *
 * @example
 * import { ones } from "@warpwright/runtime";
 * import { checkDevice } from "@warpwright/runtime/kernel";
 *
 * checkDevice("rmsnorm", "weight", ones([4096]), "cpu");
 */
export function checkDevice(op: string, name: string, tensor: Tensor, device: string): void {
  if (tensor.device === device) return;
  throw deviceError(`${op}: expected ${name} on ${device}, got ${tensor.device}`);
}

/** Bounds of a number: `min` is included, `above` is not. */
export interface NumberBounds {
  min?: number;
  above?: number;
  integer?: boolean;
}

const unbounded: NumberBounds = {};

/**
 * Checks that the value is a finite number within the bounds.
 *
 * @throws TypeError ERR_KIND for what is no number; RangeError ERR_VALUE
 *
 * @example
 * import { checkFinite } from "@warpwright/runtime/kernel";
 *
 * checkFinite("rmsnorm", "eps", 1e-6, { min: 0 });
 */
export function checkFinite(
  op: string,
  name: string,
  value: unknown,
  bounds: NumberBounds = unbounded,
): asserts value is number {
  if (typeof value !== "number") {
    throw kindError(`${op}: expected ${name} to be a number, got ${describe(value)}`);
  }
  const { min, above, integer } = bounds;
  const fits =
    (integer ? Number.isSafeInteger(value) : Number.isFinite(value)) &&
    (min === undefined || value >= min) &&
    (above === undefined || value > above);
  if (fits) return;
  const kind = integer ? "an integer" : "a finite number";
  const limit =
    (min === undefined ? "" : ` of at least ${min}`) +
    (above === undefined ? "" : ` above ${above}`);
  throw valueError(`${op}: expected ${name} to be ${kind}${limit}, got ${quote(value)}`);
}

/**
 * Checks that the value is one of the strings.
 *
 * @throws TypeError ERR_KIND for what is no string; RangeError ERR_VALUE
 *
 * @example
 * import { checkOneOf } from "@warpwright/runtime/kernel";
 *
 * checkOneOf("rmsnorm", "casting", "llama", ["float32", "llama"]);
 */
export function checkOneOf(
  op: string,
  name: string,
  value: unknown,
  allowed: readonly string[],
): void {
  if (typeof value !== "string") {
    throw kindError(`${op}: expected ${name} to be a string, got ${describe(value)}`);
  }
  if (allowed.includes(value)) return;
  const wanted = listOf(allowed.map(quote));
  throw valueError(`${op}: expected ${name} to be ${wanted}, got ${quote(value)}`);
}

/**
 * Checks that the value is true or false.
 *
 * @throws TypeError ERR_KIND
 *
 * @example
 * import { checkBoolean } from "@warpwright/runtime/kernel";
 *
 * checkBoolean("attention", "causal", true);
 */
export function checkBoolean(op: string, name: string, value: unknown): asserts value is boolean {
  if (typeof value === "boolean") return;
  throw kindError(`${op}: expected ${name} to be a boolean, got ${describe(value)}`);
}

/**
 * Checks that the options are an object, plain or of a class, whose own keys are all known.
 *
 * @param name what messages call them. Default "options"
 * @throws TypeError ERR_KIND, also for what holds its contents elsewhere, such as a Map or a
 *   promise; RangeError ERR_VALUE that names the nearest known options
 *
 * @example
 * import { checkOptions } from "@warpwright/runtime/kernel";
 *
 * checkOptions("rmsnorm", { eps: 1e-5 }, ["eps", "weightOffset", "casting", "out", "stream"]);
 */
export function checkOptions(
  op: string,
  options: unknown,
  known: readonly string[],
  name = "options",
): asserts options is object {
  if (!isRecord(options)) {
    const remedy = isPromise(options) ? "; await it first" : "";
    const found = `${describe(options)}${remedy}`;
    throw kindError(`${op}: expected ${name} to be an object, got ${found}`);
  }
  for (const key in options) {
    if (known.includes(key) || !Object.hasOwn(options, key)) continue;
    const words = listOf(nearest(key, known).map(quote));
    const hint = words === "" ? "there are none" : `the nearest known is ${words}`;
    throw valueError(`${op}: unknown option ${quote(key)}, ${hint}`);
  }
}

/**
 * Checks that no two elements of an output are the same memory.
 *
 * @throws RangeError ERR_OVERLAP
 *
 * @example
 * import { zeros } from "@warpwright/runtime";
 * import { checkWritable } from "@warpwright/runtime/kernel";
 *
 * checkWritable("rmsnorm", "out", zeros([2, 3]));
 */
export function checkWritable(op: string, name: string, out: Tensor): void {
  const { shape, strides } = out;
  for (let i = 0; i < shape.length; i++) {
    if (strides[i] !== 0 || shape[i]! <= 1 || out.size === 0) continue;
    throw overlapError(
      `${op}: expected ${name} to have no stride of 0, got strides ${shapeText(strides)}`,
    );
  }
}
