import { whileCapturing } from "./capturing.js";
import { usableDevice } from "./devices.js";
import { Disposing } from "./disposing.js";
import { type Coded, disposedError, kindError, withCode } from "./errors.js";
import type { DeviceName } from "./internals.js";
import { checkOptions } from "./kernel/checks.js";
import { type GraphHandle, native } from "./native.js";
import { type CudaStream, checkStream, currentStream, streamFor, withStream } from "./streams.js";
import { callSynchronously, checkFunction } from "./synchronous.js";

/** Options of CudaGraph.capture(). */
export interface CaptureOptions {
  /** The stream whose work is recorded. Default: the current stream of cuda:0. */
  stream?: CudaStream | undefined;
}

// Outside this file, graphs are made by CudaGraph.capture.
const key = Symbol("CudaGraph");

/**
 * Work that was recorded once and is launched as a whole, for a few microseconds of the JavaScript
 * thread whatever the number of its kernels. A launch reads and writes the memory that the recorded
 * calls were given: new inputs go in by copyFrom(), before it.
 *
 * @example
 * import { CudaGraph, isAvailable, ones, randn, Tensor } from "@warpwright/runtime";
 *
 * if (isAvailable("cuda")) {
 *   const x = ones([1024], { device: "cuda" });
 *   let half: Tensor<"float16"> | undefined;
 *   const graph = CudaGraph.capture(() => {
 *     half = x.to("float16"); // recorded, not run
 *   });
 *   x.copyFrom(randn([1024]));
 *   graph.launch();
 *   console.log(await half?.data());
 *   graph.dispose();
 * }
 */
export class CudaGraph extends Disposing {
  /** Full name of the device, such as "cuda:0". */
  readonly device: DeviceName;
  #handle: GraphHandle | null;

  private constructor(given: symbol, handle: GraphHandle, device: DeviceName) {
    super();
    if (given !== key)
      throw kindError("CudaGraph: expected a call of CudaGraph.capture(), got new");
    this.device = device;
    this.#handle = handle;
  }

  /**
   * Records what `fn` gives to the stream, which is the device's current one meanwhile, without
   * running it. Tensors made inside are in memory that the graph owns, at the same address at every
   * launch; they hold nothing before the first, and what is disposed of inside makes room for what
   * follows. The graph keeps all memory that its kernels touch until it is disposed of. Arrays that
   * become tensors inside are copied now, and written again by every launch.
   *
   * Another stream takes part once it waits for an event that was recorded inside, and the first
   * one has to wait for it again before the end. Work on streams that take no part runs at once.
   *
   * @param fn synchronous; what it returns is ignored
   * @throws TypeError ERR_CAPTURE if fn returns a promise; Error ERR_CAPTURE for what cannot be
   *   recorded, such as reading back, waiting, copying between GPUs or another capture; TypeError
   *   ERR_KIND; Error ERR_DEVICE, ERR_DISPOSED, ERR_DEVICE_LOST; CudaError. Whatever fn throws is
   *   thrown on. After an error the stream can be used as before.
   */
  static capture(fn: () => unknown, options: CaptureOptions = {}): CudaGraph {
    const op = "CudaGraph.capture";
    checkFunction(op, fn);
    checkOptions(op, options, ["stream"]);
    const stream = options.stream ?? currentStream(op, usableDevice(op, "cuda:0"));
    native().beginCapture(checkStream(op, stream));
    try {
      whileCapturing(() => {
        withStream(stream, () => void callSynchronously(op, fn, promiseError));
      });
    } catch (error) {
      native().abandonCapture();
      throw error;
    }
    return new CudaGraph(key, native().endCapture(), stream.device);
  }

  /** Whether dispose() has been called. */
  get disposed(): boolean {
    return this.#handle === null;
  }

  /**
   * Enqueues the recorded work. Launches of one graph run one after the other, on whatever streams.
   *
   * @param stream of the graph's device. Default: the current one
   * @throws TypeError ERR_KIND; Error ERR_DEVICE, ERR_DISPOSED, ERR_CAPTURE during a capture,
   *   ERR_DEVICE_LOST; CudaError
   */
  launch(stream?: CudaStream | undefined): void {
    const handle = this.#handle;
    if (handle === null) throw disposedError("launch: the graph has been disposed");
    const on = streamFor("launch", this.device, stream);
    if (on !== null) native().launchGraph(handle, on);
  }

  /**
   * Ends this object; launches that are under way finish, then the graph's memory is freed, save
   * that of tensors which are still there. Harmless when repeated.
   */
  dispose(): void {
    const handle = this.#handle;
    if (handle === null) return;
    this.#handle = null;
    native().disposeGraph(handle);
  }
}

function promiseError(message: string): Coded<TypeError> {
  return withCode(new TypeError(message), "ERR_CAPTURE");
}
