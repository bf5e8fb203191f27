// Shapes and strides, without memory: what each view method does to a layout. Sizes and strides
// are never negative.
import type { Layout } from "./internals.js";

/** Product of the sizes. */
export function elementCount(shape: readonly number[]): number {
  let count = 1;
  for (let i = 0; i < shape.length; i++) count *= shape[i]!;
  return count;
}

/** Strides of a dense row-major tensor; sizes of 0 count as 1, so that strides stay positive. */
export function denseStrides(shape: readonly number[]): readonly number[] {
  const strides = new Array<number>(shape.length);
  let stride = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= Math.max(shape[i]!, 1);
  }
  return Object.freeze(strides);
}

export function denseLayout(shape: readonly number[]): Layout {
  return { shape: freeze(shape), strides: denseStrides(shape), offset: 0 };
}

/** Whether the elements lie one after the other in row-major order. */
export function isDense({ shape, strides }: Layout): boolean {
  let expected = 1;
  let dense = true;
  for (let i = shape.length - 1; i >= 0; i--) {
    const size = shape[i]!;
    if (size === 0) return true;
    if (size !== 1 && strides[i] !== expected) dense = false;
    expected *= size;
  }
  return dense;
}

/** Elements from the first to just behind the last; 0 for an empty tensor. */
export function reach({ shape, strides }: Layout): number {
  let last = 0;
  for (let i = 0; i < shape.length; i++) {
    if (shape[i] === 0) return 0;
    last += (shape[i]! - 1) * strides[i]!;
  }
  return last + 1;
}

/** Element offset of the element that is number `index` in row-major order. */
export function offsetOf({ shape, strides, offset }: Layout, index: number): number {
  let rest = index;
  let place = offset;
  for (let i = shape.length - 1; i >= 0; i--) {
    const size = shape[i]!;
    place += (rest % size) * strides[i]!;
    rest = Math.floor(rest / size);
  }
  return place;
}

/** The same elements in another shape of as many, or null where only a copy can have it. */
export function viewLayout(layout: Layout, shape: readonly number[]): Layout | null {
  if (elementCount(shape) === 0) return { ...denseLayout(shape), offset: layout.offset };
  const runs = denseRuns(layout);
  const strides = new Array<number>(shape.length);

  // From the right, each new dimension must divide what is left of the current run of old ones.
  let run = runs.pop() ?? { count: 1, stride: 1 };
  for (let i = shape.length - 1; i >= 0; i--) {
    const size = shape[i]!;
    if (size !== 1 && run.count === 1) run = runs.pop() ?? run;
    if (run.count % size !== 0) return null;
    strides[i] = run.stride;
    run = { count: run.count / size, stride: run.stride * size };
  }
  return { shape: freeze(shape), strides: Object.freeze(strides), offset: layout.offset };
}

interface Run {
  count: number;
  stride: number;
}

// Neighbouring dimensions that step through memory as one, outermost first; sizes of 1 drop out.
function denseRuns({ shape, strides }: Layout): Run[] {
  const runs: Run[] = [];
  for (let i = 0; i < shape.length; i++) {
    const size = shape[i]!;
    if (size === 1) continue;
    const stride = strides[i]!;
    const outer = runs[runs.length - 1];
    if (outer !== undefined && outer.stride === stride * size) {
      outer.count *= size;
      outer.stride = stride;
    } else {
      runs.push({ count: size, stride });
    }
  }
  return runs;
}

export function unsqueezeLayout({ shape, strides, offset }: Layout, dim: number): Layout {
  const stride = dim < shape.length ? shape[dim]! * strides[dim]! : 1;
  return {
    shape: freeze([...shape.slice(0, dim), 1, ...shape.slice(dim)]),
    strides: freeze([...strides.slice(0, dim), stride, ...strides.slice(dim)]),
    offset,
  };
}

/** Without the dimensions that `drop` names by position. */
export function dropLayout(layout: Layout, drop: (dim: number) => boolean): Layout {
  const kept = layout.shape.map((_, dim) => dim).filter((dim) => !drop(dim));
  return permuteLayout(layout, kept);
}

/** The dimensions `dims`, in that order. */
export function permuteLayout({ shape, strides, offset }: Layout, dims: readonly number[]): Layout {
  return {
    shape: Object.freeze(dims.map((dim) => shape[dim]!)),
    strides: Object.freeze(dims.map((dim) => strides[dim]!)),
    offset,
  };
}

export function narrowLayout(
  { shape, strides, offset }: Layout,
  dim: number,
  start: number,
  length: number,
): Layout {
  // A length of -0 becomes 0.
  const narrowed = Object.freeze(shape.map((size, i) => (i === dim ? length + 0 : size)));
  // An empty piece may start behind the last element, where no offset must point.
  const skipped = elementCount(narrowed) === 0 ? 0 : start * strides[dim]!;
  return { shape: narrowed, strides, offset: offset + skipped };
}

export function selectLayout(layout: Layout, dim: number, index: number): Layout {
  return dropLayout(narrowLayout(layout, dim, index, 1), (i) => i === dim);
}

/** `shape` must have as many dimensions or more, and differ only where the size is 1. */
export function expandLayout({ shape, strides, offset }: Layout, to: readonly number[]): Layout {
  const added = to.length - shape.length;
  const expanded = to.map((size, i) => {
    const from = i < added ? 1 : shape[i - added]!;
    return i < added || (from === 1 && size !== 1) ? 0 : strides[i - added]!;
  });
  return { shape: freeze(to), strides: Object.freeze(expanded), offset };
}

/** Whether `shape` broadcasts to `to`. */
export function broadcasts(shape: readonly number[], to: readonly number[]): boolean {
  const added = to.length - shape.length;
  return added >= 0 && shape.every((size, i) => size === 1 || size === to[i + added]);
}

export function sameNumbers(a: readonly number[], b: readonly number[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function freeze(numbers: readonly number[]): readonly number[] {
  return Object.isFrozen(numbers) ? numbers : Object.freeze([...numbers]);
}
