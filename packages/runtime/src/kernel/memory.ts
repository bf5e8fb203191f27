// Memory for a kernel's results, in the order of the call's stream.
import { allocateBlock, fillBlock, live } from "../blocks.js";
import { fillValue } from "../copying.js";
import { usableDevice } from "../devices.js";
import type { DType } from "../dtypes.js";
import type { DeviceName } from "../internals.js";
import { makeTensor } from "../making.js";
import type { StreamHandle } from "../native.js";
import { streamFor } from "../streams.js";
import type { Tensor } from "../tensor.js";

/**
 * An uninitialised contiguous tensor whose memory is ordered on the call's stream.
 *
 * @param op begins the message of an error. Default "newTensor"
 * @throws RangeError ERR_VALUE or CudaError where the memory is not to be had
 *
 * @example
 * import { newTensor, streamFor } from "@warpwright/runtime/kernel";
 *
 * const out = newTensor([2, 3], "bfloat16", "cpu", streamFor("gelu", "cpu"));
 */
export function newTensor<D extends DType>(
  shape: readonly number[],
  dtype: D,
  device: DeviceName,
  stream: StreamHandle | null,
  op = "newTensor",
): Tensor<D> {
  return makeTensor(allocateBlock(op, shape, dtype, device, stream));
}

/**
 * Sets every element of a tensor on the call's stream, converted as by Tensor.to().
 *
 * @example
 * import { zeros } from "@warpwright/runtime";
 * import { fillOn } from "@warpwright/runtime/kernel";
 *
 * fillOn(null, zeros([2, 3]), Number.NaN);
 */
export function fillOn(stream: StreamHandle | null, tensor: Tensor, value: number): void {
  if (tensor.size === 0) return;
  fillBlock(live("fill", tensor), fillValue("fill", tensor.dtype, value), stream);
}

/**
 * A new contiguous tensor of one value, for a module's parameter.
 *
 * @param op begins the message of an error
 * @throws Error ERR_DEVICE without a usable device
 *
 * @example
 * import { newFilled } from "@warpwright/runtime/kernel";
 *
 * const weight = newFilled("RMSNorm", [64], 1, "bfloat16", "cpu");
 */
export function newFilled<D extends DType>(
  op: string,
  shape: readonly number[],
  value: number,
  dtype: D,
  device: string,
): Tensor<D> {
  const name = usableDevice(op, device);
  const stream = streamFor(op, name);
  const tensor = newTensor(shape, dtype, name, stream, op);
  fillOn(stream, tensor as Tensor, value);
  return tensor;
}
