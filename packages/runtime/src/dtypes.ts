import { describe, listOf, quote } from "./describe.js";
import { dtypeError, kindError } from "./errors.js";

/** What the elements of a tensor are. bool is one byte, 0 or 1. */
export type DType = "float32" | "float16" | "bfloat16" | "int32" | "int64" | "uint8" | "bool";

/** The dtypes that kernels compute on. */
export type FloatDType = "float32" | "float16" | "bfloat16";

interface DataByDType {
  float32: Float32Array;
  float16: Float32Array;
  bfloat16: Float32Array;
  int32: Int32Array;
  int64: BigInt64Array;
  uint8: Uint8Array;
  bool: Uint8Array;
}

/** The array that reading a tensor back gives: the 16-bit floats widen exactly to float32. */
export type DataOf<D extends DType> = DataByDType[D];

interface ItemByDType {
  float32: number;
  float16: number;
  bfloat16: number;
  int32: number;
  int64: bigint;
  uint8: number;
  bool: boolean;
}

/** One element of a tensor as JavaScript has it. */
export type ItemOf<D extends DType> = ItemByDType[D];

// A library without Float16Array must still compile these types.
type Float16ArrayWhereDeclared = typeof globalThis extends {
  Float16Array: { prototype: infer A };
}
  ? A
  : never;

/** Every array of numbers that JavaScript has, Float16Array where it exists. */
export type TypedArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint8ClampedArray
  | Uint16Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float16ArrayWhereDeclared;

/** All dtypes; the position is the code that addons know a dtype by. */
export const dtypes: readonly DType[] = [
  "float32",
  "float16",
  "bfloat16",
  "int32",
  "int64",
  "uint8",
  "bool",
];

/** Only as the source of a conversion: JavaScript's own numbers. */
export const float64Code = 7;

const codes: Readonly<Record<DType, number>> = {
  float32: 0,
  float16: 1,
  bfloat16: 2,
  int32: 3,
  int64: 4,
  uint8: 5,
  bool: 6,
};

const sizes: Readonly<Record<DType, number>> = {
  float32: 4,
  float16: 2,
  bfloat16: 2,
  int32: 4,
  int64: 8,
  uint8: 1,
  bool: 1,
};

/**
 * The number that addons know the dtype by.
 *
 * @example
 * import { dtypeCode } from "@warpwright/runtime/kernel";
 *
 * console.log(dtypeCode("bfloat16")); // 2
 */
export function dtypeCode(dtype: DType): number {
  return codes[dtype];
}

/** Bytes an element takes. */
export function dtypeBytes(dtype: DType): number {
  return sizes[dtype];
}

export function isDType(value: unknown): value is DType {
  return typeof value === "string" && Object.hasOwn(codes, value);
}

/**
 * Whether the dtype is one that kernels compute on.
 *
 * @example
 * import { isFloat } from "@warpwright/runtime/kernel";
 *
 * console.log(isFloat("bfloat16"), isFloat("int32")); // true false
 */
export function isFloat(dtype: DType): dtype is FloatDType {
  return dtype === "float32" || dtype === "float16" || dtype === "bfloat16";
}

/**
 * The argument as the dtype of a kernel's parameter: float32, float16 or bfloat16.
 *
 * @throws TypeError ERR_KIND for what is no string, ERR_DTYPE
 *
 * @example
 * import { parseFloatDType } from "@warpwright/runtime/kernel";
 *
 * console.log(parseFloatDType("RMSNorm", "bfloat16"));
 */
export function parseFloatDType(op: string, value: unknown): FloatDType {
  if (isFloat(value as DType)) return value as FloatDType;
  if (typeof value !== "string") {
    throw kindError(`${op}: expected dtype to be a string, got ${describe(value)}`);
  }
  throw dtypeError(`${op}: expected dtype float32, float16 or bfloat16, got ${quote(value)}`);
}

/** The argument as a dtype, or ERR_KIND or ERR_DTYPE. */
export function parseDType(op: string, value: unknown): DType {
  if (isDType(value)) return value;
  if (typeof value !== "string") {
    throw kindError(`${op}: expected dtype to be a string, got ${describe(value)}`);
  }
  throw dtypeError(`${op}: expected dtype to be ${listOf(dtypes)}, got ${quote(value)}`);
}

/** The dtype whose elements data() reads: float32 for the 16-bit floats. */
export function dataDType(dtype: DType): DType {
  return isFloat(dtype) ? "float32" : dtype;
}
