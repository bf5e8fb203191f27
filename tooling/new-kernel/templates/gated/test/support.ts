import type { Tensor } from "@warpwright/runtime";
import { expectClose, type FloatDType, tolerances, valuesOf } from "@warpwright/testing";
import {
  type NewKernelOptions,
  type NewKernelPairOptions,
  newKernel,
  newKernelPair,
} from "../src/index.js";
import { newKernelReference } from "./reference.js";

/** Runs newKernel and compares with float64; returns what it gave. */
export function expectNewKernel(x: Tensor, options: NewKernelOptions = {}): Tensor {
  const { gate = "first", interleaved = false } = options;
  const size = x.shape.at(-1)! / 2;
  const halves = interleaved
    ? [0, 1].map((part) => x.reshape([...x.shape.slice(0, -1), size, 2]).select(-1, part))
    : [0, 1].map((part) => x.narrow(-1, part * size, size));
  const [first, second] = halves as [Tensor, Tensor];
  const wanted = gate === "first" ? referenceOf(first, second) : referenceOf(second, first);
  return compared(newKernel(x, options), wanted);
}

/** The same for newKernelPair. */
export function expectNewKernelPair(
  gate: Tensor,
  up: Tensor,
  options: NewKernelPairOptions = {},
): Tensor {
  // Before the call, which may write to its inputs.
  const wanted = referenceOf(gate, up);
  return compared(newKernelPair(gate, up, options), wanted);
}

function referenceOf(gate: Tensor, up: Tensor): Float64Array {
  const ups = valuesOf(up);
  return valuesOf(gate).map((value, i) => newKernelReference(value, ups[i]!));
}

function compared(out: Tensor, wanted: Float64Array): Tensor {
  expectClose(out, wanted, { ...tolerances.roundedOnce[out.dtype as FloatDType], name: "out" });
  return out;
}
