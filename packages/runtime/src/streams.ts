import { types } from "node:util";
import { type Device, deviceOrdinal, parseDevice } from "./arguments.js";
import { cut, describe } from "./describe.js";
import { usableDevice } from "./devices.js";
import { Disposing } from "./disposing.js";
import { deviceError, disposedError, kindError, valueError } from "./errors.js";
import { type CudaEvent, eventHandle, recordEvent } from "./events.js";
import { type Branded, type DeviceName, STREAM } from "./internals.js";
import { checkFinite, checkOptions } from "./kernel/checks.js";
import { native, type StreamHandle } from "./native.js";
import { callSynchronously, checkFunction } from "./synchronous.js";

/** Options of a new stream. */
export interface CudaStreamOptions {
  /** Default "cuda", which is cuda:0. */
  device?: Device | undefined;
  /** An integer; lower runs first, as in CUDA, which clamps it to what it has. Default 0. */
  priority?: number | undefined;
}

// How the static functions reach the constructor with a stream that exists.
class Existing {
  constructor(
    readonly handle: StreamHandle,
    readonly device: DeviceName,
    readonly isDefault: boolean,
  ) {}
}

/**
 * An order of work on one CUDA device. Kernels and copies run on the device's current stream unless
 * they are given another. Work on different streams is not ordered.
 *
 * @example
 * import { CudaStream, isAvailable } from "@warpwright/runtime";
 *
 * if (isAvailable("cuda")) {
 *   const stream = new CudaStream({ device: "cuda:0" });
 *   await stream.synchronize();
 *   stream.dispose();
 * }
 */
export class CudaStream extends Disposing {
  /** Full name of the device, such as "cuda:0". */
  readonly device: DeviceName;
  [STREAM]: StreamHandle | null;
  readonly #isDefault: boolean = false;

  /**
   * Creates a stream, which does not wait for CUDA's legacy default stream.
   *
   * @throws Error ERR_DEVICE without a usable device; CudaError
   */
  constructor(options: CudaStreamOptions = {}) {
    super();
    if (options instanceof Existing) {
      this.device = options.device;
      this[STREAM] = options.handle;
      this.#isDefault = options.isDefault;
      return;
    }
    checkOptions("CudaStream", options, ["device", "priority"]);
    const { device = "cuda", priority = 0 } = options;
    checkFinite("CudaStream", "priority", priority, { integer: true });
    this.device = usableCuda("CudaStream", device);
    this[STREAM] = native().createStream(deviceOrdinal(this.device), priority);
  }

  /**
   * The stream that work on the device runs on by default, the same object at every call; each
   * JavaScript thread has its own. Disposing it does nothing.
   *
   * @param device Default "cuda", which is cuda:0
   * @throws Error ERR_DEVICE without a usable device; CudaError
   */
  static default(device: Device = "cuda"): CudaStream {
    return defaultStream("CudaStream.default", device);
  }

  /**
   * Wraps a stream of another library, which stays its owner and must outlive this object.
   *
   * Unsafe: nobody can check that the address is a stream's.
   *
   * @param handle the cudaStream_t as an integer; not CUDA's default streams, 0n to 2n
   * @param options.device the stream's device. Default "cuda", which is cuda:0
   * @throws TypeError ERR_KIND; RangeError ERR_VALUE; Error ERR_DEVICE without a usable device
   */
  static fromHandle(handle: bigint, options: { device?: Device | undefined } = {}): CudaStream {
    const op = "CudaStream.fromHandle";
    checkOptions(op, options, ["device"]);
    if (typeof handle !== "bigint") {
      throw kindError(`${op}: expected handle to be a bigint, got ${describe(handle)}`);
    }
    if (handle < 0n || handle >= 1n << 64n) {
      throw valueError(
        `${op}: expected handle to be an unsigned 64-bit integer, got ${cut(`${handle}`)}`,
      );
    }
    const device = usableCuda(op, options.device ?? "cuda");
    const wrapped = native().wrapStream(handle, deviceOrdinal(device));
    return new CudaStream(new Existing(wrapped, device, false) as CudaStreamOptions);
  }

  /** The cudaStream_t as an integer, for other libraries. */
  get handle(): bigint {
    return native().streamAddress(live("handle", this));
  }

  /** Whether dispose() has been called. */
  get disposed(): boolean {
    return this[STREAM] === null;
  }

  /** Resolves when all work enqueued so far is done; rejects with a CudaError if some failed. */
  async synchronize(): Promise<void> {
    await native().synchronize(live("synchronize", this));
  }

  /** As synchronize(), but blocks the thread. */
  synchronizeSync(): void {
    native().synchronizeSync(live("synchronizeSync", this));
  }

