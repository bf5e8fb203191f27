/**
 * Tensors on the CPU and on CUDA devices, and what kernels need around them.
 *
 * @module
 */
import { noteCopy } from "./copies.js";

export type { Device, ShapeArguments } from "./arguments.js";
export type { ToOptions } from "./copying.js";
export {
  type CreateOptions,
  type DTypeOfValue,
  empty,
  emptyLike,
  full,
  ones,
  type RandnOptions,
  randn,
  zeros,
} from "./creation.js";
export type { NestedData } from "./data-source.js";
export { type DeviceInfo, defaultDevice, devices, explain, isAvailable } from "./devices.js";
export type { DataOf, DType, FloatDType, ItemOf, TypedArray } from "./dtypes.js";
export { CudaError, type ErrorCode } from "./errors.js";
export { CudaEvent } from "./events.js";
export {
  arange,
  type DTypeOfData,
  fromBytes,
  type TensorOptions,
  tensor,
} from "./from-data.js";
export { type CaptureOptions, CudaGraph } from "./graphs.js";
export type { DeviceName } from "./internals.js";
export { cat, stack } from "./joining.js";
export {
  emptyCache,
  type MemoryStats,
  memoryStats,
  type PointerOptions,
  unsafeFromPointer,
} from "./memory.js";
export {
  type LoadSafetensorsOptions,
  loadSafetensors,
  type Safetensors,
  type SafetensorsInfo,
} from "./safetensors/load.js";
export { type SaveSafetensorsOptions, saveSafetensors } from "./safetensors/save.js";
export { tidy } from "./scope.js";
export { CudaStream, type CudaStreamOptions, withStream } from "./streams.js";
export { type NestedArray, Tensor } from "./tensor.js";
export { getNumThreads, setNumThreads } from "./threads.js";

noteCopy(import.meta.url);
