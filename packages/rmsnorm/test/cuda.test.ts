// What only a GPU can show. The shapes of RN-01 to RN-03 have more than 2^31 elements; only their
// first and last rows hold data, which have to come out as they do alone.
import { CudaStream, randn, type Tensor, zeros } from "@warpwright/runtime";
import type { FloatDType } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { expect, test } from "vitest";
import { addRmsnorm, rmsnorm } from "../src/index.js";
import { bitsOf, dtypes, randomWeight } from "./support.js";

describeCuda("rmsnorm beyond 2^31 elements", () => {
  const device = "cuda:0";

  /** Zeros but for the first and the last row. */
  function farRows(rows: number, hiddenSize: number, dtype: FloatDType): Tensor {
    const x = zeros([rows, hiddenSize], { dtype, device });
    for (const row of [0, rows - 1]) {
      const values = randn([1, hiddenSize], { seed: row + 1, dtype, device });
      x.narrow(0, row, 1).copyFrom(values);
    }
    return x;
  }

  /** Every row between the first and the last is zero: its own rstd says so, and NaN would show. */
  async function expectZerosBetween(out: Tensor): Promise<void> {
    const rows = out.shape[0]!;
    const rstd = zeros([rows], { device });
    rmsnorm(out, null, { eps: 0.25, out, rstd }).dispose();
    const found = await rstd.data();
    expect(found.subarray(1, rows - 1).every((value) => value === 2)).toBe(true);
    rstd.dispose();
  }

  test.each([
    ["RN-01: just below", "float16", 131_072, 16_384],
    ["RN-01: short rows", "float16", 4_194_305, 512],
    ["RN-01: long rows", "float16", 175_000, 12_288],
    ["RN-02: rows of one warp", "bfloat16", 2 ** 23 + 16, 256],
    ["RN-03: the far-row case of 8.6 GB", "bfloat16", 1_048_641, 4096],
    ["rows of a cluster", "bfloat16", 40_000, 65_536],
    ["misaligned rows", "bfloat16", 600_001, 4095],
  ] as const)("%s: %s [%i, %i]", async (_, dtype, rows, hiddenSize) => {
    const weight = randomWeight(hiddenSize, { dtype, device });
    const x = farRows(rows, hiddenSize, dtype);
    const lastRow = x.narrow(0, rows - 1, 1).clone();
    const out = zeros(x.shape, { dtype, device }).fill(Number.NaN);
    rmsnorm(x, weight, { out });
    const alone = await bitsOf(rmsnorm(lastRow, weight));
    expect(await bitsOf(out.narrow(0, rows - 1, 1))).toBe(alone);
    await expectZerosBetween(out);
    out.dispose();

    rmsnorm(x, weight, { out: x });
    expect(await bitsOf(x.narrow(0, rows - 1, 1))).toBe(alone);
    await expectZerosBetween(x);
    x.dispose();
  });

  test("RN-03: fused add, in place", async () => {
    const [rows, hiddenSize] = [1_048_641, 4096];
    const x = farRows(rows, hiddenSize, "bfloat16");
    const residual = farRows(rows, hiddenSize, "bfloat16");
    const lastRow = x.narrow(0, rows - 1, 1).clone();
    const wanted = addRmsnorm(lastRow, lastRow);
    addRmsnorm(x, residual, null, { out: x, residualOut: residual });
    expect(await bitsOf(x.narrow(0, rows - 1, 1))).toBe(await bitsOf(wanted.out));
    expect(await bitsOf(residual.narrow(0, rows - 1, 1))).toBe(await bitsOf(wanted.residual));
    await expectZerosBetween(x);
    await expectZerosBetween(residual);
    for (const t of [x, residual]) t.dispose();
  });
});

describeCuda("rmsnorm on streams", () => {
  const device = "cuda:0";

  test.each(dtypes)("50 runs give the same bits, %s", async (dtype) => {
    for (const [rows, hiddenSize] of [
      [300, 769],
      [200, 4096],
      [64, 40_000],
      [8, 131_072],
    ] as const) {
      const x = randn([rows, hiddenSize], { seed: 1, dtype, device });
      const weight = randomWeight(hiddenSize, { dtype, device });
      const first = await bitsOf(rmsnorm(x, weight));
      for (let run = 0; run < 50; run++) {
        const out = zeros(x.shape, { dtype, device }).fill(Number.NaN);
        expect((await bitsOf(rmsnorm(x, weight, { out }))) === first).toBe(true);
        out.dispose();
      }
    }
  });

  test("a row's bits do not depend on how many rows there are", async () => {
    for (const hiddenSize of [100, 1000, 8192, 70_000]) {
      const x = randn([133, hiddenSize], { seed: 1, dtype: "bfloat16", device });
      const all = rmsnorm(x);
      for (const row of [0, 1, 132]) {
        const alone = rmsnorm(x.narrow(0, row, 1));
        expect(await bitsOf(alone)).toBe(await bitsOf(all.narrow(0, row, 1)));
      }
    }
  });

  test("a non-default stream, waited for by hand", async () => {
    const stream = new CudaStream({ device });
    const x = randn([4096, 4096], { seed: 1, dtype: "bfloat16", device });
    const wanted = await bitsOf(rmsnorm(x));
    const out = zeros(x.shape, { dtype: "bfloat16", device }).fill(Number.NaN);
    await CudaStream.default(device).synchronize();
    for (let run = 0; run < 20; run++) rmsnorm(x, null, { out, stream });
    const fresh = rmsnorm(x.transpose(0, 1), null, { stream });
    await stream.synchronize();
    expect(await bitsOf(out)).toBe(wanted);
    expect(await bitsOf(fresh)).toBe(await bitsOf(rmsnorm(x.transpose(0, 1))));
    stream.dispose();
    expect(() => rmsnorm(x, null, { stream })).toThrow("rmsnorm: stream has been disposed");
  });

  test("memory that another stream uses is freed after that use", async () => {
    const stream = new CudaStream({ device });
    const shape = [8192, 8192];
    const x = randn(shape, { seed: 1, dtype: "bfloat16", device });
    const scratch = zeros(shape, { dtype: "bfloat16", device });
    const wanted = await bitsOf(rmsnorm(x.narrow(0, 8192 - 64, 64)));
    for (let run = 0; run < 3; run++) {
      const input = x.clone();
      await CudaStream.default(device).synchronize();
      // Some ten milliseconds of work, behind which the norm of `input` waits while its memory is
      // given up here and, were it free already, overwritten by the next allocation of its size.
      for (let busy = 0; busy < 200; busy++) rmsnorm(x, null, { out: scratch, stream });
      const out = rmsnorm(input, null, { stream });
      input.dispose();
      zeros(shape, { dtype: "bfloat16", device }).dispose();
      await CudaStream.default(device).synchronize();
      await stream.synchronize();
      // The last rows are read last.
      expect(await bitsOf(out.narrow(0, 8192 - 64, 64))).toBe(wanted);
      out.dispose();
    }
    stream.dispose();
  });
});
