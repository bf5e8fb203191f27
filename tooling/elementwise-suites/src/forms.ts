// What the suites of element-wise packages are told of a kernel: its formula for one element, and
// the ways to call it. They are those of gelu for out = op(x), of geglu for out = op(gate, up).
import { cat, type Device, randn, stack, type Tensor } from "@warpwright/runtime";
import { expectClose, type FloatDType, tolerances, valuesOf } from "@warpwright/testing";

export const dtypes: readonly FloatDType[] = ["float32", "float16", "bfloat16"];

export interface Place {
  dtype: FloatDType;
  device: Device;
}

/** One way to call a kernel. */
export interface Form {
  /** Names the way in a test's name. */
  name: string;
  /** Begins the messages of errors. */
  op: string;
  /** The tensor arguments' names; with one for each operand, `out` may be an argument. */
  parameters: readonly string[];
  operands: number;
  /** The arguments that hold the operands, which are alike in shape. */
  pack(operands: readonly Tensor[]): Tensor[];
  call(tensors: readonly Tensor[], options?: object): Tensor;
}

export interface Operation {
  name: string;
  forms: readonly Form[];
  /** One element, in float64, not rounded. */
  reference(...operands: number[]): number;
}

export function elementwiseForms(
  op: string,
  call: (x: Tensor, options?: object) => Tensor,
): readonly Form[] {
  const form: Form = {
    ...{ name: op, op, parameters: ["x"], operands: 1 },
    pack: ([x]) => [x!],
    call: ([x], options) => call(x!, options),
  };
  return [form];
}

/** gate and up in two tensors, half by half, and in turns; either first. */
export function gatedForms(
  op: string,
  packed: (x: Tensor, options?: object) => Tensor,
  pair: (gate: Tensor, up: Tensor, options?: object) => Tensor,
): readonly Form[] {
  const halves = (tensors: readonly Tensor[]) => [cat(tensors, -1)];
  const turns = (tensors: readonly Tensor[]) => {
    const stacked = stack(tensors, -1);
    return [stacked.view([...stacked.shape.slice(0, -2), 2 * stacked.shape.at(-2)!])];
  };
  const backwards = (tensors: readonly Tensor[]) => [...tensors].reverse();
  const inOne = (name: string, options: object, pack: Form["pack"]): Form => ({
    ...{ name, op, parameters: ["x"], operands: 2, pack },
    call: ([x], others) => packed(x!, { ...options, ...others }),
  });
  return [
    {
      ...{ name: "a pair", op: `${op}Pair`, parameters: ["gate", "up"], operands: 2 },
      pack: (tensors) => [...tensors],
      call: ([gate, up], options) => pair(gate!, up!, options),
    },
    inOne("gate first", {}, halves),
    inOne("gate last", { gate: "last" }, (tensors) => halves(backwards(tensors))),
    inOne("in turns", { interleaved: true }, turns),
    inOne("in turns, gate last", { interleaved: true, gate: "last" }, (tensors) =>
      turns(backwards(tensors)),
    ),
  ];
}

/** Normal values for the form's operands. */
export function randomOperands(form: Form, shape: readonly number[], place: Place): Tensor[] {
  return Array.from({ length: form.operands }, (_, i) => randn(shape, { seed: 1 + i, ...place }));
}

export function referenceOf({ reference }: Operation, operands: readonly Tensor[]): Float64Array {
  const values = operands.map(valuesOf);
  return values[0]!.map((_, i) => reference(...values.map((operand) => operand[i]!)));
}

/** Calls the form with the operands and compares the result with float64; returns it. */
export function expectForm(
  operation: Operation,
  form: Form,
  operands: readonly Tensor[],
  options?: object,
): Tensor {
  const wanted = referenceOf(operation, operands);
  const out = form.call(form.pack(operands), options);
  expectClose(out, wanted, { ...tolerances.roundedOnce[out.dtype as FloatDType], name: form.name });
  return out;
}

/** The tensor's bits, for comparisons that allow no difference. */
export async function bitsOf(x: Tensor): Promise<string> {
  return Buffer.from(await x.bytes()).toString("base64");
}
