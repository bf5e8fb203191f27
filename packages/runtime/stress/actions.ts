// What is done, and how often.
import * as capturing from "./capturing.js";
import * as changing from "./changing.js";
import * as creating from "./creating.js";
import * as housekeeping from "./housekeeping.js";
import * as reading from "./reading.js";
import { tidyUp } from "./scoping.js";
import * as streaming from "./streaming.js";
import type { World } from "./world.js";

type Action = (world: World, act: () => void) => void | Promise<void>;

/** Within captures, tidy() and withStream() too. */
const synchronous: readonly (readonly [number, string, Action])[] = [
  [30, "full", creating.createFilled],
  [6, "empty", creating.createEmpty],
  [6, "arange", creating.createRange],
  [20, "tensor", creating.createFromArray],
  [1, "large tensor", creating.createLarge],
  [20, "clone", creating.createClone],
  [12, "cat", creating.createJoined],
  [8, "unsafeFromPointer", creating.createWrapped],
  [40, "fill", changing.fill],
  [40, "copyFrom", changing.copyFrom],
  [15, "broadcast", changing.broadcast],
  [20, "convert", changing.convert],
  [15, "move", changing.move],
  [25, "view", changing.show],
  [45, "dispose", changing.dispose],
  [25, "drop", changing.drop],
  [15, "dataSync", reading.readNow],
  [50, "read", reading.readLater],
  [8, "new stream", streaming.createStream],
  [4, "fromHandle", streaming.wrapStream],
  [10, "dispose stream", streaming.disposeStream],
  [60, "withStream", streaming.useStream],
  [15, "record", streaming.recordEvent],
  [15, "wait", streaming.waitForEvent],
  [6, "query", streaming.queryEvent],
  [8, "dispose event", streaming.disposeEvent],
  [6, "await event", streaming.awaitEvent],
  [5, "elapsedMs", streaming.awaitTime],
  [3, "synchronizeSync", streaming.synchronizeNow],
  [15, "tidy", tidyUp],
  [25, "launch", capturing.launch],
  [6, "dispose graph", capturing.disposeGraph],
  [3, "emptyCache", housekeeping.dropCache],
  [4, "memoryStats", housekeeping.lookAtMemory],
  [1, "gc", housekeeping.collect],
];

const captured: typeof synchronous = [...synchronous, [60, "fork", capturing.fork]];

/** Between which the program has nothing under way. */
const outer: typeof synchronous = [
  ...synchronous,
  [25, "capture", capturing.capture],
  [8, "failing capture", capturing.captureInVain],
  [15, "event loop", housekeeping.turn],
  [20, "await promises", housekeeping.awaitPending],
  [6, "synchronize", streaming.synchronize],
  [2, "settle", housekeeping.settle],
];

const maxDepth = 4;
const maxBoxes = 60;

/** Does something at random. */
export async function step(world: World): Promise<void> {
  while (world.boxes.length > maxBoxes) changing.dispose(world);
  await perform(world, outer, 0);
}

function perform(world: World, table: typeof synchronous, depth: number): void | Promise<void> {
  const inner = () => {
    const nested = world.recording === null ? synchronous : captured;
    void perform(world, depth < maxDepth ? nested : leaves(nested), depth + 1);
  };
  const [, name, action] = choose(world, table);
  world.actions++;
  world.counts.set(name, (world.counts.get(name) ?? 0) + 1);
  return action(world, inner);
}

function leaves(table: typeof synchronous): typeof synchronous {
  return table.filter(([, name]) => name !== "withStream" && name !== "tidy");
}

function choose(world: World, table: typeof synchronous): (typeof synchronous)[number] {
  const total = table.reduce((sum, [weight]) => sum + weight, 0);
  let rest = world.random.below(total);
  for (const entry of table) {
    rest -= entry[0];
    if (rest < 0) return entry;
  }
  return table[0]!;
}
