import { type Device, type DType, randn, type Tensor, tensor } from "@warpwright/runtime";
import { expectClose, type FloatDType, tolerances, valuesOf } from "@warpwright/testing";
import { type AddRmsnormOptions, addRmsnorm, type RmsnormOptions, rmsnorm } from "../src/index.js";
import { rmsnormReference } from "./reference.js";

export const dtypes: readonly FloatDType[] = ["float32", "float16", "bfloat16"];

export interface Place {
  dtype: FloatDType;
  device: Device;
}

/** Normal values, of mean 1 and a fifth of the spread for a weight. */
export function randomWeight(size: number, { dtype, device }: Place, seed = 7): Tensor {
  const values = randn([size], { seed }).dataSync() as Float32Array;
  return tensor(
    values.map((value) => 1 + 0.2 * value),
    { dtype, device },
  );
}

type Rounding = Pick<RmsnormOptions, "casting">;

// Where rstd's last bit tips the first rounding of llama's two, that is an ulp of x * rstd, which may
// be two of the result, and the second rounding adds half of one.
const llamaUlps = 2.5;

function toleranceFor(dtype: FloatDType, { casting }: Rounding) {
  const tolerance = tolerances.reduction[dtype];
  return casting === "llama" && dtype !== "float32" ? { ...tolerance, ulps: llamaUlps } : tolerance;
}

/** Runs rmsnorm and compares with float64; returns what it gave. */
export function expectRmsnorm(
  x: Tensor,
  weight: Tensor | null,
  options: RmsnormOptions = {},
): Tensor {
  const dtype = x.dtype as FloatDType;
  const { eps, weightOffset, casting } = options;
  const values = valuesOf(x);
  const weights = weight && valuesOf(weight);
  const out = rmsnorm(x, weight, options);
  const reference = rmsnormReference(values, weights, x.shape.at(-1)!, dtype, {
    ...(eps === undefined ? {} : { eps }),
    ...(weightOffset === undefined ? {} : { weightOffset }),
    ...(casting === undefined ? {} : { casting }),
  });
  expectClose(out, reference.out, { ...toleranceFor(dtype, options), name: "out" });
  if (options.rstd) {
    expectClose(options.rstd, reference.rstd, { ...tolerances.reduction.float32, name: "rstd" });
  }
  return out;
}

/** The same for addRmsnorm; the sum has to be right to the bit. */
export function expectAddRmsnorm(
  x: Tensor,
  residual: Tensor,
  weight: Tensor | null,
  options: AddRmsnormOptions = {},
): { out: Tensor; residual: Tensor } {
  const dtype = x.dtype as FloatDType;
  const [values, addend] = [valuesOf(x), valuesOf(residual)];
  const weights = weight && valuesOf(weight);
  const result = addRmsnorm(x, residual, weight, options);
  const reference = rmsnormReference(values, weights, x.shape.at(-1)!, dtype, {
    residual: addend,
    ...(options.casting === undefined ? {} : { casting: options.casting }),
  });
  expectClose(result.residual, reference.sum, { ulps: 0, name: "residual" });
  expectClose(result.out, reference.out, { ...toleranceFor(dtype, options), name: "out" });
  return result;
}

/** The tensor's bits, for comparisons that allow no difference. */
export async function bitsOf(x: Tensor): Promise<string> {
  return Buffer.from(await x.bytes()).toString("base64");
}

export function bytesOf(dtype: DType): number {
  return dtype === "float32" ? 4 : 2;
}
