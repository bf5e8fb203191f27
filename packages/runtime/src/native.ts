import { availableParallelism } from "node:os";
import { quote } from "./describe.js";
import { valueError } from "./errors.js";
import { loadAddon } from "./loader.js";

/** An opaque object made by the runtime addon: one reference to a storage. */
export interface Handle {
  readonly __handle: "tensor";
}

/** An opaque object made by the runtime addon: a CUDA stream. */
export interface StreamHandle {
  readonly __handle: "stream";
}

/** An opaque object made by the runtime addon: a CUDA event. */
export interface EventHandle {
  readonly __handle: "event";
}

/** An opaque object made by the runtime addon: a CUDA graph. */
export interface GraphHandle {
  readonly __handle: "graph";
}

export interface Probe {
  /** Whether the addon was built with its CUDA sources. */
  withCuda: boolean;
  /** As CUDA counts: 13000 is 13.0; 0 where there is no driver. */
  driverVersion: number;
  runtimeVersion: number;
  /** "cudaSuccess", or the name of the error that counting the devices gave. */
  status: string;
  message: string;
  devices: ProbedDevice[];
}

export interface ProbedDevice {
  name: string;
  major: number;
  minor: number;
  totalMemory: number;
  multiprocessorCount: number;
}

/** Bytes; of the CPU, the first two alone. */
export interface NativeMemoryStats {
  allocated: number;
  peak: number;
  reserved?: number;
  free?: number;
  total?: number;
}

/**
 * The runtime addon's surface. `device` is -1 for the CPU, else the CUDA ordinal; a `geometry` is a
 * Float64Array of element counts whose order each function names; `stream` is null on the CPU.
 */
export interface Native {
  /** `op` begins the message where there is no memory left. */
  allocate(
    device: number,
    bytes: number,
    stream: StreamHandle | null,
    zero: boolean,
    op: string,
  ): Handle;
  /** Memory of another library, whose `owner` is kept alive until work on it is done. */
  wrapMemory(address: bigint, bytes: number, device: number, owner: object | null): Handle;
  share(handle: Handle): Handle;
  dispose(handle: Handle): void;
  pointer(handle: Handle): bigint;
  memoryStats(device: number): NativeMemoryStats;
  emptyCache(device: number): void;

  write(handle: Handle, byteOffset: number, source: Uint8Array, stream: StreamHandle | null): void;
  readSync(handle: Handle, byteOffset: number, into: Uint8Array, stream: StreamHandle | null): void;
  read(
    handle: Handle,
    byteOffset: number,
    into: Uint8Array,
    stream: StreamHandle | null,
  ): Promise<void>;

  /**
   * Rejects with ERR_FILE and the system's negative `errno`, 0 where the file ends early.
   * `asBool` makes 1 of every byte but 0.
   */
  readFile(
    fd: number,
    fileOffset: number,
    handle: Handle,
    byteOffset: number,
    bytes: number,
    asBool: boolean,
    stream: StreamHandle | null,
  ): Promise<void>;

  /** geometry: rank, sizes, dst offset, dst strides, src offset, src strides */
  copy(
    dst: Handle,
    src: Handle,
    stream: StreamHandle | null,
    dstDtype: number,
    srcDtype: number,
    geometry: Float64Array,
  ): void;
  transfer(
    dst: Handle,
    dstByteOffset: number,
    src: Handle,
    srcByteOffset: number,
    bytes: number,
    stream: StreamHandle | null,
  ): void;
  /** geometry: rank, sizes, offset, strides */
  fill(
    dst: Handle,
    stream: StreamHandle | null,
    dtype: number,
    value: number | bigint,
    geometry: Float64Array,
  ): void;
  randn(dst: Handle, stream: StreamHandle | null, dtype: number, count: number, seed: bigint): void;

  createStream(device: number, priority: number): StreamHandle;
  wrapStream(address: bigint, device: number): StreamHandle;
  streamAddress(stream: StreamHandle): bigint;
  synchronizeSync(stream: StreamHandle): void;
  synchronize(stream: StreamHandle): Promise<void>;
  disposeStream(stream: StreamHandle): void;

  recordEvent(stream: StreamHandle): EventHandle;
  waitForEvent(stream: StreamHandle, event: EventHandle): void;
  queryEvent(event: EventHandle): boolean;
  synchronizeEvent(event: EventHandle): Promise<void>;
  elapsedMs(event: EventHandle, since: EventHandle): Promise<number>;
  disposeEvent(event: EventHandle): void;

  /** Until endCapture() or abandonCapture() on the same thread. */
  beginCapture(stream: StreamHandle): void;
  endCapture(): GraphHandle;
  abandonCapture(): void;
  launchGraph(graph: GraphHandle, stream: StreamHandle): void;
  disposeGraph(graph: GraphHandle): void;

  /** The first error that made the device unusable; null while it is usable. */
  lostCause(device: number): string | null;
  /**
   * Microseconds that the link to a CUDA device takes for the bytes: copies of one pinned buffer,
   * over and over, to memory on the device or back.
   */
  measureLink(device: number, bytes: number, toDevice: boolean): number;

  probe(): Probe;
  setNumThreads(count: number): void;
  /** Unless a count has been set in this process. */
  initNumThreads(count: number): void;
  getNumThreads(): number;
}

const load = loadAddon<Native>("runtime", {
  "linux-x64": () => new URL("../prebuilds/linux-x64/runtime.node", import.meta.url),
});

/** More would not start on most machines. */
export const maxThreads = 1024;

let addon: Native | undefined;

/** The addon, loaded at the first call. */
export function native(): Native {
  return addon ?? start();
}

function start(): Native {
  const loaded = load();
  // The pool is the process's: whichever thread comes later must not undo what another has set.
  loaded.initNumThreads(initialThreads());
  addon = loaded;
  return loaded;
}

function initialThreads(): number {
  const text = process.env.WARPWRIGHT_NUM_THREADS;
  if (text === undefined || text === "") return Math.min(availableParallelism(), maxThreads);
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > maxThreads) {
    throw valueError(
      `runtime: expected WARPWRIGHT_NUM_THREADS to be an integer from 1 to ${maxThreads}, ` +
        `got ${quote(text)}`,
    );
  }
  return count;
}
