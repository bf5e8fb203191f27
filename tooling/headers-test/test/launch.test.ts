import { empty, randn, type Tensor } from "@warpwright/runtime";
import { handleOf, streamFor } from "@warpwright/runtime/kernel";
import { valuesOf } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { expect, test } from "vitest";
import { native } from "../src/native.js";

const device = "cuda:0";

describeCuda("launch", () => {
  function reverse(size: number, threads: number): Tensor {
    const x = randn([size], { seed: 1, device });
    const out = empty([size], { device });
    native.reverse(
      handleOf(x),
      handleOf(out),
      streamFor("test", device),
      Float64Array.of(size, threads, 0, 0),
    );
    expect(valuesOf(out)).toEqual(valuesOf(x).reverse());
    return out;
  }

  // Up to, just beyond and far beyond 48 KiB with the kernel's 4 KiB of static shared memory.
  const sizes = [1, 1000, 12_288, 12_289, 13_312, 13_313, 50_000];
  test.each(sizes)("shared memory of %i floats", (size) => {
    reverse(size, 256);
    reverse(size, 32);
  });

  test("XC-05: a bad launch is refused by its own call, and the next one works", () => {
    const failures = [() => reverse(100, 2048), () => reverse(100_000, 256), () => reverse(100, 0)];
    for (const failure of failures) {
      expect(failure).toThrow(
        expect.objectContaining({
          name: "CudaError",
          code: expect.stringMatching(/^cudaErrorInvalid/),
        }),
      );
      reverse(100, 32);
    }
  });
});
