// What memory holds and which part of it a tensor shows, in plain JavaScript.
import type { DeviceName, DType } from "@warpwright/runtime";
import { bytesOf, converted, unknown } from "./values.js";

let made = 0;

/** Memory of one allocation. */
export class Memory {
  readonly name = `m${++made}`;
  readonly values: Int16Array;
  /** Whether the runtime knows it as two storages, by way of unsafeFromPointer(). */
  aliased = false;

  constructor(
    readonly device: DeviceName,
    readonly dtype: DType,
    count: number,
  ) {
    this.values = new Int16Array(count).fill(unknown);
  }

  get bytes(): number {
    return this.values.length * bytesOf[this.dtype];
  }
}

/** The elements of a memory that a tensor shows. */
export class View {
  readonly size: number;

  constructor(
    readonly memory: Memory,
    readonly shape: readonly number[],
    readonly strides: readonly number[] = denseStrides(shape),
    readonly offset = 0,
  ) {
    this.size = shape.reduce((product, size) => product * size, 1);
  }

  get isDense(): boolean {
    const dense = denseStrides(this.shape);
    return this.size === 0 || this.shape.every((n, d) => n === 1 || this.strides[d] === dense[d]);
  }

  /** Whether no two elements are the same memory. */
  get isWritable(): boolean {
    return this.size === 0 || this.shape.every((n, d) => n === 1 || this.strides[d] !== 0);
  }

  /** The values in row-major order. */
  gather(): Int16Array {
    const { values } = this.memory;
    if (this.isDense) return values.slice(this.offset, this.offset + this.size);
    const result = new Int16Array(this.size);
    this.#positions().forEach((position, i) => {
      result[i] = values[position]!;
    });
    return result;
  }

  /** Overwrites the elements, converting. */
  scatter(source: Int16Array): void {
    const { values, dtype } = this.memory;
    this.#positions().forEach((position, i) => {
      values[position] = converted(source[i]!, dtype);
    });
  }

  fill(value: number): void {
    const { values, dtype } = this.memory;
    const stored = converted(value, dtype);
    if (this.isDense) values.fill(stored, this.offset, this.offset + this.size);
    else for (const position of this.#positions()) values[position] = stored;
  }

  narrow(dim: number, start: number, length: number): View {
    const shape = this.shape.map((size, d) => (d === dim ? length : size));
    const offset = this.offset + start * this.strides[dim]!;
    return new View(this.memory, shape, this.strides, offset);
  }

  select(dim: number, index: number): View {
    const offset = this.offset + index * this.strides[dim]!;
    const others = (list: readonly number[]) => list.filter((_, d) => d !== dim);
    return new View(this.memory, others(this.shape), others(this.strides), offset);
  }

  transpose(a: number, b: number): View {
    const swapped = (list: readonly number[]) =>
      list.map((value, d) => (d === a ? list[b]! : d === b ? list[a]! : value));
    return new View(this.memory, swapped(this.shape), swapped(this.strides), this.offset);
  }

  /** The elements `count` times along a new first dimension. */
  repeated(count: number): View {
    return new View(this.memory, [count, ...this.shape], [0, ...this.strides], this.offset);
  }

  /** Of a dense view. */
  as(shape: readonly number[]): View {
    return new View(this.memory, shape, denseStrides(shape), this.offset);
  }

  #positions(): Int32Array {
    let positions = Int32Array.of(this.offset);
    this.shape.forEach((size, dim) => {
      const next = new Int32Array(positions.length * size);
      let at = 0;
      for (const position of positions) {
        for (let i = 0; i < size; i++) next[at++] = position + i * this.strides[dim]!;
      }
      positions = next;
    });
    return positions;
  }
}

function denseStrides(shape: readonly number[]): number[] {
  const strides: number[] = [];
  let stride = 1;
  for (let dim = shape.length - 1; dim >= 0; dim--) {
    strides.unshift(stride);
    stride *= shape[dim]!;
  }
  return strides;
}
