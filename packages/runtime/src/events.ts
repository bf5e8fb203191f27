import { types } from "node:util";
import { describe } from "./describe.js";
import { Disposing } from "./disposing.js";
import { disposedError, kindError } from "./errors.js";
import type { DeviceName } from "./internals.js";
import { type EventHandle, native, type StreamHandle } from "./native.js";

// Outside this file, events are made by recordEvent.
const key = Symbol("CudaEvent");

let handleIn: (event: object) => EventHandle | null | undefined;

/**
 * A point in a stream's work, made by CudaStream.record(): what the stream was given before it.
 * Other streams can wait for it, and two of them tell the time between.
 *
 * @example
 * import { CudaStream, isAvailable, ones } from "@warpwright/runtime";
 *
 * if (isAvailable("cuda")) {
 *   const stream = CudaStream.default();
 *   const start = stream.record();
 *   ones([1024, 1024], { device: "cuda" });
 *   const milliseconds = await stream.record().elapsedMs(start);
 * }
 */
export class CudaEvent extends Disposing {
  /** Full name of the device, such as "cuda:0". */
  readonly device: DeviceName;
  #handle: EventHandle | null;

  static {
    handleIn = (event) => (#handle in event ? event.#handle : undefined);
  }

  private constructor(given: symbol, handle: EventHandle, device: DeviceName) {
    super();
    if (given !== key) throw kindError("CudaEvent: expected a call of record(), got new");
    this.device = device;
    this.#handle = handle;
  }

  /** @internal */
  static [key](handle: EventHandle, device: DeviceName): CudaEvent {
    return new CudaEvent(key, handle, device);
  }

  /** Whether dispose() has been called. */
  get disposed(): boolean {
    return this.#handle === null;
  }

  /**
   * Resolves to the milliseconds from `since` to this event, once both have happened. CUDA's clock
   * has a resolution of about half a microsecond.
   *
   * @throws (as rejections) TypeError ERR_KIND; Error ERR_DEVICE for an event of another device,
   *   ERR_DISPOSED, ERR_CAPTURE, ERR_DEVICE_LOST; CudaError
   */
  async elapsedMs(since: CudaEvent): Promise<number> {
    return native().elapsedMs(live("elapsedMs", this), eventHandle("elapsedMs", "since", since));
  }

  /** Whether it has happened; does not wait. */
  query(): boolean {
    return native().queryEvent(live("query", this));
  }

  /** Resolves when it has happened; rejects with a CudaError if the work before it failed. */
  async synchronize(): Promise<void> {
    await native().synchronizeEvent(live("synchronize", this));
  }

  /** Ends this object; what waits for the event goes on to do so. Harmless when repeated. */
  dispose(): void {
    const handle = this.#handle;
    if (handle === null) return;
    this.#handle = null;
    native().disposeEvent(handle);
  }
}

/** A new event behind all that the stream has been given. */
export function recordEvent(stream: StreamHandle, device: DeviceName): CudaEvent {
  return CudaEvent[key](native().recordEvent(stream), device);
}

/** The native handle of an event argument, or ERR_KIND or ERR_DISPOSED. */
export function eventHandle(op: string, name: string, event: unknown): EventHandle {
  const handle =
    typeof event === "object" && event !== null && !types.isProxy(event)
      ? handleIn(event)
      : undefined;
  if (handle) return handle;
  if (handle === null) throw disposedError(`${op}: ${name} has been disposed`);
  throw kindError(`${op}: expected ${name} to be a CudaEvent, got ${describe(event)}`);
}

function live(op: string, event: CudaEvent): EventHandle {
  return eventHandle(op, "the event", event);
}
