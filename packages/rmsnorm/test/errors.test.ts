import { empty, isAvailable, ones, type Tensor, tensor, zeros } from "@warpwright/runtime";
import { testDevices } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { addRmsnorm, RMSNorm, rmsnorm } from "../src/index.js";

interface Refusal {
  name: string;
  call: () => unknown;
  error: typeof Error;
  code: string;
  message: string;
}

// For calls that TypeScript would not let pass.
const anything = (value: unknown) => value as never;

describe.each(testDevices())("refusals on %s", (device) => {
  const x = ones([2, 8], { device });
  const weight = ones([8], { device });
  const half = ones([2, 8], { dtype: "float16", device });
  const wide = zeros([2, 24], { device });
  const disposed = ones([2, 8], { device });
  disposed.dispose();

  const kinds: [unknown, string][] = [
    [undefined, "undefined"],
    [null, "null"],
    [1, "a number"],
    ["x", "a string"],
    [[1, 2], "an array"],
    [new Float32Array(4), "a Float32Array"],
    [{ shape: [2, 8], dtype: "float32" }, "an object"],
    [Promise.resolve(x), "a promise"],
  ];
  const kindRefusals = kinds.flatMap(([value, described]): Refusal[] => {
    const remedy = described === "a promise" ? "; await it first" : "";
    const refusal = (op: string, name: string, call: () => unknown): Refusal => ({
      name: `${op}: ${name} is ${described}`,
      call,
      error: TypeError,
      code: "ERR_KIND",
      message: `${op}: expected ${name} to be a Tensor, got ${described}${remedy}`,
    });
    const optional =
      value === undefined || value === null
        ? []
        : [
            refusal("rmsnorm", "weight", () => rmsnorm(x, anything(value))),
            refusal("rmsnorm", "rstd", () => rmsnorm(x, null, { rstd: anything(value) })),
            refusal("rmsnorm", "out", () => rmsnorm(x, null, { out: anything(value) })),
            refusal("addRmsnorm", "residualOut", () =>
              addRmsnorm(x, x, null, { residualOut: anything(value) }),
            ),
          ];
    return [
      refusal("rmsnorm", "x", () => rmsnorm(anything(value))),
      refusal("addRmsnorm", "x", () => addRmsnorm(anything(value), x)),
      refusal("addRmsnorm", "residual", () => addRmsnorm(x, anything(value))),
      ...optional,
    ];
  });

  const refuse = (
    name: string,
    call: () => unknown,
    error: typeof Error,
    code: string,
    message: string,
  ): Refusal => ({ name, call, error, code, message });

  const refusals: Refusal[] = [
    ...kindRefusals,
    refuse(
      "x of integers",
      () => rmsnorm(tensor([[1, 2]], { dtype: "int32", device })),
      TypeError,
      "ERR_DTYPE",
      "rmsnorm: expected x of dtype float32, float16 or bfloat16, got int32",
    ),
    refuse(
      "x of booleans",
      () => rmsnorm(tensor([[true, false]], { device })),
      TypeError,
      "ERR_DTYPE",
      "rmsnorm: expected x of dtype float32, float16 or bfloat16, got bool",
    ),
    refuse(
      "x without dimensions",
      () => rmsnorm(tensor(1, { device })),
      RangeError,
      "ERR_SHAPE",
      "rmsnorm: expected x to have at least 1 dimension, got shape []",
    ),
    refuse(
      "a weight of another size",
      () => rmsnorm(x, ones([4], { device })),
      RangeError,
      "ERR_SHAPE",
      "rmsnorm: expected weight of shape [8], got [4]",
    ),
    refuse(
      "a weight of two dimensions",
      () => rmsnorm(x, ones([1, 8], { device })),
      RangeError,
      "ERR_SHAPE",
      "rmsnorm: expected weight of shape [8], got [1, 8]",
    ),
    refuse(
      "a 16-bit weight beside float32",
      () => rmsnorm(x, ones([8], { dtype: "bfloat16", device })),
      TypeError,
      "ERR_DTYPE",
      "rmsnorm: expected weight of dtype float32, got bfloat16",
    ),
    refuse(
      "a bfloat16 weight beside float16",
      () => rmsnorm(half, ones([8], { dtype: "bfloat16", device })),
      TypeError,
      "ERR_DTYPE",
      "rmsnorm: expected weight of dtype float16 or float32, got bfloat16",
    ),
    refuse(
      "a residual of another dtype",
      () => addRmsnorm(x, half),
      TypeError,
      "ERR_DTYPE",
      "addRmsnorm: expected residual of dtype float32, got float16",
    ),
    refuse(
      "a residual of another shape",
      () => addRmsnorm(x, ones([1, 8], { device })),
      RangeError,
      "ERR_SHAPE",
      "addRmsnorm: expected residual of shape [2, 8], got [1, 8]",
    ),
    refuse(
      "an out of another shape",
      () => rmsnorm(x, null, { out: empty([8, 2], { device }) }),
      RangeError,
      "ERR_SHAPE",
      "rmsnorm: expected out of shape [2, 8], got [8, 2]",
    ),
    refuse(
      "an out of another dtype",
      () => rmsnorm(x, null, { out: half }),
      TypeError,
      "ERR_DTYPE",
      "rmsnorm: expected out of dtype float32, got float16",
    ),
    refuse(
      "an rstd in x's dtype",
      () => rmsnorm(half, null, { rstd: empty([2], { dtype: "float16", device }) }),
      TypeError,
      "ERR_DTYPE",
      "rmsnorm: expected rstd of dtype float32, got float16",
    ),
    refuse(
      "an rstd of another shape",
      () => rmsnorm(x, null, { rstd: empty([3], { device }) }),
      RangeError,
      "ERR_SHAPE",
      "rmsnorm: expected rstd of shape [2], got [3]",
    ),
    refuse(
      "residualOut for rmsnorm",
      () => rmsnorm(x, null, anything({ residualOut: x })),
      RangeError,
      "ERR_VALUE",
      'rmsnorm: unknown option "residualOut", the nearest known is "rstd" or "out"',
    ),
    refuse(
      "a misspelt option",
      () => rmsnorm(x, null, anything({ epsilon: 1 })),
      RangeError,
      "ERR_VALUE",
      'rmsnorm: unknown option "epsilon", the nearest known is "eps"',
    ),
    refuse(
      "options that are a number",
      () => rmsnorm(x, null, anything(1e-6)),
      TypeError,
      "ERR_KIND",
      "rmsnorm: expected options to be an object, got a number",
    ),
    refuse(
      "options that are a tensor",
      () => rmsnorm(x, weight, anything(x)),
      TypeError,
      "ERR_KIND",
      "rmsnorm: expected options to be an object, got a Tensor",
    ),
    refuse(
      "a NaN eps",
      () => rmsnorm(x, null, { eps: Number.NaN }),
      RangeError,
      "ERR_VALUE",
      "rmsnorm: expected eps to be a finite number of at least 0, got NaN",
    ),
    refuse(
      "a negative eps",
      () => rmsnorm(x, null, { eps: -1e-6 }),
      RangeError,
      "ERR_VALUE",
      "rmsnorm: expected eps to be a finite number of at least 0, got -0.000001",
    ),
    refuse(
      "an eps in words",
      () => rmsnorm(x, null, { eps: anything("1e-6") }),
      TypeError,
      "ERR_KIND",
      "rmsnorm: expected eps to be a number, got a string",
    ),
    refuse(
      "an infinite weightOffset",
      () => rmsnorm(x, weight, { weightOffset: Number.POSITIVE_INFINITY }),
      RangeError,
      "ERR_VALUE",
      "rmsnorm: expected weightOffset to be a finite number, got Infinity",
    ),
    refuse(
      "a weightOffset without a weight",
      () => rmsnorm(x, null, { weightOffset: 1 }),
      RangeError,
      "ERR_VALUE",
      "rmsnorm: expected a weight beside a weightOffset of 1",
    ),
    refuse(
      "an unknown casting",
      () => rmsnorm(x, null, { casting: anything("gemma") }),
      RangeError,
      "ERR_VALUE",
      'rmsnorm: expected casting to be "float32" or "llama", got "gemma"',
    ),
    refuse(
      "a stream that is none",
      () => rmsnorm(x, null, { stream: anything(0) }),
      TypeError,
      "ERR_KIND",
      "rmsnorm: expected stream to be a CudaStream, got a number",
    ),
    refuse(
      "a disposed x",
      () => rmsnorm(disposed),
      Error,
      "ERR_DISPOSED",
      "rmsnorm: x has been disposed",
    ),
    refuse(
      "a disposed weight",
      () => rmsnorm(x, disposed),
      Error,
      "ERR_DISPOSED",
      "rmsnorm: weight has been disposed",
    ),
    refuse(
      "a disposed residual",
      () => addRmsnorm(x, disposed),
      Error,
      "ERR_DISPOSED",
      "addRmsnorm: residual has been disposed",
    ),
    refuse(
      "a disposed out",
      () => rmsnorm(x, null, { out: disposed }),
      Error,
      "ERR_DISPOSED",
      "rmsnorm: out has been disposed",
    ),
    refuse(
      "an out with a stride of 0",
      () => rmsnorm(x, null, { out: zeros([1, 8], { device }).expand([2, 8]) }),
      RangeError,
      "ERR_OVERLAP",
      "rmsnorm: expected out to have no stride of 0, got strides [0, 1]",
    ),
    refuse(
      "an out one element off x",
      () =>
        rmsnorm(wide.narrow(1, 0, 8), null, {
          out: wide.narrow(1, 1, 8),
        }),
      RangeError,
      "ERR_OVERLAP",
      "rmsnorm: expected out to share no memory with x, or to be exactly it, got views that overlap",
    ),
    refuse(
      "an out that holds the weight",
      () => rmsnorm(x, wide.select(0, 0).narrow(0, 0, 8), { out: wide.narrow(1, 0, 8) }),
      RangeError,
      "ERR_OVERLAP",
      "rmsnorm: expected out to share no memory with weight, got views that overlap",
    ),
    refuse(
      "out and residualOut in one",
      () =>
        addRmsnorm(x, x, null, { out: wide.narrow(1, 0, 8), residualOut: wide.narrow(1, 0, 8) }),
      RangeError,
      "ERR_OVERLAP",
      "addRmsnorm: expected out to share no memory with residualOut, got views that overlap",
    ),
    refuse(
      "an rstd inside out",
      () => rmsnorm(x, null, { out: wide.narrow(1, 0, 8), rstd: wide.select(1, 3) }),
      RangeError,
      "ERR_OVERLAP",
      "rmsnorm: expected rstd to share no memory with out, got views that overlap",
    ),
    refuse(
      "a hidden size that is none",
      () => new RMSNorm(anything("8")),
      TypeError,
      "ERR_KIND",
      "RMSNorm: expected hiddenSize to be a number, got a string",
    ),
    refuse(
      "a negative hidden size",
      () => new RMSNorm(-8),
      RangeError,
      "ERR_VALUE",
      "RMSNorm: expected hiddenSize to be an integer of at least 1, got -8",
    ),
    refuse(
      "a fractional hidden size",
      () => new RMSNorm(1.5),
      RangeError,
      "ERR_VALUE",
      "RMSNorm: expected hiddenSize to be an integer of at least 1, got 1.5",
    ),
    refuse(
      "a module of integers",
      () => new RMSNorm(8, { dtype: "int32" }),
      RangeError,
      "ERR_VALUE",
      'RMSNorm: expected dtype to be "float32", "float16" or "bfloat16", got "int32"',
    ),
    refuse(
      "a module's weightOffset without a weight",
      () => new RMSNorm(8, { elementwiseAffine: false, weightOffset: 1 }),
      RangeError,
      "ERR_VALUE",
      "RMSNorm: expected elementwiseAffine beside a weightOffset of 1",
    ),
    refuse(
      "a module on another hidden size",
      () => new RMSNorm(4, { device }).forward(x),
      RangeError,
      "ERR_SHAPE",
      "RMSNorm.forward: expected x with a last dimension of 4, got shape [2, 8]",
    ),
    refuse(
      "a module's forward without x",
      () => new RMSNorm(4).forward(anything(undefined)),
      TypeError,
      "ERR_KIND",
      "RMSNorm.forward: expected x to be a Tensor, got undefined",
    ),
  ];
  if (device !== "cpu") {
    refusals.push(
      refuse(
        "a weight on the CPU",
        () => rmsnorm(x, ones([8])),
        Error,
        "ERR_DEVICE",
        `rmsnorm: expected weight on ${device}, got cpu`,
      ),
    );
  }

  test.each(refusals.map((refusal) => [refusal.name, refusal] as const))(
    "%s",
    async (_, { call, error, code, message }) => {
      let thrown: unknown;
      try {
        call();
      } catch (cause) {
        thrown = cause;
      }
      expect(thrown).toBeInstanceOf(error);
      expect(thrown).toMatchObject({ code, message });
      // The next good call works.
      expect((await rmsnorm(x).data())[0]).toBeCloseTo(1, 5);
    },
  );

  test("two chunks of one tensor may be x and out", async () => {
    const both = tensor([[1, 1, 1, 1, 0, 0, 0, 0]], { device });
    const [input, out] = both.chunk(2, -1) as [Tensor, Tensor];
    rmsnorm(input, null, { out });
    expect((await out.data())[3]).toBeCloseTo(1, 5);
  });
});

test.skipIf(isAvailable("cuda"))("without a usable GPU nothing falls back", () => {
  expect(() => new RMSNorm(8, { device: "cuda" })).toThrow(
    expect.objectContaining({ code: "ERR_DEVICE" }),
  );
});
