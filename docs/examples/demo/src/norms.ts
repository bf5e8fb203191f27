import { rmsnorm } from "@warpwright/rmsnorm";
import { CudaStream, type Device, emptyLike, type Tensor } from "@warpwright/runtime";
import { type FloatDType, ulpOf, valuesOf } from "@warpwright/testing";
import { type Model, named } from "./model.js";

/** One layer's input norm, computed and timed. */
export interface NormRow {
  name: string;
  dtype: FloatDType;
  device: Device;
  shape: readonly number[];
  /** Median of a call in a row of them, in microseconds. */
  microseconds: number;
  /** Bytes that the call reads and writes, over that time. */
  gbPerSecond: number;
  /** Largest error against float64, as a share of the largest value. */
  error: number;
  /** Largest share, over the elements, of what rounding and float32 arithmetic allow each. */
  shareOfAllowed: number;
}

/** The input norm of one layer, on the hidden state that PyTorch recorded for it. */
export async function runNorm(
  model: Model,
  layer: number,
  dtype: FloatDType,
  device: Device,
): Promise<NormRow> {
  const hidden = named(model.expected, `hidden.${layer}`);
  const x = hidden.to({ device, dtype });
  const weight = named(model.weights, `model.layers.${layer}.input_layernorm.weight`).to(dtype);
  const out = emptyLike(x);
  const call = () => rmsnorm(x, weight, { eps: model.eps, weightOffset: 1, out });
  call();
  const expected = normInFloat64(valuesOf(x), valuesOf(weight), model);
  const { error, shareOfAllowed } = compare(valuesOf(out), expected, dtype);
  const microseconds = await time(call, device);
  // x read, out written, the weight read.
  const bytes = x.byteLength + out.byteLength + weight.byteLength;
  const row = { name: `layer ${layer} input`, dtype, device, shape: x.shape, microseconds };
  for (const tensor of [x, weight, out]) tensor.dispose();
  return { ...row, gbPerSecond: bytes / microseconds / 1e3, error, shareOfAllowed };
}

/** Gemma's norm, x / sqrt(mean(x²) + eps) * (1 + weight), row by row. */
function normInFloat64(x: Float64Array, weight: Float64Array, { hiddenSize, eps }: Model) {
  const out = new Float64Array(x.length);
  for (let begin = 0; begin < x.length; begin += hiddenSize) {
    const row = x.subarray(begin, begin + hiddenSize);
    const meanSquare = row.reduce((sum, value) => sum + value * value, 0) / hiddenSize;
    const rstd = 1 / Math.sqrt(meanSquare + eps);
    for (let i = 0; i < hiddenSize; i++) out[begin + i] = row[i]! * rstd * (1 + weight[i]!);
  }
  return out;
}

// Every element is allowed half an ulp for the one rounding, and float32's error in the sum.
function compare(actual: Float64Array, expected: Float64Array, dtype: FloatDType) {
  const largest = expected.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  let error = 0;
  let shareOfAllowed = 0;
  for (let i = 0; i < expected.length; i++) {
    const y = expected[i]!;
    const rounding = dtype === "float32" ? 0 : 0.5 * ulpOf(dtype, y);
    const difference = Math.abs(actual[i]! - y);
    error = Math.max(error, difference);
    const allowed = rounding + 6e-6 * Math.abs(y) + 5e-7 * largest;
    shareOfAllowed = Math.max(shareOfAllowed, difference / allowed);
  }
  return { error: error / largest, shareOfAllowed };
}

// Medians of windows of many calls: one call is shorter than what the clock and the queue cost.
async function time(call: () => Tensor, device: Device): Promise<number> {
  const [windows, calls] = [9, 200];
  const wait = async () => {
    if (device !== "cpu") await CudaStream.default(device).synchronize();
  };
  const perCall: number[] = [];
  for (let window = 0; window <= windows; window++) {
    await wait();
    const start = performance.now();
    for (let i = 0; i < calls; i++) call();
    await wait();
    if (window > 0) perCall.push(((performance.now() - start) / calls) * 1e3); // the first warms up
  }
  return perCall.sort((a, b) => a - b)[windows >> 1]!;
}
