import { expect } from "vitest";
import { CudaGraph, type CudaStream, type Tensor } from "../src/index.js";

/** What fn makes while its work is recorded. */
export function captured<T>(fn: () => T, stream?: CudaStream): [CudaGraph, T] {
  const made: T[] = [];
  const graph = CudaGraph.capture(() => void made.push(fn()), { stream });
  return [graph, made[0] as T];
}

/** Every element of a float tensor. */
export async function expectAll(x: Tensor, wanted: number): Promise<void> {
  const data = (await x.data()) as Float32Array;
  expect(data.every((value) => value === wanted)).toBe(true);
}
