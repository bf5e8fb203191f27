// Memory operations on views, below the Tensor class: copy, convert, move. What they allocate and
// hand out belongs to the caller; what they need in between they dispose themselves, which is safe
// at once, because memory is freed in the order of its streams.
import { deviceOrdinal } from "./arguments.js";
import { refuseInCapture } from "./capturing.js";
import { type DType, dtypeBytes, dtypeCode } from "./dtypes.js";
import { disposedError, valueError } from "./errors.js";
import {
  type Block,
  type BlockOf,
  type Branded,
  type DeviceName,
  HANDLE,
  type Layout,
} from "./internals.js";
import { denseLayout, elementCount, expandLayout, isDense, sameNumbers } from "./layout.js";
import { type Handle, native, type StreamHandle } from "./native.js";
import { scratchOf } from "./scratch.js";
import { noteBytes } from "./turning.js";

/** The tensor as a block, or ERR_DISPOSED. */
export function live(op: string, tensor: Omit<Block, "handle"> & Branded): Block {
  const handle = tensor[HANDLE];
  if (handle) return placed(handle, tensor.dtype, tensor.device, tensor);
  throw disposedError(`${op}: the tensor has been disposed`);
}

/** Dense memory for the shape; `op` begins the message if there is none. */
export function allocateBlock<D extends DType>(
  op: string,
  shape: readonly number[],
  dtype: D,
  device: DeviceName,
  stream: StreamHandle | null,
  zero = false,
): BlockOf<D> {
  const bytes = elementCount(shape) * dtypeBytes(dtype);
  const handle = allocateBytes(op, bytes, device, stream, zero);
  return placed(handle, dtype, device, denseLayout(shape));
}

export function allocateBytes(
  op: string,
  bytes: number,
  device: DeviceName,
  stream: StreamHandle | null,
  zero = false,
): Handle {
  // A tensor of repeated elements, or several joined, may count more than any tensor that is made.
  if (bytes > Number.MAX_SAFE_INTEGER) throw valueError(`${op}: cannot allocate ${bytes} bytes`);
  noteBytes(bytes);
  return native().allocate(deviceOrdinal(device), bytes, stream, zero, op);
}

/** A layout with the memory that it is in. */
export function placed<D extends DType>(
  handle: Handle,
  dtype: D,
  device: DeviceName,
  { shape, strides, offset }: Layout,
): BlockOf<D> {
  return { handle, dtype, device, shape, strides, offset };
}

/** Copies elements between views of one shape on one device, converting. */
export function copyBlock(dst: Block, src: Block, stream: StreamHandle | null): void {
  copyFromCode(dst, src, dtypeCode(src.dtype), stream);
}

/** As copyBlock, with any source dtype that addons know. */
export function copyFromCode(
  dst: Block,
  src: Pick<Block, "handle" | keyof Layout>,
  srcCode: number,
  stream: StreamHandle | null,
): void {
  const rank = dst.shape.length;
  const geometry = scratchOf(3 * rank + 3);
  geometry[0] = rank;
  geometry.set(dst.shape, 1);
  geometry[rank + 1] = dst.offset;
  geometry.set(dst.strides, rank + 2);
  geometry[2 * rank + 2] = src.offset;
  geometry.set(src.strides, 2 * rank + 3);
  native().copy(dst.handle, src.handle, stream, dtypeCode(dst.dtype), srcCode, geometry);
}

export function fillBlock(block: Block, value: number | bigint, stream: StreamHandle | null): void {
  const rank = block.shape.length;
  const geometry = scratchOf(2 * rank + 2);
  geometry[0] = rank;
  geometry.set(block.shape, 1);
  geometry[rank + 1] = block.offset;
  geometry.set(block.strides, rank + 2);
  native().fill(block.handle, stream, dtypeCode(block.dtype), value, geometry);
}

/** A new dense block with the same elements on the same device. */
export function convertBlock<D extends DType>(
  op: string,
  src: Block,
  dtype: D,
  stream: StreamHandle | null,
): BlockOf<D> {
  const dst = allocateBlock(op, src.shape, dtype, src.device, stream);
  return filled(dst, () => {
    if (elementCount(src.shape) > 0) copyBlock(dst, src, stream);
  });
}

/** The block after `fill`, which disposes it if that throws. */
export function filled<B extends Block>(block: B, fill: () => void): B {
  try {
    fill();
    return block;
  } catch (error) {
    native().dispose(block.handle);
    throw error;
  }
}

/** What `use` returns; the block is disposed then, also if it throws. */
export function disposing<T>(block: Block, use: () => T): T {
  try {
    return use();
  } finally {
    native().dispose(block.handle);
  }
}

/** The two streams of a copy between devices; null on the CPU. */
export interface MoveStreams {
  src: StreamHandle | null;
  dst: StreamHandle | null;
}

/** A new dense block with the same elements on another device. */
export function moveBlock<D extends DType>(
  op: string,
  src: Block,
  dtype: D,
  device: DeviceName,
  streams: MoveStreams,
): BlockOf<D> {
  if (src.device !== "cpu" && elementCount(src.shape) > 0) refuseInCapture(op);
  // Whichever of the two dtypes is smaller crosses the bus.
  const crossing = dtypeBytes(dtype) < dtypeBytes(src.dtype) ? dtype : src.dtype;
  const ready = crossing === src.dtype && isDense(src);
  const cross = (from: Block) => {
    const dst = allocateBlock(op, src.shape, crossing, device, streams.dst);
    return filled(dst, () => crossDevices(dst, from, streams));
  };
  const from = ready ? src : convertBlock(op, src, crossing, streams.src);
  const crossed = ready ? cross(from) : disposing(from, () => cross(from));
  if (isOf(crossed, dtype)) return crossed;
  return disposing(crossed, () => convertBlock(op, crossed, dtype, streams.dst));
}

function isOf<D extends DType>(block: Block, dtype: D): block is BlockOf<D> {
  return block.dtype === dtype;
}

/** Copies elements whatever the two devices and dtypes; `src` broadcasts to the shape of `dst`. */
export function copyAcross(op: string, dst: Block, src: Block, streams: MoveStreams): void {
  if (elementCount(dst.shape) === 0) return;
  if (dst.device === src.device) {
    copyBlock(dst, { ...src, ...expandLayout(src, dst.shape) }, streams.dst);
    return;
  }
  if (src.device !== "cpu") refuseInCapture(op);
  const alike = dst.dtype === src.dtype && sameNumbers(dst.shape, src.shape);
  if (alike && isDense(dst) && isDense(src)) {
    crossDevices(dst, src, streams);
    return;
  }
  const moved = moveBlock(op, src, src.dtype, dst.device, streams);
  disposing(moved, () => {
    copyBlock(dst, { ...moved, ...expandLayout(moved, dst.shape) }, streams.dst);
  });
}

function crossDevices(dst: Block, src: Block, streams: MoveStreams): void {
  const size = dtypeBytes(src.dtype);
  const bytes = elementCount(src.shape) * size;
  if (bytes === 0) return;
  // Between two GPUs, native code makes the destination's stream wait for the source's.
  const stream = streams.dst ?? streams.src;
  native().transfer(dst.handle, dst.offset * size, src.handle, src.offset * size, bytes, stream);
}
