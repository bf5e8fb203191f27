// What rope and ropeQK share behind their options: checks, allocation, the native call.
import type { Tensor } from "@warpwright/runtime";
import {
  dtypeCode,
  handleOf,
  newTensor,
  type Operand,
  optionalHandle,
  type StreamHandle,
  streamFor,
  throughDenseRows,
} from "@warpwright/runtime/kernel";
import { checkTensors, type Sizes, type Tensors } from "./checks.js";
import { packGeometry } from "./geometry.js";
import { native } from "./native.js";
import { checkScalars, type RotationOptions, type Scalars } from "./options.js";

/** Tensors of a checked call, null for what is left out. */
export interface Call {
  q: Tensor;
  k: Operand;
  qOut: Tensor;
  kOut: Operand;
  cos: Tensor;
  sin: Tensor;
  index: Operand;
}

/** Reads each option once: what has been checked is what is used, whatever getters return. */
export function forward(
  op: string,
  given: Omit<Tensors, "positions" | "cuSeqlens">,
  options: RotationOptions,
): { q: Tensor; k: Operand } {
  const { layout = "bshd", interleaved = false, rotaryDim, rotaryOffset = 0 } = options;
  const { offset = 0, positions, cuSeqlens, inverse = false, stream } = options;
  const scalars: Scalars = { layout, interleaved, rotaryDim, rotaryOffset, offset, inverse };
  checkScalars(op, scalars);
  const tensors: Tensors = { ...given, positions, cuSeqlens };
  const sizes = checkTensors(op, tensors, scalars);
  const handle = streamFor(op, given.q.device, stream);

  const outputFor = (x: Tensor): Tensor => newTensor(x.shape, x.dtype, x.device, handle, op);
  const { q, cos, sin } = tensors;
  const k = tensors.k?.value ?? null;
  const call: Call = {
    ...{ q, k, cos, sin },
    qOut: tensors.qOut ?? outputFor(q),
    kOut: k && (tensors.kOut ?? outputFor(k)),
    index: positions ?? cuSeqlens ?? null,
  };
  const kind = positions ? 1 : cuSeqlens ? 2 : 0;
  if (q.size + (k?.size ?? 0) > 0) run(call, { ...scalars, ...sizes, kind }, handle);
  return { q: call.qOut, k: call.kOut };
}

/** Everything but the tensors; `kind` as RopeIndex of rope.h has it. */
export type Numbers = Omit<Scalars, "rotaryDim"> & Sizes & { kind: number };

function isDenseLast({ shape, strides }: Tensor): boolean {
  return strides.at(-1) === 1 || shape.at(-1)! <= 1;
}

function run(call: Call, numbers: Numbers, stream: StreamHandle | null): void {
  const { q, k, qOut, kOut, cos, sin } = call;
  if ([q, k, qOut, kOut, cos, sin].every((tensor) => tensor === null || isDenseLast(tensor))) {
    launch(call, numbers, stream);
    return;
  }
  throughDenseRows([q, k, cos, sin], [qOut, kOut], stream, (inputs, outputs) => {
    const [denseQ, denseK, denseCos, denseSin] = inputs as [Tensor, Operand, Tensor, Tensor];
    const [denseQOut, denseKOut] = outputs as [Tensor, Operand];
    const copies = {
      ...{ q: denseQ, k: denseK, qOut: denseQOut, kOut: denseKOut },
      ...{ cos: denseCos, sin: denseSin, index: call.index },
    };
    launch(copies, numbers, stream);
  });
}

function launch(call: Call, numbers: Numbers, stream: StreamHandle | null): void {
  const { q, k, qOut, kOut, cos, sin, index } = call;
  native().ropeFwd(
    handleOf(q),
    optionalHandle(k),
    handleOf(qOut),
    optionalHandle(kOut),
    handleOf(cos),
    handleOf(sin),
    optionalHandle(index),
    stream,
    packGeometry(call, numbers),
    dtypeCode(q.dtype),
    dtypeCode(cos.dtype),
    numbers.kind,
    index?.dtype === "int64" ? 1 : 0,
    numbers.offset,
    numbers.interleaved ? 1 : 0,
    numbers.inverse ? 1 : 0,
  );
}
