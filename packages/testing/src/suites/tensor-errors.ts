// Tensors of the wrong kind, dtype, shape or device, disposed ones, and outputs with a stride of 0.
import { type Device, type DType, ones, type Tensor, zeros } from "@warpwright/runtime";
import { describe } from "vitest";

import { testDevices } from "../cuda.js";
import { floatDTypes } from "../float64.js";
import { allowedDTypes, type RefusedShape, type TensorArgument } from "./arguments.js";
import { type Callee, mapValues, namesOf } from "./callee.js";
import { kindRefusals, type Refusal, shapeText, testRefusals } from "./refusals.js";

const allDTypes: readonly DType[] = [...floatDTypes, "int32", "int64", "uint8", "bool"];

const wrongShapes: readonly (readonly number[])[] = [
  ...[[], [0], [1], [3], [7], [16], [1, 8], [8, 1], [2, 1], [1, 2]],
  ...[
    [8, 2],
    [2, 7],
    [2, 9],
    [3, 8],
    [2, 8, 1],
    [1, 2, 8],
  ],
];

/**
 * Tests what each function says of every tensor argument that is of a wrong kind, dtype, shape or
 * device, or disposed, and of outputs that have a stride of 0.
 *
 * @param more refusals that are these functions' own
 * @example
 * import { rmsnorm, type RmsnormOptions } from "@warpwright/rmsnorm";
 * import type { Tensor } from "@warpwright/runtime";
 * import { calleeOf, rowParameter, rows, testTensorErrors } from "@warpwright/testing/vitest";
 *
 * testTensorErrors([
 *   calleeOf({
 *     op: "rmsnorm",
 *     inputs: { x: rows(), weight: rowParameter() },
 *     outputs: { out: rows() },
 *     call: (options: RmsnormOptions, x: Tensor, weight: Tensor) => rmsnorm(x, weight, options),
 *   }),
 * ]);
 */
export function testTensorErrors(
  callees: readonly Callee[],
  more: (device: Device) => readonly Refusal[] = () => [],
): void {
  describe.each(testDevices())("tensors that are refused on %s", (device) => {
    const refusals = callees.flatMap((callee) => [
      ...Object.entries(tensorsOf(callee)).flatMap(([name, argument]) => [
        ...kindRefusals(callee, name, "a Tensor", argument.absent),
        ...dtypeRefusals(callee, name, device),
        ...shapeRefusals(callee, name, device),
        ...deviceRefusals(callee, name, device),
        disposedRefusal(callee, name),
      ]),
      ...Object.keys(callee.outputs).flatMap((name) => strideRefusals(callee, name, device)),
      ...statisticRefusals(callee, device),
    ]);
    testRefusals(device, [...refusals, ...more(device)]);
  });
}

/** An output may always be left out. */
function tensorsOf({ inputs, outputs }: Callee): Record<string, TensorArgument> {
  const written = mapValues(outputs, (output) => ({ ...output, absent: ["undefined"] }));
  return { ...inputs, ...written };
}

function listOf(words: readonly string[]): string {
  const last = words.at(-1)!;
  return words.length === 1 ? last : `${words.slice(0, -1).join(", ")} or ${last}`;
}

function isFirst({ inputs }: Callee, name: string): boolean {
  return Object.keys(inputs)[0] === name;
}

/** The tensor that is checked after the first. */
function secondOf(callee: Callee): string {
  return Object.keys(tensorsOf(callee))[1]!;
}

function dtypeRefusals(callee: Callee, name: string, device: Device): Refusal[] {
  const argument = tensorsOf(callee)[name]!;
  return floatDTypes.flatMap((dtype) => {
    const allowed = isFirst(callee, name) ? floatDTypes : allowedDTypes(argument, dtype);
    const found = allDTypes.filter((other) => !(allowed as readonly DType[]).includes(other));
    return found.map((other) => ({
      callee,
      fault: `${name} of ${other} beside ${dtype}`,
      spoil: () => ({ [name]: zeros(argument.shape([2], 8), { dtype: other, device }) }),
      error:
        `ERR_DTYPE ${callee.op}: expected ${name} of dtype ${listOf(allowed)}, ` + `got ${other}`,
      dtype,
    }));
  });
}

