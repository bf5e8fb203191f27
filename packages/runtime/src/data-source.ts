// What tensor() is given, as bytes whose dtype native code knows.
import { types } from "node:util";
import { describe, isArray, quote } from "./describe.js";
import { type DType, dtypeCode, float64Code, type TypedArray } from "./dtypes.js";
import { kindError, shapeError, valueError } from "./errors.js";
import { arrayName, bytesOf, isUsable, lengthOf, newArray } from "./typed-arrays.js";

/** Numbers in arrays in arrays, or one number; all of one kind. */
export type NestedData = number | bigint | boolean | readonly NestedData[];

export interface DataSource {
  /** Memory that nobody else changes while it is read. */
  bytes: Uint8Array;
  /** How addons know the elements' dtype. */
  code: number;
  /** What the tensor is made of unless told otherwise. */
  dtype: DType;
  shape: readonly number[];
}

/** @param dtype what was asked for: a Uint16Array holds the bits of a 16-bit float */
export function readSource(data: unknown, dtype: DType | undefined): DataSource {
  const name = arrayName(data);
  if (name !== null) return fromTypedArray(data as TypedArray, name, dtype);
  if (isArray(data) || isScalar(data)) return fromNested(data as NestedData);
  throw kindError(`tensor: expected data to be an array or a TypedArray, got ${describe(data)}`);
}

function fromTypedArray(array: TypedArray, name: string, dtype: DType | undefined): DataSource {
  if (!isUsable(array)) {
    throw valueError(`tensor: expected data to have its memory, got a detached ${name}`);
  }
  const bytes = ownBytes("tensor", array);
  const count = lengthOf(array);
  const shape = [count];
  const isHalf = dtype === "float16" || dtype === "bfloat16";
  if (name === "Uint16Array" && isHalf) return { bytes, code: dtypeCode(dtype), dtype, shape };
  switch (name) {
    case "Float32Array":
      return { bytes, code: dtypeCode("float32"), dtype: "float32", shape };
    case "Float64Array":
      return { bytes, code: float64Code, dtype: "float32", shape };
    case "Float16Array":
      return { bytes, code: dtypeCode("float16"), dtype: "float16", shape };
    case "Int32Array":
      return { bytes, code: dtypeCode("int32"), dtype: "int32", shape };
    case "BigInt64Array":
      return { bytes, code: dtypeCode("int64"), dtype: "int64", shape };
    case "BigUint64Array":
      checkBelow(new BigUint64Array(bytes.buffer, bytes.byteOffset, count));
      return { bytes, code: dtypeCode("int64"), dtype: "int64", shape };
    case "Uint8Array":
    case "Uint8ClampedArray":
      return { bytes, code: dtypeCode("uint8"), dtype: "uint8", shape };
    case "Uint32Array": {
      const wide = newArray("tensor", Float64Array, count);
      wide.set(new Uint32Array(bytes.buffer, bytes.byteOffset, count));
      return { bytes: bytesOf("tensor", wide), code: float64Code, dtype: "int64", shape };
    }
    default: {
      const wide = newArray("tensor", Int32Array, count);
      const kind = narrowKinds[name as keyof typeof narrowKinds];
      wide.set(new kind(bytes.buffer as ArrayBuffer, bytes.byteOffset, count));
      return { bytes: bytesOf("tensor", wide), code: dtypeCode("int32"), dtype: "int32", shape };
    }
  }
}

// Integers that no dtype is made for.
const narrowKinds = { Int8Array, Int16Array, Uint16Array };

function checkBelow(array: BigUint64Array): void {
  const large = array.find((value) => value >= 1n << 63n);
  if (large !== undefined) {
    throw valueError(`tensor: expected data to hold 64-bit signed integers, got ${large}n`);
  }
}

/** The array's bytes, copied where another thread could change them meanwhile. */
export function ownBytes(op: string, array: TypedArray): Uint8Array {
  const bytes = bytesOf(op, array);
  if (types.isArrayBuffer(bytes.buffer)) return bytes;
  const own = newArray(op, Uint8Array, bytes.length);
  own.set(bytes);
  return own;
}

type Scalar = number | bigint | boolean;

function isScalar(value: unknown): value is Scalar {
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean";
}

function fromNested(data: NestedData): DataSource {
  const shape: number[] = [];
  let first: unknown = data;
  while (isArray(first)) {
    shape.push(first.length);
    if (shape.length > 64) throw shapeError("tensor: expected data nested at most 8 deep");
    first = first.length > 0 ? first[0] : undefined;
  }
  const count = shape.reduce((product, size) => product * size, 1);
  // Before there is memory for the rest, which may be as large as a length can say.
  if (!isScalar(first) && count !== 0)
    throw notOfKind(
      shape.map(() => 0),
      "number",
      first,
    );

  switch (typeof first) {
    case "boolean": {
      const values = newArray("tensor", Uint8Array, count);
      flatten(data, shape, "boolean", (value, i) => {
        values[i] = value ? 1 : 0;
      });
      return { bytes: values, code: dtypeCode("bool"), dtype: "bool", shape };
    }
    case "bigint": {
      const values = newArray("tensor", BigInt64Array, count);
      flatten(data, shape, "bigint", (value, i) => {
        values[i] = checkInt64(value as bigint);
      });
      return { bytes: bytesOf("tensor", values), code: dtypeCode("int64"), dtype: "int64", shape };
    }
    default: {
      const values = newArray("tensor", Float64Array, count);
      flatten(data, shape, "number", (value, i) => {
        values[i] = value as number;
      });
      return { bytes: bytesOf("tensor", values), code: float64Code, dtype: "float32", shape };
    }
  }
}

function checkInt64(value: bigint): bigint {
  if (BigInt.asIntN(64, value) === value) return value;
  throw valueError(`tensor: expected data to hold 64-bit signed integers, got ${quote(value)}`);
}

/** Hands over every element in row-major order; ERR_SHAPE where the nesting is ragged. */
function flatten(
  data: NestedData,
  shape: readonly number[],
  kind: string,
  store: (value: Scalar, index: number) => void,
): void {
  const path: number[] = [];
  let index = 0;
  const visit = (value: unknown): void => {
    if (path.length < shape.length) {
      const size = shape[path.length]!;
      if (!isArray(value)) throw ragged(path, `an array of ${size}`, describe(value));
      if (value.length !== size)
        throw ragged(path, `an array of ${size}`, `one of ${value.length}`);
      for (let i = 0; i < size; i++) {
        path.push(i);
        visit(value[i]);
        path.pop();
      }
      return;
    }
    if (isArray(value)) throw ragged(path, `a ${kind}`, "an array");
    if (typeof value !== kind) throw notOfKind(path, kind, value);
    store(value as Scalar, index++);
  };
  visit(data);
}

function notOfKind(path: readonly number[], kind: string, value: unknown): TypeError {
  return kindError(`tensor: expected ${place(path)} to be a ${kind}, got ${describe(value)}`);
}

function ragged(path: readonly number[], wanted: string, found: string): RangeError {
  return shapeError(`tensor: expected ${place(path)} to be ${wanted}, got ${found}`);
}

function place(path: readonly number[]): string {
  return path.length === 0 ? "data" : `data[${path.join("][")}]`;
}
