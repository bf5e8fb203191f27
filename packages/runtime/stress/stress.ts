// One run of random actions.
import { CudaStream, type DeviceName, memoryStats } from "@warpwright/runtime";
import { step } from "./actions.js";
import { finish } from "./housekeeping.js";
import { type Limits, World } from "./world.js";

export interface StressOptions {
  seed: number;
  /** CUDA devices; most happens on the first. */
  devices: readonly DeviceName[];
  limits: Limits;
  /** Ends the run: at so many actions, or when it says so. */
  until: (actions: number) => boolean;
  /** Called now and then with the counts of all actions. */
  report?: (world: World) => void;
  /** Whether nobody else in this process uses the devices, so that their memory can be counted. */
  isAlone?: boolean;
}

/** Acts at random until it is told to end. Throws at the first thing that is not as expected. */
export async function stress(options: StressOptions): Promise<World> {
  const { seed, devices, limits, until, report = () => {}, isAlone = true } = options;
  for (const device of devices) CudaStream.default(device);
  const counted = isAlone ? ([...devices, "cpu"] as const) : [];
  const allocated = new Map(counted.map((name) => [name, memoryStats(name).allocated]));
  const world = new World(seed, devices, limits);
  try {
    while (!until(world.actions)) {
      await step(world);
      if (world.failure !== null) throw world.failure;
      report(world);
    }
    await finish(world, allocated);
    if (world.failure !== null) throw world.failure;
  } catch (error) {
    throw new Error(`${explain(world)}\nseed ${seed}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return world;
}

function explain({ lines }: World): string {
  return ["the last actions:", ...lines.map((line) => `  ${line}`)].join("\n");
}