  /**
   * What the stream is given from now on runs after the event, which may be another device's.
   *
   * @throws TypeError ERR_KIND; Error ERR_DISPOSED, ERR_CAPTURE, ERR_DEVICE_LOST; CudaError
   */
  wait(event: CudaEvent): void {
    native().waitForEvent(live("wait", this), eventHandle("wait", "event", event));
  }

  /** An event behind all that the stream has been given so far. */
  record(): CudaEvent {
    return recordEvent(live("record", this), this.device);
  }

  /**
   * Ends this object; the stream goes when its work is done. Harmless when repeated.
   *
   * @throws Error ERR_CAPTURE while the stream is being captured
   */
  dispose(): void {
    const handle = this[STREAM];
    if (handle === null || this.#isDefault) return;
    native().disposeStream(handle); // refused during a capture of it
    this[STREAM] = null;
  }
}

// Of this JavaScript thread, by device: the default ones, and those that withStream() has put in
// their place.
const defaultStreams = new Map<string, CudaStream>();
const currentStreams = new Map<string, CudaStream>();

function defaultStream(op: string, device: unknown): CudaStream {
  const name = usableCuda(op, device);
  let stream = defaultStreams.get(name);
  if (stream === undefined) {
    const handle = native().createStream(deviceOrdinal(name), 0);
    stream = new CudaStream(new Existing(handle, name, true) as CudaStreamOptions);
    defaultStreams.set(name, stream);
  }
  return stream;
}

/** The stream that work on the device runs on unless it is given another. */
export function currentStream(op: string, device: DeviceName): CudaStream {
  return currentStreams.get(device) ?? defaultStreams.get(device) ?? defaultStream(op, device);
}

/**
 * Runs `fn` with the stream as its device's current one on this JavaScript thread, and returns what
 * it returns. Calls can be nested.
 *
 * @throws TypeError ERR_KIND for what is no stream, and if fn is no function or returns a promise,
 *   which would go on with another current stream; Error ERR_DISPOSED
 *
 * @example
 * import { CudaStream, isAvailable, ones, withStream } from "@warpwright/runtime";
 *
 * if (isAvailable("cuda")) {
 *   const stream = new CudaStream();
 *   const x = withStream(stream, () => ones([2, 3], { device: "cuda" }));
 * }
 */
export function withStream<T>(stream: CudaStream, fn: () => T): T {
  const op = "withStream";
  checkStream(op, stream);
  checkFunction(op, fn);
  const { device } = stream;
  const outer = currentStreams.get(device);
  currentStreams.set(device, stream);
  try {
    return callSynchronously(op, fn);
  } finally {
    if (outer === undefined) currentStreams.delete(device);
    else currentStreams.set(device, outer);
  }
}

function usableCuda(op: string, device: unknown): DeviceName {
  if (parseDevice(op, device) === "cpu") {
    throw deviceError(`${op}: expected a CUDA device, got cpu`);
  }
  return usableDevice(op, device);
}

function live(op: string, stream: CudaStream): StreamHandle {
  const handle = stream[STREAM];
  if (handle) return handle;
  throw disposedError(`${op}: the stream has been disposed`);
}

/**
 * The native stream for a call whose tensors are on `device`: that of `stream`, else the device's
 * current one; null on the CPU.
 *
 * @throws TypeError ERR_KIND for what is no stream; Error ERR_DEVICE for a stream of another device
 *   or beside tensors on the CPU; Error ERR_DISPOSED
 *
 * @example
 * import { streamFor } from "@warpwright/runtime/kernel";
 *
 * const stream = streamFor("rmsnorm", "cpu"); // null
 */
export function streamFor(
  op: string,
  device: DeviceName,
  stream?: CudaStream | undefined,
): StreamHandle | null {
  if (stream === undefined) {
    if (device === "cpu") return null;
    return checkStream(op, currentStream(op, device));
  }
  const handle = checkStream(op, stream);
  if (stream.device !== device) {
    throw deviceError(`${op}: expected a stream of ${device}, got one of ${stream.device}`);
  }
  return handle;
}

/** The native handle of a stream argument, or ERR_KIND or ERR_DISPOSED. */
export function checkStream(op: string, stream: CudaStream): StreamHandle {
  const handle =
    typeof stream === "object" && stream !== null && !types.isProxy(stream)
      ? (stream as Branded)[STREAM]
      : undefined;
  if (handle === undefined) {
    throw kindError(`${op}: expected stream to be a CudaStream, got ${describe(stream)}`);
  }
  if (handle === null) throw disposedError(`${op}: stream has been disposed`);
  return handle;
}
