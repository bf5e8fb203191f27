import { type Device, type DType, ones, type Tensor, zeros } from "@warpwright/runtime";
import { poisoned, testDevices, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { expectFailure } from "../../vitest/failures.js";
import type { Form, Operation } from "./forms.js";

const shape = [2, 8];

interface Refusal {
  fault: string;
  /** Arguments in place of good ones. */
  tensors?: (good: readonly Tensor[]) => unknown[];
  options?: (good: readonly Tensor[]) => unknown;
  error: string;
}

/** Values that are no tensor, and how errors describe them. */
const kinds: readonly [described: string, value: unknown][] = [
  ["null", null],
  ["a number", 1],
  ["a string", "x"],
  ["an array", [1, 2]],
  ["a Float32Array", new Float32Array(4)],
  ["an object", { shape, dtype: "float32" }],
  ["a promise; await it first", Promise.resolve(1)],
];

const wrongShapes: readonly (readonly number[])[] = [[], [8], [16], [2, 7], [8, 2], [1, 2, 8]];

/** What every form refuses, with its whole message; the kernel's own options are its own affair. */
export function testRefusals(operation: Operation): void {
  const cases = testDevices().flatMap((device) =>
    operation.forms.map((form) => ({ device, form })),
  );
  describe.each(cases)("$form.name on $device refuses", ({ device, form }) => {
    const refusals = [
      ...form.parameters.flatMap((_, i) => tensorRefusals(form, i, device)),
      ...outRefusals(form, device),
      ...overlapRefusals(form, device),
      ...optionRefusals(form),
    ];
    test.each(refusals.map((refusal) => [refusal.fault, refusal] as const))(
      "%s",
      async (_, { tensors, options, error }) => {
        const good = goodTensors(form, device);
        const out = poisoned(shape, { device });
        const given = (tensors?.(good) ?? good) as Tensor[];
        const chosen = options ? options(good) : { out };
        await expectFailure(error, () => form.call(given, chosen as object));
        expect(valuesOf(out).every(Number.isNaN)).toBe(true);
        form.call(good, { out });
        expect(valuesOf(out).some(Number.isNaN)).toBe(false);
      },
    );
  });
}

function goodTensors(form: Form, device: Device): Tensor[] {
  return form.pack(Array.from({ length: form.operands }, () => ones(shape, { device })));
}

function tensorRefusals({ op, parameters, operands }: Form, at: number, device: Device): Refusal[] {
  const name = parameters[at]!;
  const put = (value: (good: Tensor) => unknown) => (good: readonly Tensor[]) =>
    good.map((tensor, i) => (i === at ? value(tensor) : tensor));
  const allowed = at === 0 ? "float32, float16 or bfloat16" : "float32";
  const wrongDtypes: DType[] = at === 0 ? ["int32", "bool"] : ["float16", "int64"];
  const refusals: Refusal[] = [
    ...[...kinds, ["undefined", undefined] as const].map(([described, value]) => ({
      fault: `${name} is ${described}`,
      tensors: put(() => value),
      error: `ERR_KIND ${op}: expected ${name} to be a Tensor, got ${described}`,
    })),
    ...wrongDtypes.map((dtype) => ({
      fault: `${name} of ${dtype}`,
      tensors: put((good) => zeros(good.shape, { dtype, device })),
      error: `ERR_DTYPE ${op}: expected ${name} of dtype ${allowed}, got ${dtype}`,
    })),
    {
      fault: `${name} is disposed`,
      tensors: put((good) => {
        const disposed = good.clone();
        disposed.dispose();
        return disposed;
      }),
      error: `ERR_DISPOSED ${op}: ${name} has been disposed`,
    },
  ];
  if (at > 0) {
    for (const wrong of wrongShapes) {
      refusals.push({
        fault: `${name} of shape [${wrong}]`,
        tensors: put(() => zeros(wrong, { device })),
        error: `ERR_SHAPE ${op}: expected ${name} of shape [2, 8], got [${wrong.join(", ")}]`,
      });
    }
    if (device !== "cpu") {
      refusals.push({
        fault: `${name} on the CPU`,
        tensors: put((good) => good.to("cpu")),
        error: `ERR_DEVICE ${op}: expected ${name} on ${device}, got cpu`,
      });
    }
  }
  if (parameters.length < operands) {
    for (const odd of [[], [7], [2, 9]]) {
      refusals.push({
        fault: `${name} of shape [${odd}]`,
        tensors: put(() => zeros(odd, { device })),
        error:
          `ERR_SHAPE ${op}: expected ${name} with an even last dimension, ` +
          `got shape [${odd.join(", ")}]`,
      });
    }
  }
  return refusals;
}

function outRefusals({ op }: Form, device: Device): Refusal[] {
  const refusals: Refusal[] = [
    ...kinds.map(([described, value]) => ({
      fault: `out is ${described}`,
      options: () => ({ out: value }),
      error: `ERR_KIND ${op}: expected out to be a Tensor, got ${described}`,
    })),
    ...(["float16", "int32"] as const).map((dtype) => ({
      fault: `out of ${dtype}`,
      options: () => ({ out: zeros(shape, { dtype, device }) }),
      error: `ERR_DTYPE ${op}: expected out of dtype float32, got ${dtype}`,
    })),
    ...wrongShapes.map((wrong) => ({
      fault: `out of shape [${wrong}]`,
      options: () => ({ out: zeros(wrong, { device }) }),
      error: `ERR_SHAPE ${op}: expected out of shape [2, 8], got [${wrong.join(", ")}]`,
    })),
    {
      fault: "out with a stride of 0",
      options: () => ({ out: zeros([1, 8], { device }).expand([2, 8]) }),
      error: `ERR_OVERLAP ${op}: expected out to have no stride of 0, got strides [0, 1]`,
    },
  ];
  if (device !== "cpu") {
    refusals.push({
      fault: "out on the CPU",
      options: () => ({ out: zeros(shape) }),
      error: `ERR_DEVICE ${op}: expected out on ${device}, got cpu`,
    });
  }
  return refusals;
}

/** Each argument in a buffer of which out has the last element, or the first. */
function overlapRefusals(form: Form, device: Device): Refusal[] {
  const exact = form.parameters.length === form.operands ? ", or to be exactly it" : "";
  const sizes = goodTensors(form, "cpu").map((tensor) => tensor.size);
  return form.parameters.flatMap((name, at) =>
    [sizes[at]! - 1, sizes[at]! - 8].map((start) => {
      const size = sizes[at]!;
      const buffer = ones([size + 16], { device });
      const inside = buffer.narrow(0, 0, size).view([2, size / 2]);
      return {
        fault: `out from element ${start} of ${name}`,
        tensors: (good: readonly Tensor[]) => good.map((t, i) => (i === at ? inside : t)),
        options: () => ({ out: buffer.narrow(0, start, 16).view(shape) }),
        error:
          `ERR_OVERLAP ${form.op}: expected out to share no memory with ${name}${exact}, ` +
          "got views that overlap",
      };
    }),
  );
}

function optionRefusals({ op }: Form): Refusal[] {
  return [
    ...["an array", "a number"].map((described) => ({
      fault: `stream is ${described}`,
      options: () => ({ stream: new Map(kinds).get(described) }),
      error: `ERR_KIND ${op}: expected stream to be a CudaStream, got ${described}`,
    })),
    {
      fault: "an unknown option",
      options: () => ({ steam: null }),
      error: `ERR_VALUE ${op}: unknown option "steam", the nearest known is "stream"`,
    },
  ];
}
