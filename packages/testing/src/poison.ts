import { type Device, type DType, fromBytes, type Tensor, tidy } from "@warpwright/runtime";

import { fail } from "./compare.js";
import { checkInteger } from "./errors.js";

// One element of poison, little-endian. The floats are quiet NaN with a payload that arithmetic
// does not make of numbers, so that even a NaN written over a guard shows.
const integerByte = 0xa5;
const poisonBytes = {
  float32: Uint8Array.of(0x5a, 0x5a, 0xda, 0x7f),
  float16: Uint8Array.of(0x5a, 0x7e),
  bfloat16: Uint8Array.of(0xda, 0x7f),
  int32: new Uint8Array(4).fill(integerByte),
  int64: new Uint8Array(8).fill(integerByte),
  uint8: Uint8Array.of(integerByte),
  bool: Uint8Array.of(1), // bools are 0 or 1
} as const satisfies Record<DType, Uint8Array>;

export interface PoisonOptions<D extends DType = DType> {
  /** Default "float32". */
  dtype?: D;
  /** Default "cpu". */
  device?: Device;
}

/**
 * A contiguous tensor in which every element is poison: NaN in the floating-point dtypes, bytes of
 * 0xa5 in the integers, true in bool. An output that starts as poison shows every element that was
 * never written. The bytes are laid out on the host first: for gigabytes on a GPU, `fill(NaN)` an
 * empty tensor.
 *
 * @example
 * import { poisoned } from "@warpwright/testing";
 *
 * const out = poisoned([2, 3], { dtype: "float16" });
 * out.dataSync(); // six NaN
 */
export function poisoned<D extends DType = "float32">(
  shape: readonly number[],
  { dtype = "float32" as D, device = "cpu" }: PoisonOptions<D> = {},
): Tensor<D> {
  const count = shape.reduce((product, size) => product * size, 1);
  return fromBytes(poison(dtype, count), { shape, dtype, device });
}

/**
 * {@link poisoned} with the shape, dtype and device of x; contiguous whatever x's strides are.
 *
 * @example
 * import { randn } from "@warpwright/runtime";
 * import { poisonedLike } from "@warpwright/testing";
 *
 * const x = randn([4, 96], { seed: 1 });
 * const out = poisonedLike(x); // for a kernel to write all of
 */
export function poisonedLike<D extends DType>(x: Tensor<D>): Tensor<D> {
  return poisoned(x.shape, { dtype: x.dtype, device: x.device });
}

/** On either side of a guarded tensor: more than one thread block's overrun of a 16-byte access. */
const guardBytes = 1024;

export interface CanaryOptions<D extends DType = DType> extends PoisonOptions<D> {
  /** Guard elements between rows, the last dimension's runs. Default 0: contiguous. */
  rowGuard?: number;
  /** Elements by which the start is moved off its boundary of at least 64 bytes. Default 0. */
  misalign?: number;
}

/** A tensor inside a larger, guarded one. */
export interface Guarded<D extends DType = DType> {
  /** A view whose surroundings are guards; poison at first. */
  tensor: Tensor<D>;
  /** The tensor and its guards, one dimension. */
  buffer: Tensor<D>;
  /** Rejects with an AssertionError that names the first guard element that changed. */
  check(): Promise<void>;
  /** Disposes the view and its buffer. */
  dispose(): void;
}

/**
 * A tensor with guard elements before it, after it and, with `rowGuard`, between its rows. Guards
 * and tensor start as poison, so that a kernel that reads outside gets NaN and one that writes
 * outside fails `check()`. At least 1024 bytes of guard lie on either side.
 *
 * @throws RangeError ERR_VALUE for a negative or fractional `rowGuard` or `misalign`
 * @example
 * import { withCanaries } from "@warpwright/testing";
 *
 * const out = withCanaries([4, 769], { dtype: "float16", rowGuard: 3 });
 * out.tensor.fill(1); // a kernel's `out` in its place
 * await out.check();
 */
export function withCanaries<D extends DType = "float32">(
  shape: readonly number[],
  options: CanaryOptions<D> = {},
): Guarded<D> {
  const { dtype = "float32" as D, device = "cpu", rowGuard = 0, misalign = 0 } = options;
  checkInteger("rowGuard", rowGuard);
  checkInteger("misalign", misalign);
  const rowLength = shape.at(-1) ?? 1;
  const outer = shape.slice(0, -1);
  const rows = outer.reduce((product, size) => product * size, 1);
  const pitch = rowLength + rowGuard;
  const guard = guardBytes / poisonBytes[dtype].length;
  const start = guard + misalign;

  const buffer = poisoned([start + rows * pitch + guard], { dtype, device });
  const tensor = viewRows(buffer, start, shape, pitch);
  const region: Region = { start, rowLength, pitch, end: start + rows * pitch };
  return {
    tensor,
    buffer,
    async check() {
      checkGuards(await buffer.bytes(), dtype, region);
    },
    dispose() {
      tensor.dispose();
      buffer.dispose();
    },
  };
}

/** Where the rows lie in the buffer, in elements. */
interface Region {
  start: number;
  rowLength: number;
  pitch: number;
  end: number;
}

function viewRows<D extends DType>(
  buffer: Tensor<D>,
  start: number,
  shape: readonly number[],
  pitch: number,
): Tensor<D> {
  return tidy(() => {
    const outer = shape.slice(0, -1);
    const rows = outer.reduce((product, size) => product * size, 1);
    const padded = buffer.narrow(0, start, rows * pitch).view([...outer, pitch]);
    const tensor = padded.narrow(-1, 0, shape.at(-1) ?? 1);
    return shape.length === 0 ? tensor.view([]) : tensor;
  });
}

function checkGuards(bytes: Uint8Array, dtype: DType, region: Region): void {
  const pattern = poisonBytes[dtype];
  const size = pattern.length;
  for (let element = 0; element * size < bytes.length; element++) {
    if (isInside(element, region)) continue;
    const found = bytes.subarray(element * size, (element + 1) * size);
    if (found.every((byte, i) => byte === pattern[i])) continue;
    const [is, was] = [hex(found), hex(pattern)];
    fail(`canary: ${placeOf(element, region)} was overwritten: ${is}, was ${was}`, is, was);
  }
}

function isInside(element: number, { start, rowLength, pitch, end }: Region): boolean {
  return element >= start && element < end && (element - start) % pitch < rowLength;
}

function placeOf(element: number, { start, rowLength, pitch, end }: Region): string {
  if (element < start) return `guard element ${start - element} before the tensor`;
  if (element >= end) return `guard element ${element - end + 1} after the tensor`;
  const row = Math.floor((element - start) / pitch);
  return `guard element ${element - start - row * pitch - rowLength + 1} after row ${row}`;
}

/** The bytes as one little-endian number. */
function hex(bytes: ArrayLike<number>): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
  return `0x${digits.reverse().join("")}`;
}

function poison(dtype: DType, count: number): Uint8Array {
  const pattern = poisonBytes[dtype];
  return Buffer.alloc(count * pattern.length, pattern);
}
