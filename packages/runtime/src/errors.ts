/**
 * What `code` an error of this library carries. ERR_KIND and ERR_DTYPE come on a TypeError;
 * ERR_SHAPE, ERR_VALUE and ERR_OVERLAP on a RangeError; the others on an Error.
 */
export type ErrorCode =
  | "ERR_KIND"
  | "ERR_DTYPE"
  | "ERR_SHAPE"
  | "ERR_VALUE"
  | "ERR_OVERLAP"
  | "ERR_DEVICE"
  | "ERR_DISPOSED"
  | "ERR_UNSUPPORTED"
  | "ERR_CAPTURE"
  | "ERR_DEVICE_LOST"
  | "ERR_FILE"
  | "ERR_LOAD";

/** An error with one of the library's codes. */
export type Coded<E extends Error> = E & { code: ErrorCode };

/**
 * A CUDA call that failed; `code` is the CUDA error's name. The addons throw plain errors named
 * "CudaError", and `instanceof CudaError` recognises those too, whichever addon they come from.
 *
 * @example
 * import { CudaError } from "@warpwright/runtime";
 *
 * const error = new CudaError("cudaErrorIllegalAddress", "rmsnorm: an illegal memory access");
 * console.log(error instanceof CudaError, error.code); // true cudaErrorIllegalAddress
 */
export class CudaError extends Error {
  /** The CUDA error's name, such as "cudaErrorMemoryAllocation". */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "CudaError";
    this.code = code;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "CudaError";
  }
}

/**
 * A value of the wrong kind: a string for a number, a promise for a tensor.
 *
 * @example
 * import { kindError } from "@warpwright/runtime/kernel";
 *
 * console.log(kindError("rmsnorm: expected eps to be a number, got a string").code);
 */
export function kindError(message: string): Coded<TypeError> {
  return withCode(new TypeError(message), "ERR_KIND");
}

/**
 * A tensor of a dtype that the function does not take.
 *
 * @example
 * import { dtypeError } from "@warpwright/runtime/kernel";
 *
 * console.log(dtypeError("rmsnorm: expected x of dtype float32, got int32").code);
 */
export function dtypeError(message: string): Coded<TypeError> {
  return withCode(new TypeError(message), "ERR_DTYPE");
}

/**
 * A shape that does not fit the others.
 *
 * @example
 * import { shapeError } from "@warpwright/runtime/kernel";
 *
 * console.log(shapeError("rmsnorm: expected weight of shape [4096], got [2048]").code);
 */
export function shapeError(message: string): Coded<RangeError> {
  return withCode(new RangeError(message), "ERR_SHAPE");
}

/**
 * A value of the right kind, outside its range.
 *
 * @example
 * import { valueError } from "@warpwright/runtime/kernel";
 *
 * console.log(valueError("rmsnorm: expected eps to be a finite number, got NaN").code);
 */
export function valueError(message: string): Coded<RangeError> {
  return withCode(new RangeError(message), "ERR_VALUE");
}

/**
 * An output that shares memory with an input, or with itself.
 *
 * @example
 * import { overlapError } from "@warpwright/runtime/kernel";
 *
 * console.log(overlapError("rope: expected out to share no memory with cos").code);
 */
export function overlapError(message: string): Coded<RangeError> {
  return withCode(new RangeError(message), "ERR_OVERLAP");
}

/**
 * A device that is missing, unusable, or not the other tensors'.
 *
 * @example
 * import { deviceError } from "@warpwright/runtime/kernel";
 *
 * console.log(deviceError("rmsnorm: expected weight on cuda:0, got cpu").code);
 */
export function deviceError(message: string): Coded<Error> {
  return withCode(new Error(message), "ERR_DEVICE");
}

/**
 * A tensor or a stream used after its disposal.
 *
 * @example
 * import { disposedError } from "@warpwright/runtime/kernel";
 *
 * console.log(disposedError("rmsnorm: x has been disposed").code);
 */
export function disposedError(message: string): Coded<Error> {
  return withCode(new Error(message), "ERR_DISPOSED");
}

/**
 * A combination of arguments that a kernel does not compute.
 *
 * @example
 * import { unsupportedError } from "@warpwright/runtime/kernel";
 *
 * console.log(unsupportedError("attentionVarlen: mask is not supported").code);
 */
export function unsupportedError(message: string): Coded<Error> {
  return withCode(new Error(message), "ERR_UNSUPPORTED");
}

/**
 * Something that a capture cannot hold.
 *
 * @example
 * import { captureError } from "@warpwright/runtime/kernel";
 *
 * console.log(captureError("data: cannot read back during a capture").code);
 */
export function captureError(message: string): Coded<Error> {
  return withCode(new Error(message), "ERR_CAPTURE");
}

/**
 * A file that is not what its format demands, or that cannot be read or written.
 *
 * @example
 * import { fileError } from "@warpwright/runtime/kernel";
 *
 * console.log(fileError("load: model.bin: the file is cut off").code);
 */
export function fileError(message: string, cause?: unknown): Coded<Error> {
  return withCode(new Error(message, cause === undefined ? undefined : { cause }), "ERR_FILE");
}

/**
 * An addon that does not load.
 *
 * @example
 * import { loadError } from "@warpwright/runtime/kernel";
 *
 * console.log(loadError("rmsnorm: the addon does not load").code);
 */
export function loadError(message: string, cause?: unknown): Coded<Error> {
  return withCode(new Error(message, cause === undefined ? undefined : { cause }), "ERR_LOAD");
}

/** Gives an error its code. */
export function withCode<E extends Error>(error: E, code: ErrorCode): Coded<E> {
  return Object.assign(error, { code });
}
