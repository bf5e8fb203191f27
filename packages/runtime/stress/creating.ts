// Actions that make tensors.
import {
  arange,
  cat,
  type DeviceName,
  type DType,
  empty,
  fromBytes,
  full,
  type Tensor,
  tensor,
  unsafeFromPointer,
  zeros,
} from "@warpwright/runtime";
import { Memory, View } from "./model.js";
import { arrayOf, converted, dtypes, largest, unknown } from "./values.js";
import type { Box, World } from "./world.js";

const dims = [1, 2, 3, 4, 5, 8, 16, 33];

/** A shape of few elements, at times of many, rarely of none. */
export function someShape({ random, limits }: World): number[] {
  if (random.oneIn(40)) return random.pick([[], [0], [3, 0]]);
  const rank = random.between(1, 3);
  const shape = Array.from({ length: rank }, () => random.pick(dims));
  if (random.oneIn(6)) shape[0] = Math.floor(limits.computed / elements(shape.slice(1)));
  return shape;
}

function elements(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Random values, with a period that no power of two has. */
function someValues(world: World, dtype: DType, count: number): Int16Array {
  const period = Int16Array.from({ length: Math.min(count, 251) }, () =>
    converted(world.random.between(0, largest), dtype),
  );
  const values = new Int16Array(count);
  for (let start = 0; start < count; start += 251) {
    values.set(period.subarray(0, count - start), start);
  }
  return values;
}

/** A new tensor whose memory `apply` describes; `make` is given to the current lane. */
function create(
  world: World,
  [device, dtype, shape]: readonly [DeviceName, DType, readonly number[]],
  make: () => Tensor,
  apply: (view: View) => void,
): Box {
  const view = new View(new Memory(device, dtype, elements(shape)), shape);
  const made = world.work(world.current(device), [], [view.memory], make, () => apply(view));
  return world.add(made, view);
}

export function createFilled(world: World): void {
  const { random } = world;
  const [device, dtype, shape] = [world.someDevice(), random.pick(dtypes), someShape(world)];
  const kind = random.below(3);
  const value = kind === 0 ? 0 : random.between(0, largest);
  world.log(`full ${dtype} [${shape}] ${value} on ${world.current(device)?.name ?? device}`);
  const options = { dtype, device };
  const make = () => (kind === 0 ? zeros(shape, options) : full(shape, value, options));
  create(world, [device, dtype, shape], make as () => Tensor, (view) => view.fill(value));
}

export function createEmpty(world: World): void {
  const { random } = world;
  const [device, dtype, shape] = [world.someDevice(), random.pick(dtypes), someShape(world)];
  world.log(`empty ${dtype} [${shape}] on ${world.current(device)?.name ?? device}`);
  const make = () => empty(shape, { dtype, device }) as Tensor;
  create(world, [device, dtype, shape], make, ({ memory }) => memory.values.fill(unknown));
}

export function createRange(world: World): void {
  const { random } = world;
  const [device, dtype] = [world.someDevice(), random.pick(dtypes.slice(0, 6))];
  const [start, count] = [random.between(0, 20), random.between(1, 100)];
  world.log(`arange ${dtype} ${start} to ${start + count}`);
  const values = Int16Array.from({ length: count }, (_, i) => start + i);
  const make = () => arange(start, start + count, 1, { dtype, device }) as Tensor;
  create(world, [device, dtype, [count]], make, (view) => view.scatter(values));
}

export function createFromArray(world: World): void {
  createFrom(world, someShape(world));
}

export function createLarge(world: World): void {
  createFrom(world, [world.random.between(world.limits.copied >> 2, world.limits.copied)]);
}

/** The array is changed right after: its contents at the call count. */
function createFrom(world: World, shape: readonly number[]): void {
  const { random } = world;
  const [device, dtype] = [world.someDevice(), random.pick(dtypes)];
  const values = someValues(world, dtype, elements(shape));
  const array = arrayOf(dtype, values);
  world.log(`tensor ${dtype} [${shape}] on ${world.current(device)?.name ?? device}`);
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  const make = () =>
    random.oneIn(3)
      ? fromBytes(bytes, { shape, dtype, device })
      : tensor(array, { shape, dtype, device });
  create(world, [device, dtype, shape], make as () => Tensor, (view) => view.scatter(values));
  bytes.fill(1);
}

export function createClone(world: World): void {
  const source = world.someBox();
  if (source === undefined) return;
  const { device, dtype } = source.view.memory;
  const lane = world.current(device);
  world.log(`clone ${source.name} on ${lane?.name ?? device}`);
  const view = new View(new Memory(device, dtype, source.view.size), source.view.shape);
  const fixed = device === "cpu" ? source.view.gather() : null;
  const made = world.work(
    lane,
    [source.view.memory],
    [view.memory],
    () => source.tensor.clone(),
    () => view.scatter(fixed ?? source.view.gather()),
  );
  world.add(made, view);
}

export function createJoined(world: World): void {
  const first = world.someBox(({ view }) => isShort(world, view));
  if (first === undefined) return;
  const { device, dtype } = first.view.memory;
  const rows = first.view.shape.slice(1).join();
  const list = world.boxes
    .filter(({ view }) => isShort(world, view) && view.shape.slice(1).join() === rows)
    .filter(({ view }) => view.memory.device === device && view.memory.dtype === dtype)
    .slice(0, 4);
  const views = list.map(({ view }) => view);
  const length = views.reduce((sum, view) => sum + view.shape[0]!, 0);
  const shape = [length, ...first.view.shape.slice(1)];
  const lane = world.current(device);
  world.log(`cat ${list.map(({ name }) => name)} on ${lane?.name ?? device}`);
  const view = new View(new Memory(device, dtype, elements(shape)), shape);
  const join = () => cat(list.map((box) => box.tensor));
  const reads = views.map(({ memory }) => memory);
  const made = world.work(lane, reads, [view.memory], join, () => {
    let at = 0;
    for (const part of views) {
      view.narrow(0, at, part.shape[0]!).scatter(part.gather());
      at += part.shape[0]!;
    }
  });
  world.add(made, view);
}

function isShort({ limits }: World, view: View): boolean {
  return view.shape.length > 0 && view.size <= limits.computed / 4;
}

/** Memory that another tensor owns, of which nobody but the new one knows. */
export function createWrapped(world: World): void {
  if (world.tidying > 0) return; // it would dispose of the owner
  if (world.recording !== null) return; // no event of the program's is behind the allocation
  createFrom(world, someShape(world));
  const owner = world.boxes.pop()!;
  const { view, tensor: owning } = owner;
  const { device, dtype } = view.memory;
  if (view.size === 0) return;
  world.log(`wrap ${owner.name}`);
  view.memory.aliased = true;
  const options = { shape: view.shape, dtype, device, owner: owning };
  world.add(unsafeFromPointer(owning.pointer, options), view);
}
