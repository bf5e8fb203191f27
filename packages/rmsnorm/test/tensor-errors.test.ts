// Tensors of the wrong kind, dtype, shape or device, disposed ones, and outputs with a stride of 0.
import { type Device, type DType, ones, type Tensor, zeros } from "@warpwright/runtime";
import { type FloatDType, testDevices } from "@warpwright/testing";
import { describe } from "vitest";
import { type Callee, callees, kindRefusals, type Refusal, testRefusals } from "./refusals.js";
import { dtypes } from "./support.js";

const allDtypes: readonly DType[] = [...dtypes, "int32", "int64", "uint8", "bool"];

/** What each argument may be beside a Tensor. */
function allowedKinds(argument: string): readonly string[] {
  if (argument === "weight") return ["undefined", "null"];
  return argument === "x" || argument === "residual" ? [] : ["undefined"];
}

function allowedDtypes(argument: string, dtype: FloatDType): readonly DType[] {
  if (argument === "x") return dtypes;
  if (argument === "rstd") return ["float32"];
  return argument === "weight" && dtype !== "float32" ? [dtype, "float32"] : [dtype];
}

function shapeOf(argument: string): readonly number[] {
  if (argument === "weight") return [8];
  return argument === "rstd" ? [2] : [2, 8];
}

function listOf(words: readonly string[]): string {
  const last = words.at(-1)!;
  return words.length === 1 ? last : `${words.slice(0, -1).join(", ")} or ${last}`;
}

function dtypeRefusals(callee: Callee, argument: string, device: Device): Refusal[] {
  return dtypes.flatMap((dtype) => {
    const allowed = allowedDtypes(argument, dtype);
    const found = allDtypes.filter((other) => !allowed.includes(other));
    return found.map((other) => ({
      callee,
      fault: `${argument} of ${other} beside ${dtype}`,
      spoil: () => ({ [argument]: zeros(shapeOf(argument), { dtype: other, device }) }),
      error:
        `ERR_DTYPE ${callee.op}: expected ${argument} of dtype ${listOf(allowed)}, ` +
        `got ${other}`,
      dtype,
    }));
  });
}

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

function shapeRefusals(callee: Callee, argument: string, device: Device): Refusal[] {
  if (argument === "x") return inputShapeRefusals(callee, device);
  return wrongShapes.map((shape) => ({
    callee,
    fault: `${argument} of shape [${shape.join(", ")}]`,
    spoil: () => ({ [argument]: ones(shape, { device }) }),
    error:
      `ERR_SHAPE ${callee.op}: expected ${argument} of shape ` +
      `[${shapeOf(argument).join(", ")}], got [${shape.join(", ")}]`,
  }));
}

// x decides what the others have to be, so that one of them is named, the scalar apart.
function inputShapeRefusals(callee: Callee, device: Device): Refusal[] {
  const { op, inputs } = callee;
  const second = inputs[1]!;
  const [wide, scalar] =
    op === "RMSNorm.forward"
      ? [
          "x with a last dimension of 8, got shape [2, 9]",
          "x with a last dimension of 8, got shape []",
        ]
      : [
          `${second} of shape ${second === "weight" ? "[9], got [8]" : "[2, 9], got [2, 8]"}`,
          "x to have at least 1 dimension, got shape []",
        ];
  return [
    ["x of another hidden size", [2, 9], wide] as const,
    ["x without dimensions", [], scalar] as const,
  ].map(([fault, shape, wanted]) => ({
    callee,
    fault,
    spoil: () => ({ x: ones(shape, { device }) }),
    error: `ERR_SHAPE ${op}: expected ${wanted}`,
  }));
}

function deviceRefusals(callee: Callee, argument: string, device: Device): Refusal[] {
  if (device === "cpu") return [];
  const [named, wanted, found] =
    argument === "x" ? [callee.inputs[1]!, "cpu", device] : [argument, device, "cpu"];
  return [
    {
      callee,
      fault: `${argument} on the CPU`,
      spoil: (good) => ({ [argument]: (good[argument] as Tensor).to("cpu") }),
      error: `ERR_DEVICE ${callee.op}: expected ${named} on ${wanted}, got ${found}`,
    },
  ];
}

function disposedRefusal(callee: Callee, argument: string): Refusal {
  return {
    callee,
    fault: `${argument} is disposed`,
    spoil: (good) => {
      const disposed = (good[argument] as Tensor).clone();
      disposed.dispose();
      return { [argument]: disposed };
    },
    error: `ERR_DISPOSED ${callee.op}: ${argument} has been disposed`,
  };
}

function strideRefusals(callee: Callee, argument: string, device: Device): Refusal[] {
  const views: [string, () => Tensor][] =
    argument === "rstd"
      ? [["[0]", () => zeros([1], { device }).expand([2])]]
      : [
          ["[0, 1]", () => zeros([1, 8], { device }).expand([2, 8])],
          ["[1, 0]", () => zeros([2, 1], { device }).expand([2, 8])],
        ];
  return views.map(([strides, make]) => ({
    callee,
    fault: `${argument} of strides ${strides}`,
    spoil: () => ({ [argument]: make() }),
    error:
      `ERR_OVERLAP ${callee.op}: expected ${argument} to have no stride of 0, ` +
      `got strides ${strides}`,
  }));
}

// rstd may have one dimension for all of x's rows, or x's own; here x has three.
function rowRefusals(callee: Callee, device: Device): Refusal[] {
  const inputs = callee.inputs.filter((name) => name !== "weight");
  return [[3, 2], [5], [2, 3, 1]].map((shape) => ({
    callee,
    fault: `rstd of shape [${shape.join(", ")}] beside x of [2, 3, 8]`,
    spoil: () => ({
      ...Object.fromEntries(inputs.map((name) => [name, ones([2, 3, 8], { device })])),
      ...Object.fromEntries(callee.outputs.map((name) => [name, undefined])),
      rstd: ones(shape, { device }),
    }),
    error: `ERR_SHAPE ${callee.op}: expected rstd of shape [2, 3], got [${shape.join(", ")}]`,
  }));
}

describe.each(testDevices())("tensors that are refused on %s", (device) => {
  const refusals = callees.flatMap((callee) => [
    ...[...callee.inputs, ...callee.outputs].flatMap((argument) => [
      ...kindRefusals(callee, argument, "a Tensor", allowedKinds(argument)),
      ...dtypeRefusals(callee, argument, device),
      ...shapeRefusals(callee, argument, device),
      ...deviceRefusals(callee, argument, device),
      disposedRefusal(callee, argument),
    ]),
    ...callee.outputs.flatMap((argument) => strideRefusals(callee, argument, device)),
    ...rowRefusals(callee, device),
  ]);
  testRefusals(device, refusals);
});
