// Element-wise calls: what every function out = op(x) checks, allocates and passes on.
import { dtypeCode } from "../dtypes.js";
import type { Handle, StreamHandle } from "../native.js";
import { type CudaStream, streamFor } from "../streams.js";
import type { Tensor } from "../tensor.js";
import { checkDevice, checkDtype, checkFloat, checkShape, checkWritable } from "./checks.js";
import { checkTensor, handleOf } from "./handles.js";
import { newTensor } from "./memory.js";
import { checkOverlap } from "./overlap.js";
import { packRows, type RowView, throughDenseRows } from "./rows.js";

/** Where the result goes, and on which stream. */
export interface ElementwiseOptions {
  /** Written and returned instead of a new tensor: of the result's shape, dtype and device. */
  out?: Tensor | undefined;
  /** Default: the device's current stream. */
  stream?: CudaStream | undefined;
}

/** Names of ElementwiseOptions, for checkOptions. */
export const elementwiseOptionNames = ["out", "stream"];

/** What the headers' read_elementwise reads; a kernel's own scalars follow. */
export type ElementwiseCall = [
  x: Handle,
  out: Handle,
  stream: StreamHandle | null,
  geometry: Float64Array,
  dtype: number,
];

/**
 * Checks x and the options, and launches out = op(x); out may be exactly x. Rows that the geometry
 * does not describe go by way of dense copies; an empty x launches nothing.
 *
 * @param op begins the message of an error
 * @param x of any shape, float32, float16 or bfloat16
 * @param launch passes the call to the addon
 * @returns a new contiguous tensor of x's shape and dtype, or `options.out`
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_OVERLAP; Error ERR_DEVICE,
 *   ERR_DISPOSED
 *
 * @example
 * import { tensor } from "@warpwright/runtime";
 * import { runElementwise } from "@warpwright/runtime/kernel";
 *
 * runElementwise("relu", tensor([-1, 2]), {}, (x, out, stream, geometry, dtype) => {
 *   console.log(geometry, dtype); // what native().reluFwd gets
 * });
 */
export function runElementwise(
  op: string,
  x: Tensor,
  options: ElementwiseOptions,
  launch: (...call: ElementwiseCall) => void,
): Tensor {
  const { out: given, stream: chosen } = options;
  checkTensor(op, "x", x);
  checkFloat(op, "x", x);
  const stream = streamFor(op, x.device, chosen);
  if (given !== undefined) {
    checkResult(op, given, x.shape, x);
    checkOverlap(op, "out", given, "x", x, { exact: true });
  }
  const out = given ?? newTensor(x.shape, x.dtype, x.device, stream, op);
  if (out.size > 0) launchRows(x, out, stream, launch);
  return out;
}

function launchRows(
  x: Tensor,
  out: Tensor,
  stream: StreamHandle | null,
  launch: (...call: ElementwiseCall) => void,
): void {
  const geometry = packRows([rowView(out), rowView(x)], []);
  if (geometry !== null) {
    launch(handleOf(x), handleOf(out), stream, geometry, dtypeCode(x.dtype));
    return;
  }
  throughDenseRows([x], [out], stream, ([denseX], [denseOut]) => {
    launchRows(denseX!, denseOut!, stream, launch);
  });
}

/** An `out` that was given for a result of the shape, of x's dtype and device. */
export function checkResult(op: string, out: Tensor, shape: readonly number[], x: Tensor): void {
  checkTensor(op, "out", out);
  checkDtype(op, "out", out, x.dtype);
  checkShape(op, "out", out, shape);
  checkDevice(op, "out", out, x.device);
  checkWritable(op, "out", out);
}

/** The tensor as rows; a tensor without dimensions is a row of one element. */
export function rowView(tensor: Tensor): RowView {
  if (tensor.shape.length > 0) return tensor;
  return { shape: [1], strides: [1], offset: tensor.offset };
}
