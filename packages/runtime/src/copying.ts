import type { Device } from "./arguments.js";
import { convertBlock, copyAcross, disposing, fillBlock, live, moveBlock } from "./blocks.js";
import { describe, quote, shapeText } from "./describe.js";
import { usableDevice } from "./devices.js";
import { type DType, isDType, parseDType } from "./dtypes.js";
import { kindError, shapeError, valueError } from "./errors.js";
import { STORAGE } from "./internals.js";
import { checkOptions, checkWritable } from "./kernel/checks.js";
import { checkTensor, isTensor } from "./kernel/handles.js";
import { disjoint, sameView } from "./kernel/overlap.js";
import { broadcasts } from "./layout.js";
import { makeTensor } from "./making.js";
import { type CudaStream, streamFor } from "./streams.js";
import type { Tensor } from "./tensor.js";
import { viewOf } from "./views.js";

/** What Tensor.to() changes. */
export interface ToOptions<D extends DType = DType> {
  /** Default: the tensor's. */
  device?: Device | undefined;
  /** Default: the tensor's. */
  dtype?: D | undefined;
  /** Of the CUDA device; of the target's if both are. Default: the current stream. */
  stream?: CudaStream | undefined;
}

export function moveTo(tensor: Tensor, target: Device | DType | ToOptions): Tensor {
  const op = "to";
  const { dtype: wanted, device: place, stream: given } = parseTarget(target);
  const dtype = parseDType(op, wanted ?? tensor.dtype);
  const device = usableDevice(op, place ?? tensor.device);
  const block = live(op, tensor);

  if (device === tensor.device) {
    const stream = streamFor(op, device, given);
    if (dtype === tensor.dtype) return viewOf(op, tensor, tensor);
    return makeTensor(convertBlock(op, block, dtype, stream));
  }
  // The option is the target's stream, or the source's where the target is the CPU.
  const streams = {
    src: streamFor(op, tensor.device, device === "cpu" ? given : undefined),
    dst: streamFor(op, device, device === "cpu" ? undefined : given),
  };
  return makeTensor(moveBlock(op, block, dtype, device, streams));
}

function parseTarget(target: unknown): ToOptions {
  if (typeof target === "string") {
    if (isDType(target)) return { dtype: target };
    if (/^(cpu|cuda)/.test(target)) return { device: target as Device };
    throw valueError(`to: expected a device or a dtype, got ${quote(target)}`);
  }
  if (typeof target !== "object" || target === null || isTensor(target)) {
    throw kindError(`to: expected a device, a dtype or options, got ${describe(target)}`);
  }
  checkOptions("to", target, ["device", "dtype", "stream"]);
  return target;
}

export function copyInto(dst: Tensor, source: Tensor): void {
  const op = "copyFrom";
  const into = live(op, dst);
  checkTensor(op, "source", source);
  if (!broadcasts(source.shape, dst.shape)) {
    throw shapeError(
      `${op}: expected source of a shape that broadcasts to ${shapeText(dst.shape)}, ` +
        `got ${shapeText(source.shape)}`,
    );
  }
  checkWritable(op, "the tensor", dst);
  if (sameView(dst, source)) return;

  const streams = {
    src: streamFor(op, source.device),
    dst: streamFor(op, dst.device),
  };
  const from = live(op, source);
  if (dst[STORAGE] !== source[STORAGE] || disjoint(dst, source)) {
    copyAcross(op, into, from, streams);
    return;
  }
  // The order of the copies within one call is not fixed, so overlapping views go by way of a copy.
  const copy = convertBlock(op, from, source.dtype, streams.src);
  disposing(copy, () => copyAcross(op, into, copy, streams));
}

export function fillWith(tensor: Tensor, value: unknown): void {
  const block = live("fill", tensor);
  const converted = fillValue("fill", tensor.dtype, value);
  checkWritable("fill", "the tensor", tensor);
  if (tensor.size > 0) fillBlock(block, converted, streamFor("fill", tensor.device));
}

const minInt64 = -(1n << 63n);
const maxInt64 = (1n << 63n) - 1n;

/**
 * The value as native code takes it: a bigint of at most 64 bits, or a number. A bigint converts as
 * an int64 does; a larger one saturates, and is rounded once to a float.
 */
export function fillValue(op: string, dtype: DType, value: unknown): number | bigint {
  if (typeof value !== "number" && typeof value !== "bigint" && typeof value !== "boolean") {
    throw kindError(
      `${op}: expected value to be a number, a bigint or a boolean, got ${describe(value)}`,
    );
  }
  if (typeof value === "bigint") {
    if (BigInt.asIntN(64, value) === value) return value;
    if (dtype !== "int64") return roundedToOdd(value);
    return value < 0n ? minInt64 : maxInt64;
  }
  if (dtype !== "int64") return Number(value);
  if (typeof value === "number" && !Number.isFinite(value)) {
    return Number.isNaN(value) ? 0n : value > 0 ? maxInt64 : minInt64;
  }
  const whole = BigInt(typeof value === "number" ? Math.trunc(value) : value);
  return whole < minInt64 ? minInt64 : whole > maxInt64 ? maxInt64 : whole;
}

// Towards zero, and then to an odd last bit if that has lost something: rounding the result on to
// fewer bits rounds the bigint once.
function roundedToOdd(value: bigint): number {
  const nearest = Number(value);
  if (!Number.isFinite(nearest) || BigInt(nearest) === value) return nearest;
  const magnitude = value < 0n ? -value : value;
  const lost = magnitude.toString(2).length - 53;
  const odd = (magnitude >> BigInt(lost)) | 1n;
  return Math.sign(nearest) * Number(odd) * 2 ** lost;
}
