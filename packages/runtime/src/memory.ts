// What memory the runtime uses, and memory of other libraries.
import { freemem, totalmem } from "node:os";
import { type Device, deviceOrdinal, parseShape } from "./arguments.js";
import { placed } from "./blocks.js";
import { describe } from "./describe.js";
import { usableDevice } from "./devices.js";
import { type DType, dtypeBytes, parseDType } from "./dtypes.js";
import { deviceError, kindError, valueError } from "./errors.js";
import { checkOptions } from "./kernel/checks.js";
import { denseLayout, elementCount } from "./layout.js";
import { makeTensor } from "./making.js";
import { native } from "./native.js";
import type { Tensor } from "./tensor.js";

/** Memory in bytes, of this process unless said otherwise. */
export interface MemoryStats {
  /** What tensors take, graphs' included. */
  allocated: number;
  /**
   * The most that it has been; of a GPU with what the runtime kept meanwhile for the next tensors,
   * and with copies that were being read.
   */
  peak: number;
  /** What the runtime has of the device: `allocated`, and what it keeps for the next tensors. */
  reserved: number;
  /** What is left on the device, with all processes counted. */
  free: number;
  /** The device's memory. */
  total: number;
}

/**
 * How much memory tensors take on a device, and what is left. Memory counts as allocated until the
 * device has done the work before its release.
 *
 * @throws TypeError ERR_KIND; RangeError ERR_VALUE; Error ERR_DEVICE, ERR_DEVICE_LOST; CudaError
 *
 * @example
 * import { memoryStats } from "@warpwright/runtime";
 *
 * const { allocated, free } = memoryStats("cpu");
 */
export function memoryStats(device: Device): MemoryStats {
  const name = usableDevice("memoryStats", device);
  const { allocated, peak, ...rest } = native().memoryStats(deviceOrdinal(name));
  const { reserved = allocated, free = freemem(), total = totalmem() } = rest;
  return { allocated, peak, reserved, free, total };
}

/**
 * Gives memory that the runtime keeps for later tensors back to the system: of the device, and
 * pinned memory of the host that copies go through. Blocks until the device is idle, unless a graph
 * is being captured. The next tensors take longer to make.
 *
 * @throws TypeError ERR_KIND; RangeError ERR_VALUE; Error ERR_DEVICE, for the CPU too, which keeps
 *   nothing; ERR_DEVICE_LOST; CudaError
 *
 * @example
 * import { emptyCache, isAvailable } from "@warpwright/runtime";
 *
 * if (isAvailable("cuda")) emptyCache("cuda");
 */
export function emptyCache(device: Device): void {
  const name = usableDevice("emptyCache", device);
  if (name === "cpu") throw deviceError("emptyCache: expected a CUDA device, got cpu");
  native().emptyCache(deviceOrdinal(name));
}

/** What unsafeFromPointer() has to know. */
export interface PointerOptions<D extends DType> {
  /** Sizes of the tensor, dense in row-major order. */
  shape: readonly number[];
  dtype: D;
  /** Where the memory is. */
  device: Device;
  /**
   * What the memory belongs to: an object or a function, null if nobody has to be kept. It is kept
   * from being collected until every view, every graph and all work on them is done; it must not
   * free the memory by other means. An owner that refers to the tensor is never collected, unless
   * the tensor is disposed of.
   */
  owner: object | null;
}

/**
 * A tensor in memory of another library, which is neither copied nor freed. Nothing orders its
 * streams with those of the tensor: synchronize before, or wait for an event.
 *
 * Unsafe: nobody can check that the memory is there, or how much of it.
 *
 * @param pointer address of the first element, a multiple of the element's size
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_VALUE, ERR_SHAPE; Error ERR_DEVICE for
 *   memory that is on another device, ERR_DEVICE_LOST; CudaError
 *
 * @example
 * import { tensor, unsafeFromPointer } from "@warpwright/runtime";
 *
 * const x = tensor([1, 2, 3]);
 * const options = { shape: [3], dtype: "float32", device: "cpu", owner: x } as const;
 * console.log(await unsafeFromPointer(x.pointer, options).data()); // Float32Array [1, 2, 3]
 */
export function unsafeFromPointer<D extends DType>(
  pointer: bigint,
  options: PointerOptions<D>,
): Tensor<D> {
  const op = "unsafeFromPointer";
  if (typeof pointer !== "bigint") {
    throw kindError(`${op}: expected pointer to be a bigint, got ${describe(pointer)}`);
  }
  checkOptions(op, options, ["shape", "dtype", "device", "owner"]);
  const { shape: sizes, dtype: name, device: place, owner } = options;
  if (owner !== null && typeof owner !== "object" && typeof owner !== "function") {
    throw kindError(`${op}: expected owner to be an object or null, got ${describe(owner)}`);
  }
  const dtype = parseDType(op, name) as D;
  const shape = parseShape(op, sizes, dtype);
  const device = usableDevice(op, place);
  const size = dtypeBytes(dtype);
  const bytes = elementCount(shape) * size;
  if (pointer < 0n || pointer + BigInt(bytes) > 1n << 64n || (pointer === 0n && bytes > 0)) {
    throw valueError(`${op}: expected pointer to be an address, got ${pointer}`);
  }
  if (pointer % BigInt(size) !== 0n) {
    throw valueError(`${op}: expected pointer to be a multiple of ${size}, got ${pointer}`);
  }
  const handle = native().wrapMemory(pointer, bytes, deviceOrdinal(device), owner);
  return makeTensor(placed(handle, dtype, device, denseLayout(shape)));
}
