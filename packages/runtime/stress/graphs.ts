// Captures and graphs, as the model sees them.
import type { CudaGraph, DeviceName } from "@warpwright/runtime";
import type { Memory } from "./model.js";
import { type Clock, type Lane, Order } from "./order.js";

/** A capture under way. */
export class Recording {
  readonly order = new Order();
  readonly lanes: Set<Lane>;
  /** What a launch does, in the order of the calls, which is one that the capture allows. */
  readonly steps: (() => void)[] = [];
  readonly reads = new Set<Memory>();
  readonly writes = new Set<Memory>();

  constructor(readonly origin: Lane) {
    this.lanes = new Set([origin]);
  }
}

let made = 0;

/** A graph that can be launched. */
export class GraphRecord {
  readonly name = `g${++made}`;
  readonly device: DeviceName;
  readonly reads: readonly Memory[];
  readonly writes: readonly Memory[];
  readonly #steps: readonly (() => void)[];
  /** When its last launch is done, which the next waits for by itself. */
  launched: Clock = new Map();

  constructor(
    readonly graph: CudaGraph,
    { origin, reads, writes, steps }: Recording,
  ) {
    this.device = origin.device;
    this.reads = [...reads];
    this.writes = [...writes];
    this.#steps = steps;
  }

  run(): void {
    for (const step of this.#steps) step();
  }
}
