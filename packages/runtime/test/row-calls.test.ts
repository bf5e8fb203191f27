// What row-wise kernels share: the checks of their tensors, and the way to the native function.
import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { arange, ones, type Tensor, zeros } from "../src/index.js";
import {
  checkFloat32,
  checkHiddenSize,
  checkLike,
  checkRowOutputs,
  checkRowParameter,
  checkRows,
  type RowTensors,
  runRows,
} from "../src/kernel/index.js";

const x = ones([2, 3, 8]);
const half = x.to("bfloat16");

/** Checks outputs of a call on x with a weight. */
function outputs(given: Record<string, unknown>, statistics: Record<string, unknown> = {}): void {
  checkRowOutputs("norm", {
    inputs: { x },
    parameters: { weight: weightOf },
    outputs: wrong(given),
    statistics: wrong(statistics),
  });
}
const weightOf = ones([8]);

test("what is right passes", () => {
  checkRows("norm", "x", half);
  checkRows("norm", "x", zeros([0]));
  checkHiddenSize("Norm.forward", "x", x, 8);
  checkLike("norm", "residual", x.clone(), x);
  checkRowParameter("norm", "weight", ones([8]), half);
  checkRowParameter("norm", "weight", ones([8], { dtype: "bfloat16" }), half);
  checkFloat32("norm", "eps", 0, 0);
  checkFloat32("norm", "offset", -3e38);
  outputs({ out: undefined, residualOut: x }, { mean: zeros([6]), rstd: zeros([2, 3]) });
});

const shared = zeros([6]);

const failures: Failure[] = [
  ["ERR_KIND norm: expected x to be a Tensor, got null", () => checkRows("norm", "x", wrong(null))],
  [
    "ERR_DTYPE norm: expected x of dtype float32, float16 or bfloat16, got int32",
    () => checkRows("norm", "x", x.to("int32")),
  ],
  [
    "ERR_SHAPE norm: expected x to have at least 1 dimension, got shape []",
    () => checkRows("norm", "x", ones([])),
  ],
  [
    "ERR_UNSUPPORTED norm: expected a hidden size of at most 1073741824, got 1073741825",
    () => checkRows("norm", "x", ones([1]).expand([2 ** 30 + 1])),
  ],
  [
    "ERR_SHAPE Norm.forward: expected x with a last dimension of 4, got shape [2, 3, 8]",
    () => checkHiddenSize("Norm.forward", "x", x, 4),
  ],
  [
    "ERR_DTYPE norm: expected residual of dtype float32, got bfloat16",
    () => checkLike("norm", "residual", half, x),
  ],
  [
    "ERR_SHAPE norm: expected residual of shape [2, 3, 8], got [6, 8]",
    () => checkLike("norm", "residual", x.view(6, 8), x),
  ],
  [
    "ERR_DTYPE norm: expected bias of dtype bfloat16 or float32, got float16",
    () => checkRowParameter("norm", "bias", ones([8], { dtype: "float16" }), half),
  ],
  [
    "ERR_DTYPE norm: expected bias of dtype float32, got float16",
    () => checkRowParameter("norm", "bias", ones([8], { dtype: "float16" }), x),
  ],
  [
    "ERR_SHAPE norm: expected bias of shape [8], got [2]",
    () => checkRowParameter("norm", "bias", ones([2]), x),
  ],
  [
    "ERR_KIND norm: expected eps to be a number, got a string",
    () => checkFloat32("norm", "eps", "1"),
  ],
  [
    "ERR_VALUE norm: expected eps to be a finite number of at least 0, got -1",
    () => checkFloat32("norm", "eps", -1, 0),
  ],
  [
    "ERR_VALUE norm: expected eps to be a finite float32 number of at least 0, got 1e+39",
    () => checkFloat32("norm", "eps", 1e39, 0),
  ],
  ["ERR_KIND norm: expected out to be a Tensor, got null", () => outputs({ out: null })],
  [
    "ERR_OVERLAP norm: expected out to have no stride of 0, got strides [0, 0, 1]",
    () => outputs({ out: ones([8]).expand([2, 3, 8]) }),
  ],
  [
    "ERR_OVERLAP norm: expected out to share no memory with residualOut, got views that overlap",
    () => outputs({ out: x, residualOut: x }),
  ],
  [
    "ERR_SHAPE norm: expected mean of shape [2, 3], got [5]",
    () => outputs({}, { mean: zeros([5]) }),
  ],
  [
    "ERR_OVERLAP norm: expected rstd to share no memory with mean, got views that overlap",
    () => outputs({}, { mean: shared, rstd: shared }),
  ],
  [
    "ERR_OVERLAP norm: expected rstd to share no memory with weight, got views that overlap",
    () => outputs({}, { rstd: weightOf.narrow(0, 0, 6) }),
  ],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
});

describe("runRows", () => {
  const call = (given: Partial<RowTensors>): RowTensors => ({
    ...{ inputs: {}, parameters: {}, outputs: {}, statistics: {} },
    ...given,
  });

  /** The calls of the native function that a row-wise call leads to, which writes ones. */
  function launches(tensors: RowTensors): number {
    let count = 0;
    runRows(tensors, null, ({ inputs, parameters, outputs, statistics }, geometry) => {
      count++;
      expect(geometry[0]).toBe(inputs["x"]!.shape.at(-1));
      for (const tensor of Object.values(parameters)) expect(tensor!.isContiguous()).toBe(true);
      for (const group of [outputs, statistics]) {
        for (const tensor of Object.values(group)) tensor?.fill(1);
      }
    });
    return count;
  }

  test("packs inputs, outputs, parameters and statistics in their order", () => {
    const out = zeros([7, 8]).narrow(0, 1, 6).view([2, 3, 8]);
    const tensors = call({ inputs: { x, residual: null }, outputs: { out } });
    runRows(
      { ...tensors, parameters: { weight: zeros([9]).narrow(0, 1, 8) } },
      null,
      (_, packed) => {
        expect([...packed]).toEqual([8, 1, 1, 6, 0, 0, 0, 8, 0, 0, 0, 0, 8, 0, 0, 8, 1]);
      },
    );
  });

  test("leads strided tensors through dense copies, and back", () => {
    const strided = (shape: number[]): Tensor => zeros([...shape, 2]).select(-1, 1);
    const out = strided([2, 3, 8]);
    const rstd = strided([6]);
    const weight = arange(0, 16, 2).view(8, 1).expand([8, 2]).select(1, 0);
    const tensors = call({
      inputs: { x: zeros([2, 8, 3]).transpose(1, 2) },
      parameters: { weight, bias: strided([8]) },
      outputs: { out, residualOut: null },
      statistics: { mean: null, rstd },
    });
    expect(launches(tensors)).toBe(1);
    for (const written of [out, rstd]) {
      expect(written.dataSync()).toEqual(new Float32Array(written.size).fill(1));
    }
  });

  test("launches nothing for rows of no elements, whose statistics are NaN", () => {
    const rstd = zeros([2]);
    const empty = zeros([2, 0]);
    const tensors = call({ inputs: { x: empty }, outputs: { out: empty }, statistics: { rstd } });
    expect(launches(tensors)).toBe(0);
    expect(rstd.dataSync()).toEqual(new Float32Array(2).fill(Number.NaN));
  });
});
