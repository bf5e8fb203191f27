import { randomBytes } from "node:crypto";
import { type Device, parseShape } from "./arguments.js";
import { allocateBlock, disposing, fillBlock, moveBlock } from "./blocks.js";
import { fillValue } from "./copying.js";
import { describe, quote } from "./describe.js";
import { usableDevice } from "./devices.js";
import { type DType, dtypeCode, type FloatDType, isFloat, parseDType } from "./dtypes.js";
import { dtypeError, kindError, valueError } from "./errors.js";
import type { Block, BlockOf, DeviceName } from "./internals.js";
import { checkOptions } from "./kernel/checks.js";
import { checkTensor } from "./kernel/handles.js";
import { elementCount } from "./layout.js";
import { makeTensor } from "./making.js";
import { native } from "./native.js";
import { streamFor } from "./streams.js";
import type { Tensor } from "./tensor.js";

/** Where and in which dtype a tensor is made. */
export interface CreateOptions<D extends DType = DType> {
  /** Default "float32", unless the function says otherwise. */
  dtype?: D | undefined;
  /** Default "cpu". "cuda" is cuda:0, and throws ERR_DEVICE where it cannot be used. */
  device?: Device | undefined;
}

const createKeys = ["dtype", "device"];

interface Created {
  dtype: DType;
  device: DeviceName;
}

/**
 * A tensor of the shape whose elements are whatever the memory holds.
 *
 * @param shape sizes; [] is a single element
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_VALUE, ERR_SHAPE beyond 8 dimensions; Error
 *   ERR_DEVICE; CudaError where the device has no memory left. So do the other creation functions.
 *
 * @example
 * import { empty } from "@warpwright/runtime";
 *
 * const x = empty([2, 3], { dtype: "bfloat16" });
 */
export function empty<D extends DType = "float32">(
  shape: readonly number[],
  options: CreateOptions<D> = {},
): Tensor<D> {
  return create<D>("empty", shape, parseCreate("empty", options, "float32"), false);
}

/**
 * A tensor of the shape filled with 0.
 *
 * @example
 * import { zeros } from "@warpwright/runtime";
 *
 * const x = zeros([2, 3]);
 */
export function zeros<D extends DType = "float32">(
  shape: readonly number[],
  options: CreateOptions<D> = {},
): Tensor<D> {
  return create<D>("zeros", shape, parseCreate("zeros", options, "float32"), true);
}

/**
 * A tensor of the shape filled with 1.
 *
 * @example
 * import { ones } from "@warpwright/runtime";
 *
 * const weight = ones([4096], { dtype: "float16" });
 */
export function ones<D extends DType = "float32">(
  shape: readonly number[],
  options: CreateOptions<D> = {},
): Tensor<D> {
  return filled<D>("ones", shape, 1, parseCreate("ones", options, "float32"));
}

/** The dtype of a value when none is given. */
export type DTypeOfValue<V> = V extends boolean ? "bool" : V extends bigint ? "int64" : "float32";

/**
 * A tensor of the shape filled with a value, which is converted as by Tensor.to().
 *
 * @param options.dtype default by the value: float32 for a number, int64 for a bigint, bool for a
 *   boolean
 *
 * @example
 * import { full } from "@warpwright/runtime";
 *
 * const mask = full([2, 3], true);
 */
export function full<V extends number | bigint | boolean, D extends DType = DTypeOfValue<V>>(
  shape: readonly number[],
  value: V,
  options: CreateOptions<D> = {},
): Tensor<D> {
  const byKind = { bigint: "int64", boolean: "bool" } as const;
  const fallback = byKind[typeof value as keyof typeof byKind] ?? "float32";
  return filled<D>("full", shape, value, parseCreate("full", options, fallback));
}

/**
 * An uninitialised tensor of another's shape, and of its dtype and device unless given.
 *
 * @example
 * import { emptyLike, ones } from "@warpwright/runtime";
 *
 * const out = emptyLike(ones([2, 3], { dtype: "bfloat16" }));
 */
