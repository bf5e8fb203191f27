// The binding, called past TypeScript's checks: whatever it is given, it refuses, reads nothing
// outside a tensor, and works at the next good call.
import { ones, type Tensor, zeros } from "@warpwright/runtime";
import { dtypeCode, type Handle, handleOf, packRows, streamFor } from "@warpwright/runtime/kernel";
import { testDevices } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { native as load, type Native } from "../src/native.js";
import { dtypes } from "./support.js";

const native = load();
type Arguments = Parameters<Native["rmsnormFwd"]>;

describe.each(testDevices())("forged calls on %s", (device) => {
  const x = ones([4, 16], { device });
  const out = zeros([4, 16], { device });
  const weight = ones([16], { device });
  const rstd = zeros([4], { device });
  const disposed = ones([4, 16], { device });
  const staleHandle = handleOf(disposed);
  disposed.dispose();
  const short = handleOf(ones([4, 15], { device }));

  const good = (): Arguments => [
    handleOf(x),
    null,
    handleOf(weight),
    handleOf(out),
    null,
    handleOf(rstd),
    streamFor("test", x.device),
    Float64Array.from(packRows([x, null, out, null], [weight, rstd])!),
    0,
    0,
    1e-6,
    0,
    0,
  ];
  const geometryWith = (index: number, value: number): Float64Array => {
    const geometry = good()[7];
    geometry[index] = value;
    return geometry;
  };

  const forgeries: [string, number, unknown][] = [];
  const nonsense = [undefined, null, 1, "x", {}, [], () => 1, Symbol("x"), 1n, new Uint8Array(8)];
  for (const value of nonsense) {
    forgeries.push([`x is ${String(value)}`, 0, value], [`out is ${String(value)}`, 3, value]);
    forgeries.push([`the geometry is ${String(value)}`, 7, value]);
    if (value !== undefined && value !== null)
      forgeries.push([`weight is ${String(value)}`, 2, value]);
    for (const scalar of [8, 9, 10, 11, 12]) {
      if (typeof value !== "number")
        forgeries.push([`argument ${scalar} is ${String(value)}`, scalar, value]);
    }
  }
  forgeries.push(
    ["a Tensor in place of its handle", 0, x],
    ["a copy of a handle", 0, { ...handleOf(x) }],
    ["an object that inherits from a handle", 0, Object.create(handleOf(x))],
    ["a proxy of a handle", 0, new Proxy(handleOf(x), {})],
    ["a stale handle", 0, staleHandle],
    ["a stale weight", 2, staleHandle],
    ["a shorter x", 0, short],
    ["a shorter out", 3, short],
    ["a residual without its sum", 1, handleOf(x)],
    ["a sum without its residual", 4, handleOf(out)],
    ["a geometry that is too short", 7, good()[7].slice(0, 10)],
    ["an empty geometry", 7, new Float64Array(0)],
    ["a geometry of another kind", 7, new Float32Array(32)],
    ["an unknown dtype", 8, 3],
    ["a negative dtype", 8, -1],
    ["a NaN dtype", 8, Number.NaN],
    ["a wider dtype for the weight", 9, 7],
    ["an unknown casting", 12, 2],
  );
  const counts = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 52, 2 ** 53, 1e300];
  for (let index = 0; index < good()[7].length; index++) {
    for (const count of counts) {
      // Strides of the residual, which is left out, and of dimensions of one row are never used.
      const unused = [5, 6, 8, 9, 10, 11, 13, 14, 16, 17, 18, 19].includes(index);
      if (unused && Number.isSafeInteger(count) && count >= 0) continue;
      forgeries.push([`geometry[${index}] is ${count}`, 7, geometryWith(index, count)]);
    }
  }

  test.each(forgeries)("%s", (_, index, value) => {
    const args: unknown[] = good();
    args[index] = value;
    expect(() => native.rmsnormFwd(...(args as Arguments))).toThrow(
      expect.objectContaining({
        code: expect.stringMatching(/^ERR_/),
        message: expect.stringMatching(/^rmsnorm: /),
      }),
    );
    native.rmsnormFwd(...good());
    expect(out.dataSync()[0]).toBeCloseTo(1, 5);
  });

  test.each(dtypes.flatMap((dtype) => dtypes.map((weightDtype) => [dtype, weightDtype] as const)))(
    "rows of %s, and a weight of %s at the end of its memory",
    (dtype, weightDtype) => {
      const rows = ones([4, 16], { dtype, device });
      const result = zeros([4, 16], { dtype, device });
      const last = ones([24], { dtype: weightDtype, device }).narrow(0, 8, 16);
      const call = (given: Tensor | null) => {
        const args = good();
        [args[0], args[2], args[3]] = [handleOf(rows), given && handleOf(given), handleOf(result)];
        args[7] = packRows([rows, null, result, null], [given, rstd])!;
        [args[8], args[9]] = [dtypeCode(dtype), dtypeCode(weightDtype)];
        native.rmsnormFwd(...args);
      };
      if (weightDtype === dtype || weightDtype === "float32") {
        call(last);
      } else {
        expect(() => call(last)).toThrow(
          expect.objectContaining({
            code: "ERR_VALUE",
            message: "rmsnorm: expected weightDtype to be dtype or float32",
          }),
        );
        expect(new Set(result.dataSync())).toEqual(new Set([0]));
        call(null);
      }
      expect(result.dataSync()[63]).toBeCloseTo(1, 2);
    },
  );

  test("no arguments at all", () => {
    expect(() => (native.rmsnormFwd as () => void)()).toThrow(TypeError);
  });

  test("a stream of none, where there is a GPU", () => {
    const args = good();
    args[6] = (device === "cpu" ? null : ({} as Handle)) as never;
    if (device === "cpu") native.rmsnormFwd(...args);
    else expect(() => native.rmsnormFwd(...args)).toThrow(TypeError);
  });

  test("a tensor of another device", () => {
    if (device === "cpu") return;
    const args = good();
    args[2] = handleOf(ones([16]) as Tensor);
    expect(() => native.rmsnormFwd(...args)).toThrow(
      expect.objectContaining({ code: "ERR_DEVICE" }),
    );
  });
});
