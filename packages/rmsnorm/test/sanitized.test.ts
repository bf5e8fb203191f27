// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { empty, randn, type Tensor, tensor, zeros } from "@warpwright/runtime";
import { expectClose, floatDTypes, misaligned, stridedRows } from "@warpwright/testing";
import {
  describeCuda,
  randomParameter,
  rowLengths,
  rowMappings,
  vectorSize,
} from "@warpwright/testing/vitest";
import { test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { rmsnorm } from "../src/index.js";
import { expectAddRmsnorm, expectRmsnorm } from "./support.js";

const device = "cuda:0";

/** Whether the emulator takes rows of so many vectors in one way alone; shorter ones take all. */
function isLong(count: number): boolean {
  return isEmulated && count > 9000;
}

function disposeAll(tensors: readonly Tensor[]): void {
  for (const tensor of tensors) tensor.dispose();
}

describeCuda("rmsnorm under compute-sanitizer", () => {
  test.each(floatDTypes.flatMap((dtype) => rowLengths.map((count) => [dtype, count] as const)))(
    "%s, rows of %i vectors",
    (dtype, count) => {
      const place = { dtype, device } as const;
      const once = isLong(count);
      // The second has a tail, and an odd row pitch.
      const whole = count * vectorSize(dtype);
      for (const hiddenSize of once ? [whole - 1] : [whole, whole - 1]) {
        const rows = once ? 1 : count > 4096 ? 2 : 5;
        const x = randn([rows, hiddenSize], { seed: count, ...place });
        const residual = misaligned(randn(x.shape, { seed: 1, ...place }), 1);
        const weight = randomParameter([hiddenSize], place);
        const rstd = empty([rows], { device });
        const sum = expectAddRmsnorm(x, residual, weight, { casting: "llama" });
        const norm = expectRmsnorm(x, weight, { rstd });
        disposeAll([x, residual, weight, rstd, norm, ...Object.values(sum)]);
      }
    },
  );

  const shared = floatDTypes.flatMap((dtype) =>
    rowMappings.map(([name, count]) => [dtype, name, count] as const),
  );

  test.each(shared)("%s, a row to %s: no weight, a float32 weight", (dtype, _, count) => {
    const hiddenSize = count * vectorSize(dtype);
    const x = randn([2, hiddenSize], { seed: 1, dtype, device });
    const weight = randomParameter([hiddenSize], { dtype: "float32", device });
    const offset = misaligned(weight, 1);
    const norms = [null, weight, offset].map((given) => expectRmsnorm(x, given));
    disposeAll([x, weight, offset, ...norms]);
  });

  test.each(shared)("%s, a row to %s: strided rows, in place", (dtype, _, count) => {
    const place = { dtype, device } as const;
    const hiddenSize = count * vectorSize(dtype);
    for (const gap of isLong(count) ? [vectorSize(dtype)] : [vectorSize(dtype), 1]) {
      const [x, residual] = [1, 2].map((seed) =>
        stridedRows(randn([2, hiddenSize], { seed, ...place }), gap),
      );
      const weight = randomParameter([hiddenSize], place);
      expectAddRmsnorm(x!, residual!, weight, { out: x!, residualOut: residual! });
      expectRmsnorm(residual!, weight, { out: residual! });
      disposeAll([x!, residual!, weight]);
    }
  });

  // Squares that overflow, and that fade: the row is summed again, scaled.
  test.each(shared.filter(([dtype]) => dtype !== "float16"))(
    "%s, a row to %s: values beyond float32's squares",
    (dtype, _, count) => {
      const hiddenSize = count * vectorSize(dtype);
      const signs = Float32Array.from({ length: 2 * hiddenSize }, (_, i) => (i % 3 ? 1 : -1));
      for (const magnitude of [1e25, 1e-25]) {
        const values = signs.map((sign) => sign * magnitude);
        const x = tensor(values, { shape: [2, hiddenSize], dtype, device });
        const rstd = zeros([2], { device });
        const out = rmsnorm(x, null, { eps: 0, rstd });
        expectClose(out, signs, { rtol: 6e-6 });
        disposeAll([x, rstd, out]);
      }
    },
  );

  test("RN-25: rows no block count divides, and a weight at the end of its allocation", () => {
    const place = { dtype: "bfloat16", device } as const;
    const weight = zeros([1537], place)
      .narrow(0, 1, 1536)
      .copyFrom(randomParameter([1536], place));
    disposeAll([expectRmsnorm(randn([13, 1536], { seed: 1, ...place }), weight)]);
  });
});
