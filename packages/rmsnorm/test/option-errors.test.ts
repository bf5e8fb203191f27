// Numbers, words and streams that are refused, of the functions and of the module's constructor.
import { CudaStream, isAvailable, ones, type Tensor } from "@warpwright/runtime";
import { poisoned, testDevices, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import {
  type Arguments,
  type Callee,
  callees,
  kindRefusals,
  moduleCallee,
  type Refusal,
  testRefusals,
} from "./refusals.js";

const [rmsnorm, addRmsnorm, forward] = callees as [Callee, Callee, Callee];

/** Whose eps, weightOffset and casting are options; forward's are the module's. */
const withScalars: readonly Callee[] = [rmsnorm, addRmsnorm, moduleCallee];

const notFinite = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
const beyondFloat32 = [1e300, 3.5e38, Number.MAX_VALUE];

function valueRefusals(
  callee: Callee,
  name: string,
  wanted: string,
  values: readonly unknown[],
): Refusal[] {
  return values.map((value) => {
    const found = typeof value === "string" ? JSON.stringify(value) : String(value);
    return {
      callee,
      fault: `${name} is ${found}`,
      spoil: () => ({ [name]: value }),
      error: `ERR_VALUE ${callee.op}: expected ${name} to be ${wanted}, got ${found}`,
    };
  });
}

function scalarRefusals(callee: Callee): Refusal[] {
  const negative = [-1e-6, -1, -1e300, -Number.MIN_VALUE];
  const words = ["gemma", "", "Llama", "float16", "llama "];
  return [
    ...kindRefusals(callee, "eps", "a number", ["undefined", "a number"]),
    ...valueRefusals(callee, "eps", "a finite number of at least 0", [...notFinite, ...negative]),
    ...valueRefusals(callee, "eps", "a finite float32 number of at least 0", beyondFloat32),
    ...kindRefusals(callee, "weightOffset", "a number", ["undefined", "a number"]),
    ...valueRefusals(callee, "weightOffset", "a finite number", notFinite),
    ...valueRefusals(callee, "weightOffset", "a finite float32 number", [
      ...beyondFloat32,
      ...beyondFloat32.map((value) => -value),
    ]),
    ...kindRefusals(callee, "casting", "a string", ["undefined", "a string"]),
    ...valueRefusals(callee, "casting", '"float32" or "llama"', words),
  ];
}

/** An offset that no weight takes. */
const offsetRefusals: readonly Refusal[] = [
  ...[rmsnorm, addRmsnorm].flatMap((callee) =>
    [null, undefined].map((weight) => ({
      callee,
      fault: `a weightOffset beside a weight of ${weight}`,
      spoil: () => ({ weight, weightOffset: -0.5 }),
      error: `ERR_VALUE ${callee.op}: expected a weight beside a weightOffset of -0.5`,
    })),
  ),
  {
    callee: moduleCallee,
    fault: "a weightOffset without elementwiseAffine",
    spoil: () => ({ elementwiseAffine: false, weightOffset: 1 }),
    error: "ERR_VALUE RMSNorm: expected elementwiseAffine beside a weightOffset of 1",
  },
];

function optionsRefusals(callee: Callee): Refusal[] {
  const { op } = callee;
  const allowed = ["undefined", "an object", "a Float32Array"];
  return [
    ...kindRefusals(callee, "options", "an object", allowed),
    {
      callee,
      fault: "options are a Tensor",
      spoil: () => ({ options: ones([8]) }),
      error: `ERR_KIND ${op}: expected options to be an object, got a Tensor`,
    },
  ];
}

const unknownOptions: readonly [callee: Callee, name: string, nearest: string][] = [
  [rmsnorm, "epsilon", '"eps"'],
  [rmsnorm, "weight_offset", '"weightOffset"'],
  [rmsnorm, "residualOut", '"rstd" or "out"'],
  [rmsnorm, "weight", '"weightOffset"'],
  [addRmsnorm, "residual", '"residualOut"'],
  [addRmsnorm, "prenorm", '"stream"'],
  [forward, "eps", '"out"'],
  [forward, "casting", '"rstd"'],
  [moduleCallee, "elementwise_affine", '"elementwiseAffine"'],
  [moduleCallee, "bias", '"eps"'],
  [moduleCallee, "stream", '"eps" or "dtype"'],
];

const unknownRefusals = unknownOptions.map(
  ([callee, name, nearest]): Refusal => ({
    callee,
    fault: `an option ${name}`,
    spoil: () => ({ options: { [name]: 1 } }),
    error: `ERR_VALUE ${callee.op}: unknown option "${name}", the nearest known is ${nearest}`,
  }),
);

describe.each(testDevices())("options that are refused on %s", (device) => {
  testRefusals(device, [
    ...withScalars.flatMap(scalarRefusals),
    ...offsetRefusals,
    ...[...callees, moduleCallee].flatMap(optionsRefusals),
    ...unknownRefusals,
    ...callees.flatMap((callee) =>
      kindRefusals(callee, "stream", "a CudaStream", ["undefined"]).concat({
        callee,
        fault: "stream is a Tensor",
        spoil: ({ x }) => ({ stream: x }),
        error: `ERR_KIND ${callee.op}: expected stream to be a CudaStream, got a Tensor`,
      }),
    ),
    ...(isAvailable("cuda") ? callees.map((callee) => streamRefusal(callee, device)) : []),
  ]);

  test.each(callees.map((callee) => [callee.op, callee] as const))(
    "%s reads each option once",
    (_, callee) => {
      const { x, residual, weight, ...outputs } = callee.good(device);
      const scalars = callee === forward ? {} : { eps: 1e-5, weightOffset: 0, casting: "llama" };
      const { options, reads } = readOnce({ ...outputs, stream: undefined, ...scalars });
      const out = callee.call({ x, residual, weight, options });
      expect(out).toBe(outputs["out"]);
      expect(new Set(reads.values())).toEqual(new Set([1]));
      expect(reads.size).toBe(Object.keys(options).length);
      for (const name of callee.outputs) {
        expect(valuesOf(outputs[name] as Tensor).some(Number.isNaN)).toBe(false);
      }
    },
  );
});

/** A stream that no longer is one, or for tensors on the CPU one of a GPU. */
function streamRefusal(callee: Callee, device: string): Refusal {
  if (device === "cpu") {
    return {
      callee,
      fault: "a GPU's stream",
      spoil: () => ({ stream: CudaStream.default("cuda:0") }),
      error: `ERR_DEVICE ${callee.op}: expected a stream of cpu, got one of cuda:0`,
    };
  }
  const stream = new CudaStream({ device: "cuda:0" });
  stream.dispose();
  return {
    callee,
    fault: "stream is disposed",
    spoil: () => ({ stream }),
    error: `ERR_DISPOSED ${callee.op}: stream has been disposed`,
  };
}

/** Options of getters, which from the second read on return another tensor, that nothing fits. */
function readOnce(values: Arguments): { options: Arguments; reads: Map<string, number> } {
  const reads = new Map<string, number>();
  const options: Arguments = {};
  for (const [name, value] of Object.entries(values)) {
    const get = () => {
      reads.set(name, (reads.get(name) ?? 0) + 1);
      return reads.get(name) === 1 ? value : poisoned([1]);
    };
    Object.defineProperty(options, name, { get, enumerable: true });
  }
  return { options, reads };
}
