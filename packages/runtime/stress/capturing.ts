// Actions on captures and graphs.
import { CudaGraph, full, withStream } from "@warpwright/runtime";
import { GraphRecord, Recording } from "./graphs.js";
import type { Lane } from "./order.js";
import type { World } from "./world.js";

const maxGraphs = 6;

/** Records what `fn` does on a lane; the error if it is refused. */
function record(world: World, fn: (recording: Recording) => unknown): GraphRecord | Error {
  const { devices, random } = world;
  const device = random.oneIn(5) ? random.pick(devices) : devices[0]!;
  const lanes = world.lanes.filter((lane) => lane.device === device);
  const lane = random.pick(lanes);
  const recording = new Recording(lane);
  lane.mark = world.mark(lane);
  world.log(`capture ${lane.name}`);
  try {
    const body = () => {
      world.recording = recording;
      let result: unknown;
      world.within(lane, () => {
        result = fn(recording);
      });
      return result;
    };
    const graph = CudaGraph.capture(body, { stream: world.streamOf(lane) });
    return new GraphRecord(graph, recording);
  } catch (error) {
    return error as Error;
  } finally {
    world.recording = null;
    for (const taking of recording.lanes) taking.mark = null;
    world.log(`end of the capture of ${lane.name}`);
  }
}

export function capture(world: World, act: () => void): void {
  if (world.graphs.length >= maxGraphs) disposeGraph(world);
  const count = world.random.between(1, 8);
  const result = record(world, (recording) => {
    for (let i = 0; i < count; i++) act();
    joinAll(world, recording);
  });
  if (result instanceof Error) throw result;
  world.log(`${result.name} it is`);
  world.graphs.push(result);
}

/** Has the capture's first stream wait for all others. */
function joinAll(world: World, { lanes, origin }: Recording): void {
  for (const lane of lanes) {
    if (lane !== origin) world.follow(origin, lane);
  }
}

/** Has another stream take part in the capture. */
export function fork(world: World): void {
  const { recording, random } = world;
  if (recording === null) return;
  const from = random.pick([...recording.lanes]);
  const lane = random.find(world.lanes, (each) => !recording.lanes.has(each));
  if (lane === undefined) return;
  join(world, recording, from, lane);
}

function join(world: World, recording: Recording, from: Lane, lane: Lane): void {
  world.log(`${lane.name} joins by way of ${from.name}`);
  lane.mark = world.mark(lane);
  const mark = world.mark(from);
  world.streamOf(lane).wait(mark.event);
  recording.lanes.add(lane);
  recording.order.wait(lane, mark.clock);
  if (world.random.oneIn(2)) mark.event.dispose();
}

const failures: readonly [string, (world: World, recording: Recording) => unknown][] = [
  [
    "on purpose",
    () => {
      throw new Error("on purpose");
    },
  ],
  ["ERR_CAPTURE", (world) => world.streamOf(world.lanes[0]!).synchronizeSync()],
  ["ERR_CAPTURE", () => CudaGraph.capture(() => {})],
  ["ERR_CAPTURE", async () => {}],
  ["ERR_CAPTURE", leaveUnjoined],
];

function leaveUnjoined(world: World, recording: Recording): void {
  const others = world.lanes.filter((lane) => !recording.lanes.has(lane));
  const lane = world.random.find(others, ({ device }) => device === recording.origin.device);
  if (lane === undefined) throw Object.assign(new Error("no lane"), { code: "ERR_CAPTURE" });
  join(world, recording, recording.origin, lane);
  const { device } = lane;
  withStream(world.streamOf(lane), () => full([4], 1, { device }).dispose());
}

/** A capture that ends in an error, which has to leave everything as it was. */
export function captureInVain(world: World, act: () => void): void {
  const [wanted, fail] = world.random.pick(failures);
  const count = world.random.between(0, 5);
  const result = record(world, (recording) => {
    for (let i = 0; i < count; i++) act();
    if (world.random.oneIn(2)) joinAll(world, recording);
    world.log(`fails: ${wanted}`);
    return fail(world, recording);
  });
  const { code, message } = result as Error & { code?: string };
  if (!(result instanceof Error)) world.fail(`expected a capture to fail: ${wanted}`);
  if (code !== wanted && message !== wanted) throw result;
}

export function launch(world: World): void {
  const { random } = world;
  const record = random.find(world.graphs, () => true);
  if (record === undefined) return;
  const lane = random.find(world.lanes, ({ device }) => device === record.device)!;
  world.log(`launch ${record.name} on ${lane.name}`);
  const call = () => record.graph.launch(world.streamOf(lane));
  if (world.isRecorded(lane)) {
    world.refused("ERR_CAPTURE", call);
    return;
  }
  world.order.wait(lane, record.launched);
  world.work(lane, record.reads, record.writes, call, () => record.run());
  record.launched = world.order.now(lane);
}

export function disposeGraph(world: World): void {
  const record = world.random.find(world.graphs, () => true);
  if (record === undefined) return;
  world.graphs.splice(world.graphs.indexOf(record), 1);
  const isDropped = world.random.oneIn(3);
  world.log(`${isDropped ? "drop" : "dispose"} ${record.name}`);
  if (!isDropped) record.graph.dispose();
}
