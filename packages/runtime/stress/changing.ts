// Actions on tensors that there are: writing, copying, converting, showing, letting go.
import type { Tensor } from "@warpwright/runtime";
import { Memory, View } from "./model.js";
import type { Lane } from "./order.js";
import { bytesOf, dtypes, largest } from "./values.js";
import type { Box, World } from "./world.js";

/** A box that kernels can work on, and that fits. */
function computable(world: World, fits: (box: Box) => boolean = () => true): Box | undefined {
  return world.someBox((box) => box.view.size <= world.limits.computed && fits(box));
}

export function fill(world: World): void {
  const box = computable(world, ({ view }) => view.isWritable);
  if (box === undefined) return;
  const { view, tensor } = box;
  const lane = world.current(view.memory.device);
  const value = world.random.between(0, largest);
  world.log(`fill ${box.name} with ${value} on ${lane?.name ?? "cpu"}`);
  world.work(
    lane,
    [],
    [view.memory],
    () => tensor.fill(value),
    () => view.fill(value),
  );
}

/** From a tensor of any device, dtype and size: of the shorter one's elements. */
export function copyFrom(world: World): void {
  const dst = computable(world, ({ view }) => view.isWritable && view.isDense && view.size > 0);
  if (dst === undefined) return;
  const src = computable(world, ({ view }) => view.isDense && view.size > 0);
  if (src === undefined) return;
  const length = Math.min(dst.view.size, src.view.size);
  const part = ({ view, tensor }: Box) => ({
    tensor: tensor.view(view.size).narrow(0, view.size - length, length),
    view: view.as([view.size]).narrow(0, view.size - length, length),
  });
  copy(world, part(dst), part(src), `copy ${length} of ${src.name} to ${dst.name}`);
}

/** A whole tensor of any strides, as often as it has room. */
export function broadcast(world: World): void {
  const src = computable(world, ({ view }) => view.size > 0 && view.shape.length < 4);
  if (src === undefined) return;
  const { shape } = src.view;
  const suits = (box: Box) => {
    const dims = box.view.shape.slice(box.view.shape.length - shape.length);
    return box.view.isWritable && dims.join() === shape.join() && box !== src;
  };
  const dst = computable(world, suits);
  if (dst === undefined) return;
  const count = dst.view.size / src.view.size;
  const view = count === 1 ? src.view : src.view.repeated(count);
  copy(world, dst, { tensor: src.tensor, view }, `copy ${src.name} all over ${dst.name}`);
}

type Part = Pick<Box, "tensor" | "view">;

function copy(world: World, dst: Part, src: Part, text: string): void {
  const [to, from] = [dst.view.memory, src.view.memory];
  const lane = world.current(to.device);
  world.log(`${text} on ${lane?.name ?? "cpu"}`);
  const call = () => dst.tensor.copyFrom(src.tensor);
  if (isRefused(world, from, to)) {
    world.refused("ERR_CAPTURE", call);
    return;
  }
  const fixed = from.device === "cpu" || from.device !== to.device ? src.view.gather() : null;
  const apply = () => dst.view.scatter(fixed ?? src.view.gather());
  across(world, { from, to, isStraight: src.view.isDense }, () => void call(), apply);
}

/** During a capture, what would wait for a device is refused; so are copies between two. */
function isRefused(world: World, from: Memory, to: Memory): boolean {
  return world.recording !== null && from.device !== "cpu" && from.device !== to.device;
}

interface Crossing {
  from: Memory;
  to: Memory;
  /** Whether nothing on the source's device is rearranged or converted before. */
  isStraight: boolean;
}

/** A copy from one memory to another, whatever the devices. */
function across<T>(world: World, crossing: Crossing, call: () => T, apply: () => void): T {
  const { from, to } = crossing;
  const [source, target] = [world.current(from.device), world.current(to.device)];
  if (target === null) return world.work(source, source === null ? [] : [from], [], call, apply);
  if (source === null) return world.work(target, [], [to], call, apply);
  if (source.device === target.device) return world.work(target, [from], [to], call, apply);
  return betweenGpus(world, crossing, [source, target], call, apply);
}

/**
 * Of a copy straight from `from`, the runtime itself has the target's lane wait for those of the
 * source's device that use it, and these wait for the copy. Else the program does.
 */
