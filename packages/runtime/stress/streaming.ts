// Actions on streams and events.
import { CudaStream, withStream } from "@warpwright/runtime";
import { Lane, type Mark } from "./order.js";
import type { World } from "./world.js";

const maxLanes = 8;
const maxMarks = 24;

export function createStream(world: World): void {
  const { random } = world;
  if (world.lanes.length >= maxLanes) return;
  const device = random.oneIn(4) ? random.pick(world.devices) : world.devices[0]!;
  const lane = new Lane(new CudaStream({ device, priority: -random.below(2) }), false);
  world.log(`new stream ${lane.name} of ${device}`);
  world.lanes.push(lane);
}

/** Another object for a stream. */
export function wrapStream(world: World): void {
  const lane = world.random.find(world.lanes, ({ streams }) => streams.length < 3);
  if (lane === undefined) return;
  world.log(`wrap ${lane.name}`);
  const { device } = lane;
  lane.streams.push(CudaStream.fromHandle(world.streamOf(lane).handle, { device }));
}

export function disposeStream(world: World): void {
  const free = (lane: Lane) => !lane.isDefault && !world.isCurrent(lane);
  const lane = world.random.find(world.lanes, free);
  if (lane === undefined) return;
  if (world.isRecorded(lane)) {
    world.log(`dispose ${lane.name}, which is being captured`);
    world.refused("ERR_CAPTURE", () => world.streamOf(lane).dispose());
    return;
  }
  if (lane.streams.length === 1) {
    lane.mark = world.mark(lane);
    world.lanes.splice(world.lanes.indexOf(lane), 1);
    world.ended.push(lane);
  }
  const stream = lane.streams.pop()!;
  const isDropped = world.random.oneIn(3);
  world.log(`${isDropped ? "drop" : "dispose"} ${lane.name}, of which ${lane.streams.length} stay`);
  if (!isDropped) stream.dispose();
}

/** Runs some actions with another stream as its device's current one. */
export function useStream(world: World, act: () => void): void {
  const lane = world.random.pick(world.lanes);
  world.log(`use ${lane.name}`);
  const count = world.random.between(1, 4);
  const result = withStream(world.streamOf(lane), () => {
    world.within(lane, () => {
      for (let i = 0; i < count; i++) act();
    });
    return count;
  });
  if (result !== count) world.fail(`expected withStream to return ${count}, got ${result}`);
  world.log(`end of ${lane.name}`);
}

export function recordEvent(world: World): void {
  if (world.marks.length >= maxMarks) disposeEvent(world);
  const lane = world.random.pick(world.lanes);
  world.log(`record ${lane.name}`);
  world.marks.push(world.mark(lane));
}

/** Whether the mark is an event of a capture, this one or one that has ended. */
function isCaptured(world: World, { order }: Mark): boolean {
  return order !== world.order;
}

export function waitForEvent(world: World): void {
  const [lane, mark] = [world.random.pick(world.lanes), world.random.find(world.marks, () => true)];
  if (mark === undefined) return;
  const order = world.orderOf(lane);
  const joins = mark.order === world.recording?.order;
  if (joins && order !== mark.order) return; // fork() does that
  world.log(`${lane.name} waits for an event of ${mark.lane.name}`);
  const wait = () => world.streamOf(lane).wait(mark.event);
  if (order !== mark.order) {
    world.refused("ERR_CAPTURE", wait);
    return;
  }
  wait();
  order.wait(lane, mark.clock);
}

export function queryEvent(world: World): void {
  const mark = world.random.find(world.marks, () => true);
  if (mark === undefined) return;
  world.log(`query an event of ${mark.lane.name}`);
  if (isCaptured(world, mark)) {
    world.refused("ERR_CAPTURE", () => mark.event.query());
    return;
  }
  if (mark.event.query()) world.order.reach(mark.clock);
}

export function disposeEvent(world: World): void {
  const mark = world.random.find(world.marks, () => true);
  if (mark === undefined) return;
  world.marks.splice(world.marks.indexOf(mark), 1);
  if (world.random.oneIn(3)) return; // dropped
  mark.event.dispose();
  world.refused("ERR_DISPOSED", () => mark.event.query());
}

/** Waits in the background, the event disposed of meanwhile or not. */
export function awaitEvent(world: World): void {
  const mark = world.random.find(world.marks, (each) => !isCaptured(world, each));
  if (mark === undefined || world.recording !== null) return;
  world.log(`await an event of ${mark.lane.name}`);
  const { order } = world;
  void world.expect(mark.event.synchronize().then(() => order.reach(mark.clock)));
  if (world.random.oneIn(4)) disposeEvent(world);
}

export function awaitTime(world: World): void {
  const { marks, random } = world;
  const since = random.find(marks, (each) => !isCaptured(world, each));
  if (since === undefined || world.recording !== null) return;
  const { device } = since.event;
  const until = random.find(
    marks,
    (each) => !isCaptured(world, each) && each.event.device === device,
  );
  world.log(`time from ${since.lane.name} to ${until!.lane.name}`);
  // The order of two events of one stream is that of its clock.
  const isLater = countOf(until!) > countOf(since) && until!.lane === since.lane;
  const elapsed = until!.event.elapsedMs(since.event).then((milliseconds) => {
    const isWrong = !Number.isFinite(milliseconds) || (isLater && milliseconds < 0);
    if (isWrong) world.fail(`expected milliseconds between two events, got ${milliseconds}`);
  });
  void world.expect(elapsed);
}

function countOf({ clock, lane }: Mark): number {
  return clock.get(lane) ?? 0;
}

export function synchronizeNow(world: World): void {
  const lane = world.random.pick(world.lanes);
  world.log(`synchronizeSync ${lane.name}`);
  const call = () => world.streamOf(lane).synchronizeSync();
  if (world.recording !== null) {
    world.refused("ERR_CAPTURE", call);
    return;
  }
  const clock = world.order.now(lane);
  call();
  world.order.reach(clock);
}

export async function synchronize(world: World): Promise<void> {
  const lane = world.random.pick(world.lanes);
  world.log(`synchronize ${lane.name}`);
  const clock = world.order.now(lane);
  await world.streamOf(lane).synchronize();
  world.order.reach(clock);
}
