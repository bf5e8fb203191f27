// Numbers, words and streams that are refused, and what the options may be at all.
import {
  CudaStream,
  type Device,
  explain,
  isAvailable,
  ones,
  type Tensor,
} from "@warpwright/runtime";
import { describe, expect, test } from "vitest";

import { testDevices } from "../cuda.js";
import { valuesOf } from "../float64.js";
import { poisoned } from "../poison.js";
import { type Arguments, type Callee, callWith, goodArguments, mapValues } from "./callee.js";
import { kindRefusals, type Refusal, testRefusals } from "./refusals.js";
import { givenValue, scalarRefusals } from "./scalars.js";

/**
 * Tests what each function says of options out of their bounds or of a wrong kind, of options that
 * it does not know, and of streams; and that it reads each option once.
 *
 * @param more refusals that are these functions' own
 * @example
 * import { rmsnorm, type RmsnormOptions } from "@warpwright/rmsnorm";
 * import type { Tensor } from "@warpwright/runtime";
 * import { calleeOf, rows, testOptionErrors } from "@warpwright/testing/vitest";
 *
 * testOptionErrors([
 *   calleeOf({
 *     op: "rmsnorm",
 *     inputs: { x: rows() },
 *     outputs: { out: rows() },
 *     options: { eps: { number: 1e-5, min: 0 } },
 *     unknown: [["epsilon", '"eps"']],
 *     call: (options: RmsnormOptions, x: Tensor) => rmsnorm(x, null, options),
 *   }),
 * ]);
 */
export function testOptionErrors(
  callees: readonly Callee[],
  more: (device: Device) => readonly Refusal[] = () => [],
): void {
  const launching = callees.filter(({ outputs }) => Object.keys(outputs).length > 0);

  describe.each(testDevices())("options that are refused on %s", (device) => {
    testRefusals(device, [
      ...callees.flatMap(scalarRefusals),
      ...callees.flatMap(optionsRefusals),
      ...launching.flatMap((callee) => streamRefusals(callee, device)),
      ...more(device),
    ]);

    test.each(launching.map((callee) => [callee.name, callee] as const))(
      "%s reads each option once",
      (_, callee) => expectReadOnce(callee, device),
    );
  });

  for (const callee of callees) {
    if (Object.values(callee.options).some((option) => "device" in option)) {
      testMissingDevices(callee);
    }
  }
}

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
    ...callee.unknown.map(([name, nearest]) => ({
      callee,
      fault: `an option ${name}`,
      spoil: () => ({ options: { [name]: 1 } }),
      error: `ERR_VALUE ${op}: unknown option "${name}", the nearest known is ${nearest}`,
    })),
  ];
}

function streamRefusals(callee: Callee, device: Device): Refusal[] {
  return [
    ...kindRefusals(callee, "stream", "a CudaStream", ["undefined"]),
    {
      callee,
      fault: "stream is a Tensor",
      spoil: () => ({ stream: ones([8], { device }) }),
      error: `ERR_KIND ${callee.op}: expected stream to be a CudaStream, got a Tensor`,
    },
    ...(isAvailable("cuda") ? [strayStream(callee, device)] : []),
  ];
}

/** A stream that no longer is one, or for tensors on the CPU one of a GPU. */
function strayStream(callee: Callee, device: Device): Refusal {
  if (device === "cpu") {
    return {
      callee,
      fault: "a GPU's stream",
      spoil: () => ({ stream: CudaStream.default("cuda:0") }),
      error: `ERR_DEVICE ${callee.op}: expected a stream of cpu, got one of cuda:0`,
    };
  }
  const stream = new CudaStream({ device });
  stream.dispose();
  return {
    callee,
    fault: "stream is disposed",
    spoil: () => ({ stream }),
    error: `ERR_DISPOSED ${callee.op}: stream has been disposed`,
  };
}

function expectReadOnce(callee: Callee, device: Device): void {
  const good = goodArguments(callee, device);
  const scalars = mapValues(callee.options, givenValue);
  const isPositional = (name: string) => callee.positional.includes(name);
  const all = Object.entries({ ...good, stream: undefined, ...scalars });
  const { options, reads } = readOnce(all.filter(([name]) => !isPositional(name)));
  const positional = all.filter(([name]) => isPositional(name));
  const out = callWith(callee, { ...Object.fromEntries(positional), options });
  expect(out).toBe(good[Object.keys(callee.outputs)[0]!]);
  expect(new Set(reads.values())).toEqual(new Set([1]));
  expect(reads.size).toBe(Object.keys(options).length);
  for (const name of Object.keys(callee.outputs)) {
    expect(valuesOf(good[name] as Tensor).some(Number.isNaN)).toBe(false);
  }
}

/** Options of getters, which from the second read on return another tensor, that nothing fits. */
function readOnce(values: readonly [name: string, value: unknown][]): {
  options: Arguments;
  reads: Map<string, number>;
} {
  const reads = new Map<string, number>();
  const options: Arguments = {};
  for (const [name, value] of values) {
    const get = () => {
      reads.set(name, (reads.get(name) ?? 0) + 1);
      return reads.get(name) === 1 ? value : poisoned([1]);
    };
    Object.defineProperty(options, name, { get, enumerable: true });
  }
  return { options, reads };
}

function testMissingDevices(callee: Callee): void {
  const { op } = callee;
  const make = (device: Device) => callWith(callee, { ...goodArguments(callee, "cpu"), device });

  describe(`${op} on a device that is not there`, () => {
    const missing = explain().replace("CUDA is not available: ", "");
    const error = (message: string) => expect.objectContaining({ code: "ERR_DEVICE", message });

    test.skipIf(isAvailable("cuda"))("without a usable GPU nothing falls back", () => {
      expect(() => make("cuda")).toThrow(error(`${op}: cuda:0 is not available: ${missing}`));
    });

    test.skipIf(!isAvailable("cuda"))("beyond the GPUs there are", () => {
      const message = expect.stringMatching(/: cuda:99 is not available: there ./s);
      expect(() => make("cuda:99")).toThrow(error(message));
    });
  });
}
