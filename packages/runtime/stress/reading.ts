// Actions that read tensors back, now or later.
import type { Tensor, TypedArray } from "@warpwright/runtime";
import { difference, elementsOf } from "./values.js";
import type { Box, World } from "./world.js";

const listed = 2000;

type Values = ArrayLike<number | bigint | boolean>;

/** Notes a read and says what it has to give. */
function read<T>(world: World, { view }: Box, call: () => T): [T, Int16Array] {
  const lane = world.current(view.memory.device);
  const expected = view.gather();
  if (lane === null) return [call(), expected];
  return [world.work(lane, [view.memory], [], call, () => {}), expected];
}

function check(world: World, box: Box, how: string, got: Values, expected: Int16Array): void {
  const { dtype } = box.view.memory;
  const found = difference(dtype, got, expected);
  if (found !== null) {
    world.fail(`${how} of ${box.name} (${box.tensor}): ${found}`);
  }
}

export function readNow(world: World): void {
  const box = world.someBox();
  if (box === undefined) return;
  const { memory, size } = box.view;
  world.log(`dataSync of ${box.name} on ${world.current(memory.device)?.name ?? "cpu"}`);
  if (world.recording !== null && memory.device !== "cpu" && size > 0) {
    world.refused("ERR_CAPTURE", () => box.tensor.dataSync());
    return;
  }
  const [got, expected] = read(world, box, () => box.tensor.dataSync());
  check(world, box, "dataSync", got as Values, expected);
}

/** A read whose promise is left to itself. */
export function readLater(world: World): void {
  const box = world.someBox();
  if (box === undefined) return;
  const { memory, size } = box.view;
  const [how, start] = someRead(world, box);
  world.log(`${how} of ${box.name} on ${world.current(memory.device)?.name ?? "cpu"}`);
  if (world.recording !== null && memory.device !== "cpu" && size > 0) {
    const refused = start().then(
      () => world.fail(`expected ${how} in a capture to be refused`),
      (error: { code?: unknown }) => {
        if (error.code !== "ERR_CAPTURE") throw error;
      },
    );
    void world.expect(refused);
    return;
  }
  const [arrival, expected] = read(world, box, start);
  void world.expect(arrival.then((got) => check(world, box, how, got, expected)));
  const keeps = box.tensor;
  if (world.random.oneIn(4) && world.tidying === 0) {
    world.log(`dispose ${box.name}, which is being read`);
    keeps.dispose();
    world.remove(box);
  }
}

function someRead(world: World, { tensor, view }: Box): [string, () => Promise<Values>] {
  const kind = world.random.below(4);
  if (kind === 0 && view.size <= listed) return ["tolist", async () => listOf(tensor)];
  if (kind === 1) {
    const { dtype } = view.memory;
    return ["bytes", async () => elementsOf(dtype, await tensor.bytes()) as Values];
  }
  if (kind === 2) return ["read", () => readInto(tensor)];
  if (view.size === 1) return ["item", async () => [await tensor.item()]];
  return ["data", async () => (await tensor.data()) as Values];
}

async function listOf(tensor: Tensor): Promise<Values> {
  return [await tensor.tolist()].flat(9) as unknown as Values;
}

const arrays = {
  float32: Float32Array,
  float16: Uint16Array,
  bfloat16: Float32Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
};

/** Into the middle of an array, whose ends have to stay. */
async function readInto(tensor: Tensor): Promise<Values> {
  const kind = arrays[tensor.dtype];
  const margin = 8;
  const whole = new Uint8Array(tensor.size * kind.BYTES_PER_ELEMENT + 2 * margin).fill(77);
  const got = (await tensor.read(new kind(whole.buffer, margin, tensor.size))) as TypedArray;
  const ends = [...whole.subarray(0, margin), ...whole.subarray(-margin)];
  if (ends.some((value) => value !== 77)) throw new Error(`read wrote beside the array: ${ends}`);
  return got as Values;
}
