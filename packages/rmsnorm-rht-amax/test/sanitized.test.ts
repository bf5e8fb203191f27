// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { empty, randn, tensor } from "@warpwright/runtime";
import { expectClose, floatDTypes, misaligned, stridedRows } from "@warpwright/testing";
import { describeCuda, randomParameter, rowLengths, vectorSize } from "@warpwright/testing/vitest";
import { test } from "vitest";
import { rmsnormRhtAmax } from "../src/index.js";
import { disposeAll, expectRmsnormRhtAmax } from "./support.js";

const device = "cuda:0";

// Of whole blocks of the transform, and shorter ones.
const vectors = [4, 60, ...rowLengths.filter((count) => count % 4 === 0)];

describeCuda("rmsnormRhtAmax under compute-sanitizer", () => {
  test.each(floatDTypes.flatMap((dtype) => vectors.map((count) => [dtype, count] as const)))(
    "%s, rows of %i vectors",
    (dtype, count) => {
      const place = { dtype, device } as const;
      const hiddenSize = count * vectorSize(dtype);
      const [rows, groups] = count > 4096 ? [2, 1] : [9, 3];
      const x = randn([rows, hiddenSize], { seed: count, ...place });
      const weight = randomParameter([hiddenSize], place);
      const amax = empty([groups], { device });
      const options = { rowsPerCta: rows / groups, signs: 0xd7e8, amax };
      const aligned = expectRmsnormRhtAmax(x, weight, options);
      const strided = stridedRows(x, 1);
      const inPlace = expectRmsnormRhtAmax(strided, weight, { out: strided, rowsPerCta: 1 });
      disposeAll([...aligned, ...inPlace, x, weight]);
    },
  );

  test.each(floatDTypes)("%s: a float32 weight, threads of every number", (dtype) => {
    const hiddenSize = 2048;
    const x = randn([4, hiddenSize], { seed: 1, dtype, device });
    const weight = randomParameter([hiddenSize], { dtype: "float32", device });
    for (const numThreads of [32, 64, 128, 256]) {
      disposeAll(expectRmsnormRhtAmax(x, weight, { numThreads, rowsPerCta: 4 }));
      disposeAll(expectRmsnormRhtAmax(x, misaligned(weight, 1), { numThreads, rowsPerCta: 2 }));
    }
    disposeAll([x, weight]);
  });

  // Squares that overflow: rows are summed again, scaled.
  test.each(
    (["float32", "bfloat16"] as const).flatMap((dtype) =>
      [60, 1000, 9000, 33_000].map((count) => [dtype, count] as const),
    ),
  )("%s, rows of %i vectors beyond float32's squares", (dtype, count) => {
    const hiddenSize = count * vectorSize(dtype);
    const values = new Float32Array(2 * hiddenSize).fill(1e25);
    const x = tensor(values, { shape: [2, hiddenSize], dtype, device });
    const weight = randomParameter([hiddenSize], { dtype, device }).fill(1);
    const { out, amax } = rmsnormRhtAmax(x, weight, { eps: 0 });
    expectClose(amax, [4], { rtol: 6e-6 });
    disposeAll([x, weight, out, amax]);
  });
});
