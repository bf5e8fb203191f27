// Gated calls: what every function out = op(gate, up) checks, allocates and passes on, with gate
// and up in one tensor or in two.
import { shapeText } from "../describe.js";
import { dtypeCode } from "../dtypes.js";
import { shapeError } from "../errors.js";
import type { Handle, StreamHandle } from "../native.js";
import { streamFor } from "../streams.js";
import type { Tensor } from "../tensor.js";
import { checkBoolean, checkFloat, checkOneOf } from "./checks.js";
import {
  checkResult,
  type ElementwiseOptions,
  elementwiseOptionNames,
  rowView,
} from "./elementwise.js";
import { checkTensor, handleOf } from "./handles.js";
import { newTensor } from "./memory.js";
import { checkOverlap } from "./overlap.js";
import { checkLike } from "./row-checks.js";
import { packRows, type RowView, throughDenseRows } from "./rows.js";

/** How gate and up lie in one tensor, and where the result goes. */
export interface GatedOptions extends ElementwiseOptions {
  /** Whether the gate comes before up or after it. Default "first". */
  gate?: "first" | "last" | undefined;
  /** Whether gate and up take turns, element by element, instead of half by half. Default false. */
  interleaved?: boolean | undefined;
}

/** Names of the options of a call on two tensors, for checkOptions. */
export const gatedPairOptionNames = elementwiseOptionNames;
/** Names of GatedOptions, for checkOptions. */
export const gatedOptionNames = ["gate", "interleaved", ...gatedPairOptionNames];

/**
 * What the headers' read_gated reads; a kernel's own scalars follow. Where gate and up take turns,
 * both are in the tensor of the one in front, and the other is null.
 */
export type GatedCall = [
  gate: Handle | null,
  up: Handle | null,
  out: Handle,
  stream: StreamHandle | null,
  geometry: Float64Array,
  dtype: number,
];

type Launch = (...call: GatedCall) => void;

/**
 * Checks x and the options, and launches out = op(gate, up) for gate and up in x. What the geometry
 * does not describe goes by way of dense copies; an empty x launches nothing.
 *
 * @param op begins the message of an error
 * @param x (..., 2 * size), float32, float16 or bfloat16
 * @param launch passes the call to the addon
 * @returns a new contiguous tensor (..., size) of x's dtype, or `options.out`
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
 *   ERR_DEVICE, ERR_DISPOSED
 *
 * @example
 * import { tensor } from "@warpwright/runtime";
 * import { runGated } from "@warpwright/runtime/kernel";
 *
 * const x = tensor([[1, 2, 3, 4]]);
 * runGated("reglu", x, { gate: "last" }, (gate, up, out, stream, geometry, dtype) => {
 *   console.log(geometry, dtype); // what native().regluFwd gets
 * });
 */
export function runGated(op: string, x: Tensor, options: GatedOptions, launch: Launch): Tensor {
  const { gate = "first", interleaved = false, out: given, stream: chosen } = options;
  checkTensor(op, "x", x);
  checkFloat(op, "x", x);
  checkOneOf(op, "gate", gate, ["first", "last"]);
  checkBoolean(op, "interleaved", interleaved);
  const shape = halfOf(op, x);
  const stream = streamFor(op, x.device, chosen);
  if (given !== undefined) {
    checkResult(op, given, shape, x);
    checkOverlap(op, "out", given, "x", x, { exact: false });
  }
  const out = given ?? newTensor(shape, x.dtype, x.device, stream, op);
  if (out.size > 0)
    launchPacked({ x, gateFirst: gate === "first", interleaved, stream }, out, launch);
  return out;
}

/**
 * runGated for gate and up in a tensor each, alike in shape, dtype and device; out may be exactly
 * one of them.
 *
 * @throws as runGated
 *
 * @example
 * import { tensor } from "@warpwright/runtime";
 * import { runGatedPair } from "@warpwright/runtime/kernel";
 *
 * const [gate, up] = [tensor([1, 2]), tensor([3, 4])];
 * runGatedPair("regluPair", gate, up, { out: up }, (...call) => {
 *   console.log(call.length); // what native().regluFwd gets
 * });
 */
export function runGatedPair(
  op: string,
  gate: Tensor,
  up: Tensor,
  options: ElementwiseOptions,
  launch: Launch,
): Tensor {
  const { out: given, stream: chosen } = options;
  checkTensor(op, "gate", gate);
  checkFloat(op, "gate", gate);
  checkLike(op, "up", up, gate);
  const stream = streamFor(op, gate.device, chosen);
  if (given !== undefined) {
    checkResult(op, given, gate.shape, gate);
    checkOverlap(op, "out", given, "gate", gate, { exact: true });
    checkOverlap(op, "out", given, "up", up, { exact: true });
  }
  const out = given ?? newTensor(gate.shape, gate.dtype, gate.device, stream, op);
  if (out.size > 0) launchPair(gate, up, out, stream, launch);
  return out;
}

/** x's shape with half of the last dimension. */
function halfOf(op: string, x: Tensor): number[] {
  const size = x.shape.at(-1);
  if (size === undefined || size % 2 !== 0) {
    throw shapeError(
      `${op}: expected x with an even last dimension, got shape ${shapeText(x.shape)}`,
    );
  }
  return [...x.shape.slice(0, -1), size / 2];
}

interface Packed {
  x: Tensor;
  gateFirst: boolean;
  interleaved: boolean;
  stream: StreamHandle | null;
}

function launchPacked(packed: Packed, out: Tensor, launch: Launch): void {
  const { x, gateFirst, interleaved, stream } = packed;
  const last = x.strides[x.strides.length - 1]!;
  const size = out.shape[out.shape.length - 1]!;
  const part = (offset: number): RowView => ({ shape: out.shape, strides: x.strides, offset });
  const front = part(x.offset);
  const behind = interleaved ? null : part(x.offset + size * last);
  const [gate, up] = gateFirst ? [front, behind] : [behind, front];
  // A single pair of neighbours is a row of one, whose stride packRows does not look at.
  const geometry = interleaved && last !== 1 ? null : packRows([out, gate, up], []);
  if (geometry !== null) {
    const handle = handleOf(x);
    const handles = [gate && handle, up && handle] as const;
    launch(...handles, handleOf(out), stream, geometry, dtypeCode(x.dtype));
    return;
  }
  throughDenseRows([x], [out], stream, ([denseX], [denseOut]) => {
    launchPacked({ ...packed, x: denseX! }, denseOut!, launch);
  });
}

function launchPair(
  gate: Tensor,
  up: Tensor,
  out: Tensor,
  stream: StreamHandle | null,
  launch: Launch,
): void {
  const geometry = packRows([rowView(out), rowView(gate), rowView(up)], []);
  if (geometry !== null) {
    const dtype = dtypeCode(gate.dtype);
    launch(handleOf(gate), handleOf(up), handleOf(out), stream, geometry, dtype);
    return;
  }
  throughDenseRows([gate, up], [out], stream, ([denseGate, denseUp], [denseOut]) => {
    launchPair(denseGate!, denseUp!, denseOut!, stream, launch);
  });
}
