// Each kernel on tensors of the model, at a place where the model has such an operation, or where
// one like it has it instead. A new kernel is one more entry of `kernels`.
import { attention } from "@warpwright/attention";
import { geglu } from "@warpwright/geglu";
import { gelu } from "@warpwright/gelu";
import { layernorm } from "@warpwright/layernorm";
import { rmsnorm } from "@warpwright/rmsnorm";
import { rmsnormRhtAmax } from "@warpwright/rmsnorm-rht-amax";
import { rope, ropeTables } from "@warpwright/rope";
import { type Device, type Tensor, tensor, tidy } from "@warpwright/runtime";
import { swiglu } from "@warpwright/swiglu";
import { type FloatDType, ulpOf, valuesOf } from "@warpwright/testing";
import { type Comparison, compare, time, worseOf } from "./check.js";
import type { Activations } from "./gemma.js";
import type { Config } from "./model.js";
import * as reference from "./reference.js";

/** A kernel with its arguments. */
interface Prepared {
  call(out?: Tensor): Tensor;
  expected: Float64Array;
  /** Error beside that of float32's arithmetic and of one rounding of the result. Default 0. */
  slack?: number;
}

interface Kernel {
  name: string;
  /** What of the model it is applied to. */
  of: string;
  prepare(inputs: Activations, config: Config): Prepared;
}

export const kernels: readonly Kernel[] = [
  {
    name: "rmsnorm",
    of: "hidden states",
    prepare({ hidden, inputNorm }, { rms_norm_eps: eps }) {
      return {
        call: (out) => rmsnorm(hidden, inputNorm, { eps, weightOffset: 1, out }),
        expected: reference.rmsnorm(valuesOf(hidden), valuesOf(inputNorm), eps),
      };
    },
  },
  {
    name: "layernorm",
    of: "hidden states",
    prepare({ hidden, inputNorm, postNorm }) {
      const values = [hidden, inputNorm, postNorm].map(valuesOf);
      return {
        call: (out) => layernorm(hidden, inputNorm, postNorm, { out }),
        expected: reference.layernorm(values[0]!, values[1]!, values[2]!, 1e-5),
      };
    },
  },
  {
    name: "rmsnorm-rht-amax",
    of: "hidden states",
    prepare({ hidden, inputNorm }) {
      const expected = reference.rmsnormRht(valuesOf(hidden), valuesOf(inputNorm), 1e-5);
      const largest = expected.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
      return {
        call: (out) => rmsnormRhtAmax(hidden, inputNorm, { out }).out,
        expected,
        // A sum of 16 terms, each up to 4 times what the largest came to, which may cancel.
        slack: 16 * 2 ** -24 * largest,
      };
    },
  },
  {
    name: "rope",
    of: "queries and keys, fused",
    prepare({ qkv, q, k }, { head_dim: dim, rope_parameters: { rope_theta: theta } }) {
      const heads = q.shape[2]! + k.shape[2]!;
      const x = qkv.narrow(2, 0, heads);
      const maxPositions = x.shape[1]!;
      const { cos, sin } = ropeTables({ dim, maxPositions, theta, device: x.device as Device });
      return {
        call: (out) => rope(x, cos, sin, { out }),
        expected: reference.rope(valuesOf(x), heads, dim, theta),
      };
    },
  },
  {
    name: "attention",
    of: "queries, keys, values",
    prepare({ q, k, qkv }, { head_dim: dim }) {
      const v = qkv.narrow(2, q.shape[2]! + k.shape[2]!, k.shape[2]!);
      const values = [q, k, v].map(valuesOf) as [Float64Array, Float64Array, Float64Array];
      const largest = values[2].reduce((max, value) => Math.max(max, Math.abs(value)), 0);
      // Scores are sums of terms of up to 28 in all, so float32 has weights to 28 * 2^-23. Beside a
      // 16-bit dtype a GPU rounds the weights, whose sum is 1, to it before they meet the values.
      const rounding = v.dtype === "float32" ? 0 : ulpOf(v.dtype as FloatDType, 1) / 2;
      return {
        call: (out) => attention(q, k, v, { causal: true, out }),
        expected: reference.attention(...values, q.shape[1]!, dim),
        slack: (28 * 2 ** -23 + rounding) * largest,
      };
    },
  },
  {
    name: "gelu",
    of: "gate and up, fused",
    prepare: ({ gateUp }) => ({
      call: (out) => gelu(gateUp, { out }),
      expected: valuesOf(gateUp).map(reference.gelu),
    }),
  },
  {
    name: "geglu",
    of: "gate and up, fused",
    prepare: ({ gateUp }) => ({
      call: (out) => geglu(gateUp, { approximate: "tanh", out }),
      expected: reference.gated(valuesOf(gateUp), gateUp.shape[1]!, reference.geluTanh),
    }),
  },
  {
    name: "swiglu",
    of: "gate and up, fused",
    prepare: ({ gateUp }) => ({
      call: (out) => swiglu(gateUp, { out }),
      expected: reference.gated(valuesOf(gateUp), gateUp.shape[1]!, reference.silu),
    }),
  },
];

/** A tensor's values in JavaScript's memory, as one layer had them. */
export interface Recorded {
  shape: readonly number[];
  values: Float32Array;
}

export type Recording = Readonly<Record<keyof Activations, Recorded>>;

export function recorded(x: Tensor): Recorded {
  return { shape: x.shape, values: x.dataSync() as Float32Array };
}

export interface Place {
  dtype: FloatDType;
  device: Device;
}

export interface Row extends Comparison {
  shape: readonly number[];
  microseconds: number;
}

/** Compares a kernel in each layer, and times it in the first. */
export function runKernel(
  kernel: Kernel,
  layers: readonly Recording[],
  config: Config,
  place: Place,
): Row {
  const rows = layers.map((layer, i) =>
    tidy(() => {
      const { call, expected, slack } = kernel.prepare(inputsOf(layer, place), config);
      const out = call();
      const worst = compare(valuesOf(out), expected, place.dtype, slack);
      const microseconds = i === 0 ? time(() => call(out), place.device) : 0;
      return { ...worst, microseconds, shape: out.shape };
    }),
  );
  const { error, allowed } = rows.reduce<Comparison>(worseOf, rows[0]!);
  return { ...rows[0]!, error, allowed };
}

function inputsOf(layer: Recording, place: Place): Activations {
  const made = Object.entries(layer).map(([name, { shape, values }]) => [
    name,
    tensor(values, { shape, ...place }),
  ]);
  return Object.fromEntries(made) as Activations;
}
