// The numbers in tensors: integers from 0 to 120, which every dtype holds exactly, so that the
// model needs no arithmetic but a dtype's own conversion to bool.
import type { DType, TypedArray } from "@warpwright/runtime";

export const dtypes: readonly DType[] = [
  "float32",
  "float16",
  "bfloat16",
  "int32",
  "int64",
  "uint8",
  "bool",
];

export const largest = 120;

/** What nobody can know: of memory that was allocated and not written. */
export const unknown = -1;

export const bytesOf: Readonly<Record<DType, number>> = {
  float32: 4,
  float16: 2,
  bfloat16: 2,
  int32: 4,
  int64: 8,
  uint8: 1,
  bool: 1,
};

/** The value after a conversion. */
export function converted(value: number, dtype: DType): number {
  return dtype === "bool" && value > 1 ? 1 : value;
}

/** Bits of the 16-bit floats by value. */
const halfBits: Readonly<Partial<Record<DType, Uint16Array>>> = {
  float16: Uint16Array.from({ length: largest + 1 }, (_, value) => float16Bits(value)),
  bfloat16: new Uint16Array(Float32Array.from({ length: largest + 1 }, (_, i) => i).buffer).filter(
    (_, i) => i % 2 === 1,
  ),
};

function float16Bits(value: number): number {
  if (value === 0) return 0;
  const exponent = Math.floor(Math.log2(value));
  return ((exponent + 15) << 10) | ((value / 2 ** exponent - 1) * 1024);
}

/** The values in an array that tensor() makes a tensor of the dtype of; half floats as bits. */
export function arrayOf(dtype: DType, values: Int16Array): TypedArray {
  switch (dtype) {
    case "float32":
      return new Float32Array(values);
    case "float16":
    case "bfloat16":
      return new Uint16Array(values).map((value) => halfBits[dtype]![value]!);
    case "int32":
      return new Int32Array(values);
    case "int64":
      return BigInt64Array.from(values, BigInt);
    default:
      return new Uint8Array(values);
  }
}

/** The bytes as an array of the elements; half floats as bits. */
export function elementsOf(dtype: DType, { buffer }: Uint8Array): TypedArray {
  switch (dtype) {
    case "float32":
      return new Float32Array(buffer);
    case "float16":
    case "bfloat16":
      return new Uint16Array(buffer);
    case "int32":
      return new Int32Array(buffer);
    case "int64":
      return new BigInt64Array(buffer);
    default:
      return new Uint8Array(buffer);
  }
}

/** A sentence about the first value that is not as expected, or null. */
export function difference(
  dtype: DType,
  got: ArrayLike<number | bigint | boolean>,
  expected: Int16Array,
): string | null {
  if (got.length !== expected.length) {
    return `expected ${expected.length} elements, got ${got.length}`;
  }
  const bits = got instanceof Uint16Array ? halfBits[dtype] : undefined;
  for (let i = 0; i < expected.length; i++) {
    const value = expected[i]!;
    if (value === unknown) continue;
    const wanted = bits === undefined ? value : bits[value]!;
    if (Number(got[i]) !== wanted) {
      const others = countDifferent(got, expected, bits);
      return `expected ${wanted} at ${i} of ${got.length}, got ${got[i]}; ${others} differ`;
    }
  }
  return null;
}

function countDifferent(
  got: ArrayLike<number | bigint | boolean>,
  expected: Int16Array,
  bits: Uint16Array | undefined,
): number {
  let count = 0;
  expected.forEach((value, i) => {
    const wanted = bits === undefined ? value : bits[value];
    if (value !== unknown && Number(got[i]) !== wanted) count++;
  });
  return count;
}
