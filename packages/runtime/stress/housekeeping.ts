// Actions on memory as a whole, and on the event loop.
import { setImmediate, setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { CudaStream, emptyCache, memoryStats } from "@warpwright/runtime";
import { Order } from "./order.js";
import type { World } from "./world.js";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

export function dropCache(world: World): void {
  const device = world.random.pick(world.devices);
  world.log(`emptyCache ${device}`);
  emptyCache(device);
}

export function lookAtMemory(world: World): void {
  const device = world.random.pick([...world.devices, "cpu"] as const);
  const { allocated, peak } = memoryStats(device);
  if (!(allocated >= 0 && peak >= allocated)) {
    world.fail(`expected memory of ${device} at most at its peak ${peak}, got ${allocated}`);
  }
}

export function collect(world: World): void {
  world.log("gc");
  gc();
}

export async function turn(world: World): Promise<void> {
  await (world.random.oneIn(10) ? setTimeout(2) : setImmediate());
}

/** Waits for one of the promises, or for all. */
export async function awaitPending(world: World): Promise<void> {
  world.log(`await ${world.pending.size} promises`);
  const isAll = world.random.oneIn(3);
  await (isAll ? Promise.all(world.pending) : world.pending.values().next().value);
}

/** Waits for everything, so that nothing is left to be ordered. */
export async function settle(world: World): Promise<void> {
  world.log("settle");
  await Promise.all(world.pending);
  for (const lane of world.lanes) await world.streamOf(lane).synchronize();
  for (const { event } of world.marks.splice(0)) event.dispose();
  // What has ended may have work left, which its device's other streams know nothing of.
  for (const lane of world.ended.splice(0)) await lane.mark!.event.synchronize();
  for (const record of world.graphs) record.launched = new Map();
  world.order = new Order();
}

/** Disposes of everything or drops it, and waits until the devices' memory is free. */
export async function finish(world: World, allocated: ReadonlyMap<string, number>): Promise<void> {
  await settle(world);
  letGo(world);
  for (const [device, before] of allocated) {
    const now = await freed(device as "cpu", before);
    if (now !== before) world.fail(`expected ${before} bytes of ${device} at the end, got ${now}`);
  }
}

// A function of its own: what the other ones' frames hold is not collected while they wait.
function letGo({ boxes, graphs, lanes, random }: World): void {
  for (const { tensor } of boxes.splice(0)) {
    if (random.oneIn(2)) tensor.dispose();
  }
  for (const { graph } of graphs.splice(0)) {
    if (random.oneIn(2)) graph.dispose();
  }
  for (const { isDefault, streams } of lanes.splice(0)) {
    if (!isDefault) for (const stream of streams) stream.dispose();
  }
}

async function freed(device: "cpu" | `cuda:${number}`, before: number): Promise<number> {
  for (let i = 0; i < 50; i++) {
    gc();
    await setImmediate();
    if (device !== "cpu") {
      await CudaStream.default(device).synchronize();
      emptyCache(device);
    }
    if (memoryStats(device).allocated === before) break;
    await setTimeout(i);
  }
  return memoryStats(device).allocated;
}