function shapeRefusals(callee: Callee, name: string, device: Device): Refusal[] {
  const refused = tensorsOf(callee)[name]!.refused ?? refusedShapes(callee, name);
  return refused.map(([fault, shape, wanted]) => ({
    callee,
    fault,
    spoil: () => ({ [name]: ones(shape, { device }) }),
    error: `ERR_SHAPE ${callee.op}: expected ${wanted}`,
  }));
}

function refusedShapes(callee: Callee, name: string): readonly RefusedShape[] {
  const good = tensorsOf(callee)[name]!.shape([2], 8);
  if (isFirst(callee, name)) return refusedFirstShapes(callee, name);
  const wrong = wrongShapes.filter((shape) => shape.join() !== good.join());
  return wrong.map((shape) => {
    const wanted = `${name} of shape ${shapeText(good)}, got ${shapeText(shape)}`;
    return [`${name} of shape ${shapeText(shape)}`, shape, wanted];
  });
}

// The first decides what the others have to be, so that one of them is named, the scalar apart.
function refusedFirstShapes(callee: Callee, name: string): readonly RefusedShape[] {
  const { shape } = callee.inputs[name]!;
  const second = secondOf(callee);
  const { shape: shapeOfSecond } = tensorsOf(callee)[second]!;
  const [wanted, found] = [9, 8].map((size) => shapeText(shapeOfSecond([2], size)));
  return [
    [`${name} of another hidden size`, shape([2], 9), `${second} of shape ${wanted}, got ${found}`],
    [`${name} without dimensions`, [], `${name} to have at least 1 dimension, got shape []`],
  ];
}

function deviceRefusals(callee: Callee, name: string, device: Device): Refusal[] {
  if (device === "cpu") return [];
  const [named, wanted, found] = isFirst(callee, name)
    ? [secondOf(callee), "cpu", device]
    : [name, device, "cpu"];
  return [
    {
      callee,
      fault: `${name} on the CPU`,
      spoil: (good) => ({ [name]: (good[name] as Tensor).to("cpu") }),
      error: `ERR_DEVICE ${callee.op}: expected ${named} on ${wanted}, got ${found}`,
    },
  ];
}

function disposedRefusal(callee: Callee, name: string): Refusal {
  return {
    callee,
    fault: `${name} is disposed`,
    spoil: (good) => {
      const disposed = (good[name] as Tensor).clone();
      disposed.dispose();
      return { [name]: disposed };
    },
    error: `ERR_DISPOSED ${callee.op}: ${name} has been disposed`,
  };
}

/** One refusal for each dimension, along which all elements are one. */
function strideRefusals(callee: Callee, name: string, device: Device): Refusal[] {
  const shape = callee.outputs[name]!.shape([2], 8);
  return shape.map((_, dim) => {
    const make = () =>
      zeros(
        shape.map((size, i) => (i === dim ? 1 : size)),
        { device },
      ).expand(shape);
    const strides = shapeText(make().strides);
    return {
      callee,
      fault: `${name} of strides ${strides}`,
      spoil: () => ({ [name]: make() }),
      error:
        `ERR_OVERLAP ${callee.op}: expected ${name} to have no stride of 0, ` +
        `got strides ${strides}`,
    };
  });
}

// A statistic may have one dimension for all rows, or theirs; here there are 2 x 3 of them.
function statisticRefusals(callee: Callee, device: Device): Refusal[] {
  const outer = [2, 3];
  const [first] = Object.keys(callee.inputs);
  const inputs = namesOf(callee.inputs, "rows");
  return namesOf(callee.outputs, "statistic").flatMap((name) =>
    [[3, 2], [5], [2, 3, 1]].map((shape) => ({
      callee,
      fault: `${name} of shape ${shapeText(shape)} beside ${first} of [2, 3, 8]`,
      spoil: () => ({
        ...Object.fromEntries(
          inputs.map((input) => [input, ones(callee.inputs[input]!.shape(outer, 8), { device })]),
        ),
        ...mapValues(callee.outputs, () => undefined),
        [name]: ones(shape, { device }),
      }),
      error:
        `ERR_SHAPE ${callee.op}: expected ${name} of shape [2, 3], ` + `got ${shapeText(shape)}`,
    })),
  );
}
