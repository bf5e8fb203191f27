// Which work on streams is known to be done before which other, by vector clocks: what the API
// leaves to the caller.
import type { CudaEvent, CudaStream, DeviceName } from "@warpwright/runtime";
import type { Memory } from "./model.js";

/** How many pieces of each lane's work are done. */
export type Clock = ReadonlyMap<Lane, number>;

/** An event, and what has happened by then. */
export interface Mark {
  event: CudaEvent;
  lane: Lane;
  clock: Clock;
  /** Of what it is an event: everything at once, or a capture. */
  order: Order;
}

let made = 0;

/** A stream on the device, which several CudaStream objects may stand for. */
export class Lane {
  readonly name = `s${++made}`;
  readonly device: DeviceName;
  /** Those that have not been disposed of; none once the lane has ended. */
  readonly streams: CudaStream[];
  /** Behind all its work, since it cannot record: it has ended or takes part in a capture. */
  mark: Mark | null = null;

  constructor(
    stream: CudaStream,
    readonly isDefault: boolean,
  ) {
    this.device = stream.device;
    this.streams = [stream];
  }
}

/** Who has used a memory since it was last written. */
interface Uses {
  write: [Lane, number] | null;
  reads: Map<Lane, number>;
}

/** The order of all that runs at once, or of one capture. */
export class Order {
  readonly #clocks = new Map<Lane, Map<Lane, number>>();
  readonly #uses = new Map<Memory, Uses>();
  readonly #host = new Map<Lane, number>();

  /** The lanes with work that the lane has to wait for before it uses the memories. */
  conflicts(lane: Lane, reads: readonly Memory[], writes: readonly Memory[]): Set<Lane> {
    const before = new Set<Lane>();
    const clock = this.#clock(lane);
    const need = (other: Lane, count: number) => {
      const known = Math.max(clock.get(other) ?? 0, this.#host.get(other) ?? 0);
      if (other !== lane && known < count) before.add(other);
    };
    for (const memory of [...reads, ...writes]) {
      const write = this.#uses.get(memory)?.write;
      if (write) need(...write);
    }
    for (const memory of writes) {
      for (const read of this.#uses.get(memory)?.reads ?? []) need(...read);
    }
    return before;
  }

  /** Counts a piece of work. */
  note(lane: Lane, reads: readonly Memory[], writes: readonly Memory[]): void {
    const clock = this.#clock(lane);
    const count = (clock.get(lane) ?? 0) + 1;
    clock.set(lane, count);
    for (const memory of reads) this.#usesOf(memory).reads.set(lane, count);
    for (const memory of writes) {
      this.#uses.set(memory, { write: [lane, count], reads: new Map() });
    }
  }

  /** The lanes that have used the memory. */
  users(memory: Memory): Lane[] {
    const uses = this.#uses.get(memory);
    if (uses === undefined) return [];
    return [...(uses.write === null ? [] : [uses.write[0]]), ...uses.reads.keys()];
  }

  /** What has happened before the lane's next work. */
  now(lane: Lane): Clock {
    return new Map(this.#clock(lane));
  }

  wait(lane: Lane, clock: Clock): void {
    merge(this.#clock(lane), clock);
  }

  /** The program itself has waited. */
  reach(clock: Clock): void {
    merge(this.#host, clock);
  }

  #clock(lane: Lane): Map<Lane, number> {
    let clock = this.#clocks.get(lane);
    if (clock === undefined) {
      clock = new Map();
      this.#clocks.set(lane, clock);
    }
    return clock;
  }

  #usesOf(memory: Memory): Uses {
    let uses = this.#uses.get(memory);
    if (uses === undefined) {
      uses = { write: null, reads: new Map() };
      this.#uses.set(memory, uses);
    }
    return uses;
  }
}

function merge(into: Map<Lane, number>, clock: Clock): void {
  for (const [lane, count] of clock) into.set(lane, Math.max(into.get(lane) ?? 0, count));
}
