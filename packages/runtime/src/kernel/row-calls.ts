// A row-wise call as a whole: its tensors by name, the checks of those that are written, and the
// way to the native function.
import { isDense } from "../layout.js";
import type { StreamHandle } from "../native.js";
import type { Tensor } from "../tensor.js";
import { checkDevice, checkDtype, checkShape, checkWritable } from "./checks.js";
import { checkTensor } from "./handles.js";
import { fillOn } from "./memory.js";
import { checkOverlap } from "./overlap.js";
import { checkLike, hiddenSizeOf } from "./row-checks.js";
import { type Operand, packRows, throughDenseRows } from "./rows.js";

type Named<T> = Readonly<Record<string, T>>;

/** What a row-wise call reads, by name, null for what is left out. */
interface RowInputs {
  /** Of one shape, whose last dimension is the row. The first is never null: x. */
  inputs: Named<Operand>;
  /** Of shape [hiddenSize], read for every row: a weight, a bias. */
  parameters: Named<Operand>;
}

/** The arguments of a row-wise call: undefined for an output that the caller did not give. */
export interface RowArguments extends RowInputs {
  /** Like x. */
  outputs: Named<Tensor | undefined>;
  /** One float32 number for each row: rstd, mean. */
  statistics: Named<Tensor | undefined>;
}

/** All tensors of a row-wise call, null for what is left out; see RowArguments. */
export interface RowTensors extends RowInputs {
  outputs: Named<Operand>;
  statistics: Named<Operand>;
}

function mainInput({ inputs }: RowInputs): Tensor {
  return Object.values(inputs)[0]!;
}

/**
 * Checks what the caller gave to be written. Outputs are like x; a row is read whole before it is
 * written, so each may be exactly an input. Statistics have x's shape without the last dimension,
 * or [rows]. All else has to be memory of its own. Inputs and parameters have been checked.
 *
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_OVERLAP; Error ERR_DEVICE,
 *   ERR_DISPOSED
 *
 * @example
 * import { ones } from "@warpwright/runtime";
 * import { checkRowOutputs } from "@warpwright/runtime/kernel";
 *
 * const x = ones([2, 8]);
 * checkRowOutputs("rmsnorm", {
 *   inputs: { x },
 *   parameters: { weight: null },
 *   outputs: { out: x },
 *   statistics: { rstd: undefined },
 * });
 */
export function checkRowOutputs(op: string, given: RowArguments): void {
  const { inputs, parameters, outputs, statistics } = given;
  const x = mainInput(given);
  const checked: Record<string, Tensor> = {};
  for (const name in outputs) {
    const output = outputs[name];
    if (output === undefined) continue;
    checkLike(op, name, output, x);
    checkWritable(op, name, output);
    checkApart(op, name, output, inputs, true);
    checkApart(op, name, output, parameters, false);
    for (const other in checked) {
      checkOverlap(op, other, checked[other]!, name, output, { exact: false });
    }
    checked[name] = output;
  }
  for (const name in statistics) {
    const statistic = statistics[name];
    if (statistic === undefined) continue;
    checkStatistic(op, name, statistic, x);
    for (const others of [inputs, parameters, checked]) {
      checkApart(op, name, statistic, others, false);
    }
    checked[name] = statistic;
  }
}

function numRowsOf(x: Tensor): number {
  const hiddenSize = hiddenSizeOf(x);
  return hiddenSize === 0 ? x.shape.slice(0, -1).reduce((a, b) => a * b, 1) : x.size / hiddenSize;
}

function checkStatistic(op: string, name: string, statistic: Tensor, x: Tensor): void {
  checkTensor(op, name, statistic);
  checkDtype(op, name, statistic, "float32");
  const flat = statistic.shape.length === 1 && statistic.shape[0] === numRowsOf(x);
  if (!flat) checkShape(op, name, statistic, x.shape.slice(0, -1));
  checkDevice(op, name, statistic, x.device);
  checkWritable(op, name, statistic);
}

function checkApart(
  op: string,
  name: string,
  written: Tensor,
  others: Named<Operand>,
  exact: boolean,
): void {
  for (const other in others) {
    const tensor = others[other];
    if (tensor) checkOverlap(op, name, written, other, tensor, { exact });
  }
}

/**
 * Brings a checked row-wise call to its native function. Tensors that are not laid out as the
 * function needs them go through dense copies on the stream. Rows of no elements leave nothing to
 * launch: their statistics, over nothing, are NaN.
 *
 * @param stream of the call; null on the CPU
 * @param launch calls the native function with the tensors, or with what stands in for them, and
 *   with the geometry, good until the next call: packRows of inputs and outputs, then parameters
 *   and statistics
 *
 * @example
 * import { ones, zeros } from "@warpwright/runtime";
 * import { runRows } from "@warpwright/runtime/kernel";
 *
 * const call = {
 *   inputs: { x: ones([2, 8]) },
 *   parameters: { weight: ones([8]) },
 *   outputs: { out: zeros([2, 8]) },
 *   statistics: { rstd: null },
 * };
 * runRows(call, null, ({ inputs: { x } }, geometry) => console.log(x.shape, geometry));
 */
export function runRows<R extends RowTensors>(
  tensors: R,
  stream: StreamHandle | null,
  launch: (tensors: R, geometry: Float64Array) => void,
): void {
  const { inputs, parameters, outputs, statistics } = tensors;
  if (mainInput(tensors).size === 0) {
    for (const tensor of Object.values(statistics)) {
      if (tensor) fillOn(stream, tensor, Number.NaN);
    }
    return;
  }
  const dense = [...Object.values(parameters), ...Object.values(statistics)];
  if (!dense.every((tensor) => tensor === null || isDense(tensor))) {
    throughDense(tensors, ["parameters", "statistics"], stream, launch);
    return;
  }
  const rows = [...Object.values(inputs), ...Object.values(outputs)] as [Tensor, ...Operand[]];
  const geometry = packRows(rows, dense);
  if (geometry !== null) launch(tensors, geometry);
  else throughDense(tensors, ["inputs", "outputs"], stream, launch);
}

function throughDense<R extends RowTensors>(
  tensors: R,
  [read, written]: readonly [keyof RowTensors, keyof RowTensors],
  stream: StreamHandle | null,
  launch: (tensors: R, geometry: Float64Array) => void,
): void {
  const values = [Object.values(tensors[read]), Object.values(tensors[written])] as const;
  throughDenseRows(...values, stream, (inputs, outputs) => {
    const copies = {
      ...tensors,
      [read]: renamed(tensors[read], inputs),
      [written]: renamed(tensors[written], outputs),
    };
    runRows(copies, stream, launch);
  });
}

function renamed(names: Named<Operand>, tensors: readonly Operand[]): Named<Operand> {
  return Object.fromEntries(Object.keys(names).map((name, i) => [name, tensors[i]!]));
}
