// The state of a run: what there is to act on, and how work is given to the runtime and its model.
import { CudaStream, type DeviceName, type Tensor } from "@warpwright/runtime";
import type { GraphRecord, Recording } from "./graphs.js";
import type { Memory, View } from "./model.js";
import { Lane, type Mark, Order } from "./order.js";
import { Random } from "./random.js";

/** Elements of the largest tensors. */
export interface Limits {
  /** That kernels work on. */
  computed: number;
  /** That are only copied whole. */
  copied: number;
}

/** A tensor and what it shows. */
export interface Box {
  readonly id: number;
  /** Its own and its memory's. */
  readonly name: string;
  readonly tensor: Tensor;
  readonly view: View;
}

/** What the program has found wrong. */
export class StressFailure extends Error {}

const keptLines = 200;

export class World {
  readonly random: Random;
  readonly boxes: Box[] = [];
  readonly lanes: Lane[] = [];
  /** Lanes without a CudaStream object, whose work may go on. */
  readonly ended: Lane[] = [];
  readonly marks: Mark[] = [];
  readonly graphs: GraphRecord[] = [];
  readonly pending = new Set<Promise<void>>();
  readonly counts = new Map<string, number>();
  order = new Order();
  recording: Recording | null = null;
  /** Of tidy() calls that are running. */
  tidying = 0;
  failure: Error | null = null;
  actions = 0;
  readonly #current = new Map<DeviceName, Lane[]>();
  readonly #lines: string[] = [];
  #made = 0;

  /** @param devices CUDA devices; most happens on the first */
  constructor(
    seed: number,
    readonly devices: readonly DeviceName[],
    readonly limits: Limits,
  ) {
    this.random = new Random(seed);
    for (const device of devices) {
      const lane = new Lane(CudaStream.default(device), true);
      this.lanes.push(lane);
      this.#current.set(device, [lane]);
    }
  }

  /** Notes what is done next, for the list that is printed at a failure. */
  log(line: string): void {
    const depth = this.recording === null ? "" : `[${this.recording.origin.name}] `;
    this.#lines.push(`${this.actions} ${depth}${line}`);
    if (this.#lines.length > keptLines) this.#lines.shift();
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  fail(message: string): never {
    const failure = new StressFailure(message);
    this.failure ??= failure;
    throw failure;
  }

  /** A device for something new. */
  someDevice(): DeviceName {
    const others: readonly DeviceName[] = [...this.devices.slice(1), "cpu"];
    return this.random.oneIn(4) ? this.random.pick(others) : this.devices[0]!;
  }

  /** What work on the device runs on; null for the CPU. */
  current(device: DeviceName): Lane | null {
    return this.#current.get(device)?.at(-1) ?? null;
  }

  isCurrent(lane: Lane): boolean {
    return this.#current.get(lane.device)!.includes(lane);
  }

  /** Runs fn while the lane is the current one. */
  within(lane: Lane, fn: () => void): void {
    const stack = this.#current.get(lane.device)!;
    stack.push(lane);
    try {
      fn();
    } finally {
      stack.pop();
    }
  }

  /** A CudaStream object of the lane. */
  streamOf(lane: Lane): CudaStream {
    return this.random.pick(lane.streams);
  }

  isRecorded(lane: Lane | null): boolean {
    return lane !== null && this.recording?.lanes.has(lane) === true;
  }

  orderOf(lane: Lane): Order {
    return this.isRecorded(lane) ? this.recording!.order : this.order;
  }

  add(tensor: Tensor, view: View): Box {
    const id = this.#made++;
    const box = { id, name: `t${id}/${view.memory.name}`, tensor, view };
    this.#lines.push(`  ${box.name}`);
    this.boxes.push(box);
    const { shape, dtype, device } = tensor;
    const same = shape.join() === view.shape.join();
    if (!same || dtype !== view.memory.dtype || device !== view.memory.device) {
      this.fail(`expected [${view.shape}] of ${view.memory.dtype}, got ${tensor}`);
    }
    return box;
  }

  /** One that fits, often of the newest. */
  someBox(fits: (box: Box) => boolean = () => true): Box | undefined {
    const newest = this.random.oneIn(2) ? this.random.find(this.boxes.slice(-4), fits) : undefined;
    return newest ?? this.random.find(this.boxes, fits);
  }

  /** Boxes made from now on have this id or a larger one. */
  get nextId(): number {
    return this.#made;
  }

  remove(box: Box): void {
    this.boxes.splice(this.boxes.indexOf(box), 1);
  }

  /**
   * Gives work to the lane behind all that it depends on.
   *
   * @param apply does it in the model: now, or at every launch of what is being recorded
   */
  work<T>(
    lane: Lane | null,
    reads: readonly Memory[],
    writes: readonly Memory[],
    call: () => T,
    apply: () => void,
  ): T {
    if (lane !== null) this.arrange(lane, reads, writes);
    const result = call();
    if (lane !== null) this.note(lane, reads, writes);
    if (this.isRecorded(lane)) this.recording!.steps.push(apply);
    else apply();
    return result;
  }

  /** Has the lane wait for all that uses of the memories depend on. */
  arrange(lane: Lane, reads: readonly Memory[], writes: readonly Memory[]): void {
    for (const other of this.orderOf(lane).conflicts(lane, reads, writes)) this.follow(lane, other);
  }

  note(lane: Lane, reads: readonly Memory[], writes: readonly Memory[]): void {
    this.orderOf(lane).note(lane, reads, writes);
    if (!this.isRecorded(lane)) return;
    for (const memory of reads) this.recording!.reads.add(memory);
    for (const memory of writes) this.recording!.writes.add(memory);
  }

  /** Has the lane wait for all that the other one has been given. */
  follow(lane: Lane, other: Lane): void {
    const isGone = other.streams.length === 0;
    const isApart = this.isRecorded(other) && !this.isRecorded(lane);
    const mark = isGone || isApart ? other.mark! : this.mark(other);
    this.streamOf(lane).wait(mark.event);
    this.orderOf(lane).wait(lane, mark.clock);
    if (mark === other.mark) return;
    const fate = this.random.pick(["disposed", "disposed", "kept", "dropped"]);
    if (fate === "disposed") mark.event.dispose();
    if (fate === "kept") this.marks.push(mark);
  }

  /** An event behind all that the lane has been given. */
  mark(lane: Lane): Mark {
    const order = this.orderOf(lane);
    return { event: this.streamOf(lane).record(), lane, clock: order.now(lane), order };
  }

  /** Checks that the call is refused, with this code. */
  refused(code: string, call: () => unknown): void {
    try {
      call();
    } catch (error) {
      if ((error as { code?: unknown }).code === code) return;
      throw error;
    }
    this.fail(`expected ${code}, got no error`);
  }

  /** Has a promise's outcome looked at, whenever it comes. */
  expect(promise: Promise<void>): Promise<void> {
    const settled = promise
      .catch((error: Error) => {
        this.failure ??= error;
      })
      .finally(() => this.pending.delete(settled));
    this.pending.add(settled);
    return settled;
  }
}