function betweenGpus<T>(
  world: World,
  { from, to, isStraight }: Crossing,
  [source, target]: readonly [Lane, Lane],
  call: () => T,
  apply: () => void,
): T {
  const { order } = world;
  const users = order.users(from).filter(({ device }) => device === from.device);
  const known = isStraight && !from.aliased ? users : [];
  if (!isStraight) world.arrange(source, [from], []);
  for (const user of known) order.wait(target, order.now(user));
  world.arrange(target, [from], [to]);
  const result = call();
  if (!isStraight) world.note(source, [from], []);
  world.note(target, [from], []);
  for (const user of known) {
    if (user.streams.length > 0) order.wait(user, order.now(target));
  }
  world.note(target, [], [to]);
  apply();
  return result;
}

export function convert(world: World): void {
  const box = computable(world);
  if (box === undefined) return;
  const { memory, shape } = box.view;
  const dtype = world.random.pick(dtypes);
  const lane = world.current(memory.device);
  world.log(`${box.name} to ${dtype} on ${lane?.name ?? "cpu"}`);
  if (dtype === memory.dtype) {
    world.add(box.tensor.to(dtype), box.view);
    return;
  }
  const view = new View(new Memory(memory.device, dtype, box.view.size), shape);
  const apply = () => view.scatter(box.view.gather());
  const reads = lane === null ? [] : [memory];
  const call = () => box.tensor.to(dtype);
  world.add(world.work(lane, reads, [view.memory], call, apply), view);
}

export function move(world: World): void {
  const device = world.someDevice();
  const box = computable(world, ({ view }) => view.memory.device !== device && view.size > 0);
  if (box === undefined) return;
  const { memory, shape } = box.view;
  const dtype = world.random.oneIn(3) ? world.random.pick(dtypes) : memory.dtype;
  world.log(`${box.name} to ${dtype} on ${world.current(device)?.name ?? "cpu"}`);
  const view = new View(new Memory(device, dtype, box.view.size), shape);
  const call = () => box.tensor.to({ device, dtype }) as Tensor;
  if (isRefused(world, memory, view.memory)) {
    world.refused("ERR_CAPTURE", call);
    return;
  }
  const values = box.view.gather();
  const isStraight = box.view.isDense && bytesOf[dtype] >= bytesOf[memory.dtype];
  const crossing = { from: memory, to: view.memory, isStraight };
  world.add(
    across(world, crossing, call, () => view.scatter(values)),
    view,
  );
}

/** Another tensor on the same memory. */
export function show(world: World): void {
  const box = world.someBox(({ view }) => view.shape.length < 6);
  if (box === undefined) return;
  const { random } = world;
  const { tensor, view } = box;
  const rank = view.shape.length;
  const dim = rank === 0 ? 0 : random.below(rank);
  const size = view.shape[dim] ?? 0;
  world.log(`show ${box.name} as t${world.nextId}`);
  const kind = random.below(6);
  if (kind === 0 && size > 0) {
    const start = random.below(size);
    const length = random.between(1, size - start);
    world.add(tensor.narrow(dim, start, length), view.narrow(dim, start, length));
  } else if (kind === 1 && size > 0) {
    const index = random.below(size);
    world.add(tensor.select(dim, index), view.select(dim, index));
  } else if (kind === 2 && rank > 1) {
    const other = random.below(rank);
    world.add(tensor.transpose(dim, other), view.transpose(dim, other));
  } else if (kind === 3 && view.size <= world.limits.computed / 4) {
    const count = random.between(1, 4);
    world.add(tensor.expand([count, ...view.shape]), view.repeated(count));
  } else if (kind === 4 && view.isDense) {
    world.add(tensor.view(view.size), view.as([view.size]));
  } else if (kind === 5 && size > 1) {
    const length = Math.ceil(size / 2);
    const [first, second] = tensor.chunk(2, dim);
    world.add(first!, view.narrow(dim, 0, length));
    world.add(second!, view.narrow(dim, length, size - length));
  }
}

export function dispose(world: World): void {
  const box = world.someBox();
  if (box === undefined) return;
  world.log(`dispose ${box.name}`);
  box.tensor.dispose();
  if (world.random.oneIn(8)) box.tensor.dispose();
  world.refused("ERR_DISPOSED", () => box.tensor.pointer);
  world.remove(box);
}

/** The garbage collector finds it. */
export function drop(world: World): void {
  const box = world.someBox();
  if (box === undefined) return;
  world.log(`drop ${box.name}`);
  world.remove(box);
}
