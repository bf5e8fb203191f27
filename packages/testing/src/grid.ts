import { type Device, randn, type Tensor, tidy, zeros } from "@warpwright/runtime";

import type { FloatDType } from "./float64.js";

/** Last dimension: powers of two, from half a warp's 16-byte loads to a block's many. */
export const gridHiddenSizes: readonly number[] = [64, 128, 256, 512, 1024, 2048, 4096, 8192];
/** First dimension. */
export const gridBatchSizes: readonly number[] = [1, 4, 16];
/** Second dimension: one token, and a few blocks' worth. */
export const gridSeqLens: readonly number[] = [1, 32, 128];

export interface GridInput {
  /** Default "float32"; a case of a wrong dtype keeps its own. */
  dtype?: FloatDType;
  /** Default "cpu". */
  device?: Device;
  /** Of the normal distribution. Default 42. */
  seed?: number;
}

/** A named input for a kernel that works on the last dimension. */
export interface GridCase {
  name: string;
  /** Of the input, [batch, seqlen, hidden]. */
  shape: readonly [number, number, number];
  /** "ERR_DTYPE" where the kernel has to refuse the input; undefined where it has to be right. */
  throws?: "ERR_DTYPE";
  /** A new tensor, the caller's to dispose. */
  input(options?: GridInput): Tensor;
}

/**
 * The grid a norm is tested on: 8 hidden sizes x 3 batches x 3 lengths of normally distributed
 * values; then one row, zeros, a non-contiguous input, a large hidden size, and an input of a dtype
 * that the kernel has to refuse. 77 cases, in that order.
 *
 * @example
 * import { seedGrid } from "@warpwright/testing";
 *
 * for (const { name, input } of seedGrid()) {
 *   const x = input({ dtype: "bfloat16" });
 *   console.log(name, x.shape);
 *   x.dispose();
 * }
 */
export function seedGrid(): GridCase[] {
  const cases: GridCase[] = [];
  for (const hiddenSize of gridHiddenSizes) {
    for (const batchSize of gridBatchSizes) {
      for (const seqLen of gridSeqLens) {
        const shape = [batchSize, seqLen, hiddenSize] as const;
        cases.push({ name: shape.join("x"), shape, input: normal(shape) });
      }
    }
  }
  const row = [1, 1, 2048] as const;
  const flat = [2, 8, 2048] as const;
  const nonContiguous = [2, 64, 2048] as const;
  const large = [1, 4, 16384] as const;
  cases.push(
    { name: "single row", shape: row, input: normal(row) },
    { name: "zeros", shape: flat, input: (options) => zeros(flat, placed(options)) },
    { name: "non-contiguous", shape: nonContiguous, input: transposed(nonContiguous) },
    { name: "large hidden size", shape: large, input: normal(large) },
    { name: "wrong dtype", shape: flat, throws: "ERR_DTYPE", input: integers(flat) },
  );
  return cases;
}

type Shape = GridCase["shape"];

function normal(shape: Shape): GridCase["input"] {
  return (options = {}) => randn(shape, { ...placed(options), seed: options.seed ?? 42 });
}

/** Normal values whose last dimension is the outer one of a contiguous tensor. */
function transposed([batchSize, seqLen, hiddenSize]: Shape): GridCase["input"] {
  const stored = normal([batchSize, hiddenSize, seqLen]);
  return (options) => tidy(() => stored(options).transpose(1, 2));
}

function integers(shape: Shape): GridCase["input"] {
  return ({ device = "cpu" } = {}) => zeros(shape, { dtype: "int32", device });
}

function placed({ dtype = "float32", device = "cpu" }: GridInput = {}): {
  dtype: FloatDType;
  device: Device;
} {
  return { dtype, device };
}
