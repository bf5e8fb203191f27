// Every conversion of dtype.h on all 65,536 patterns of each 16-bit type, and on what lies between
// them, against arithmetic in float64.
import { type Device, empty, type Tensor, tensor } from "@warpwright/runtime";
import { dtypeCode, handleOf, streamFor } from "@warpwright/runtime/kernel";
import { type FloatDType, fromBits, roundTo, testDevices, toBits } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { native } from "../src/native.js";

// In the order of the C++ enum.
const conversions = [
  ["float16 to float", "float16", "float32"],
  ["bfloat16 to float", "bfloat16", "float32"],
  ["float to float16", "float32", "float16"],
  ["float to bfloat16", "float32", "bfloat16"],
  ["float16 to bfloat16", "float16", "bfloat16"],
  ["bfloat16 to float16", "bfloat16", "float16"],
  ["a pair of float16 to floats", "float16", "float32"],
  ["a pair of bfloat16 to floats", "bfloat16", "float32"],
  ["floats to a pair of float16", "float32", "float16"],
  ["floats to a pair of bfloat16", "float32", "bfloat16"],
] as const;

const patterns = Uint16Array.from({ length: 65536 }, (_, bits) => bits);

/** Every number of the dtype, the midpoint to the next, and the floats on either side of it. */
function aroundEveryNumber(dtype: FloatDType): Float32Array {
  const values: number[] = [];
  const bits = new DataView(new ArrayBuffer(4));
  const neighbour = (value: number, step: number) => {
    bits.setFloat32(0, value);
    bits.setUint32(0, bits.getUint32(0) + step);
    return bits.getFloat32(0);
  };
  for (let pattern = 0; pattern < 0x8000; pattern++) {
    const [value, next] = [fromBits(dtype, pattern), fromBits(dtype, pattern + 1)];
    if (!Number.isFinite(value)) continue;
    const above = Number.isFinite(next) ? next : 2 * value - fromBits(dtype, pattern - 1);
    const middle = Math.fround((value + above) / 2);
    const near = middle === 0 ? [0] : [neighbour(middle, -1), middle, neighbour(middle, 1)];
    for (const positive of [value, ...near]) values.push(positive, -positive);
  }
  const special = [Number.NaN, Number.POSITIVE_INFINITY, 3.4e38, 65519.996, 65520, 1e-45, 1.2e-38];
  for (const value of special) values.push(value, -value);
  return Float32Array.from(values);
}

function inputFor(from: FloatDType, to: FloatDType, device: Device): Tensor {
  return from === "float32"
    ? tensor(aroundEveryNumber(to), { device })
    : tensor(patterns, { dtype: from, device });
}

describe.each(testDevices())("conversions on %s", (device) => {
  test.each(conversions.map((c, i) => [...c, i] as const))("%s", async (_, from, to, index) => {
    const src = inputFor(from, to, device);
    const dst = empty(src.shape, { dtype: to, device });
    native.convert(
      handleOf(src),
      handleOf(dst),
      streamFor("convert", src.device),
      Float64Array.of(src.size / 2, 0, 0),
      index,
      dtypeCode(from),
      dtypeCode(to),
    );
    const values = await src.data();
    const bytes = await dst.bytes();
    const found = to === "float32" ? new Uint32Array(bytes.buffer) : new Uint16Array(bytes.buffer);
    const wrong: string[] = [];
    for (let i = 0; i < found.length; i++) {
      const value = values[i] as number;
      // A NaN widens with its payload and sign; narrowing makes it the canonical one.
      const wanted = toBits(to, roundTo(to, value));
      const matches =
        Number.isNaN(value) && to === "float32"
          ? (found[i]! & 0x7fffffff) > 0x7f800000
          : found[i] === wanted;
      if (!matches)
        wrong.push(`${value}: got ${found[i]!.toString(16)}, not ${wanted.toString(16)}`);
    }
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(found.length).toBeGreaterThanOrEqual(65536);
  });
});