export function emptyLike<S extends DType, D extends DType = S>(
  tensor: Tensor<S>,
  options: CreateOptions<D> = {},
): Tensor<D> {
  checkTensor("emptyLike", "tensor", tensor);
  const { shape, dtype, device } = tensor;
  return create<D>("emptyLike", shape, parseCreate("emptyLike", options, dtype, device), false);
}

/** Options of randn. */
export interface RandnOptions<D extends FloatDType = FloatDType> extends CreateOptions<D> {
  /** An integer, of which 64 bits count. Default: a new one at every call. */
  seed?: number | bigint | undefined;
}

/**
 * Normally distributed numbers of mean 0 and variance 1, computed on the device. With a seed they
 * have the same bits on every CPU and GPU: element i depends on the seed and i alone, and the dtype
 * only rounds. Philox4x32-10 under the seed counts blocks of four elements, and the formula of Box
 * and Muller, in float64, makes normals of its words.
 *
 * @param options.dtype float32 (default), float16 or bfloat16
 *
 * @example
 * import { randn } from "@warpwright/runtime";
 *
 * const x = randn([2, 3], { seed: 1, dtype: "bfloat16" });
 */
export function randn<D extends FloatDType = "float32">(
  shape: readonly number[],
  options: RandnOptions<D> = {},
): Tensor<D> {
  const keys = [...createKeys, "seed"];
  const { dtype, device } = parseCreate("randn", options, "float32", "cpu", keys);
  const { seed = randomBytes(8).readBigUInt64LE() } = options;
  if (!isFloat(dtype)) {
    throw dtypeError(`randn: expected dtype float32, float16 or bfloat16, got ${dtype}`);
  }
  const seed64 = parseSeed(seed);
  const sizes = parseShape("randn", shape, dtype);
  const stream = streamFor("randn", device);
  const block = allocateBlock("randn", sizes, dtype, device, stream);
  native().randn(block.handle, stream, dtypeCode(dtype), elementCount(sizes), seed64);
  return makeTensor(block as BlockOf<D>);
}

function parseSeed(seed: unknown): bigint {
  if (typeof seed === "bigint") return BigInt.asUintN(64, seed);
  if (typeof seed !== "number") {
    throw kindError(`randn: expected seed to be a number or a bigint, got ${describe(seed)}`);
  }
  if (!Number.isSafeInteger(seed)) {
    throw valueError(`randn: expected seed to be an integer, got ${quote(seed)}`);
  }
  return BigInt.asUintN(64, BigInt(seed));
}

/** A block made on the CPU as a tensor on the device that was asked for. */
export function delivered<D extends DType>(
  op: string,
  block: Block,
  device: DeviceName,
): Tensor<D> {
  if (device === "cpu") return makeTensor(block as BlockOf<D>);
  const streams = { src: null, dst: streamFor(op, device) };
  const moved = disposing(block, () => moveBlock(op, block, block.dtype, device, streams));
  return makeTensor(moved as BlockOf<D>);
}

/** The options with their defaults. */
export function parseCreate(
  op: string,
  options: CreateOptions,
  dtype: DType,
  device: DeviceName = "cpu",
  keys: readonly string[] = createKeys,
): Created {
  checkOptions(op, options, keys);
  // Each read once: what has been checked is what is used, whatever getters there are.
  const { dtype: wanted = dtype, device: place } = options;
  return { dtype: parseDType(op, wanted), device: usableDevice(op, place ?? device) };
}

function create<D extends DType>(
  op: string,
  shape: readonly number[],
  { dtype, device }: Created,
  zero: boolean,
): Tensor<D> {
  const sizes = parseShape(op, shape, dtype);
  const block = allocateBlock(op, sizes, dtype, device, streamFor(op, device), zero);
  return makeTensor(block as BlockOf<D>);
}

function filled<D extends DType>(
  op: string,
  shape: readonly number[],
  value: unknown,
  { dtype, device }: Created,
): Tensor<D> {
  const converted = fillValue(op, dtype, value);
  const stream = streamFor(op, device);
  const block = allocateBlock(op, parseShape(op, shape, dtype), dtype, device, stream);
  if (elementCount(block.shape) > 0) fillBlock(block, converted, stream);
  return makeTensor(block as BlockOf<D>);
}
