import { ones, zeros } from "@warpwright/runtime";
import { type Handle, handleOf, packRows, streamFor } from "@warpwright/runtime/kernel";
import { testDevices } from "@warpwright/testing";
import { describe, expect, test } from "vitest";

/** A native function, called past TypeScript's checks. */
export interface NativeCall {
  /** Begins its messages. */
  op: string;
  call: (...args: never[]) => void;
  /** 1 for out = op(x), 2 for out = op(gate, up). */
  operands: 1 | 2;
  /** Good values of the kernel's own arguments, which are last. */
  scalars: readonly number[];
}

const nonsense = [undefined, null, 1, "x", {}, [], () => 1, Symbol("x"), 1n, new Uint8Array(8)];
const counts = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 52, 2 ** 53, 1e300];

function put<L extends { [index: number]: unknown }>(list: L, index: number, value: unknown): L {
  list[index] = value;
  return list;
}

/** Whatever the call is given, it refuses, and works at the next good one. */
export function testForged({ op, call, operands, scalars }: NativeCall): void {
  const run = call as unknown as (...args: unknown[]) => void;
  describe.each(testDevices())("forged calls on %s", (device) => {
    const inputs = Array.from({ length: operands }, () => ones([4, 16], { device }));
    const out = zeros([4, 16], { device });
    const disposed = ones([4, 16], { device });
    const staleHandle = handleOf(disposed);
    disposed.dispose();
    const short = handleOf(ones([4, 15], { device }));
    const geometry = Float64Array.from(packRows([out, ...inputs], [])!);
    const outAt = operands;
    const geometryAt = operands + 2;
    const good = (): unknown[] => [
      ...inputs.map(handleOf),
      handleOf(out),
      streamFor("test", out.device),
      Float64Array.from(geometry),
      0,
      ...scalars,
    ];

    const forgeries: [string, number, unknown][] = [];
    for (const value of nonsense) {
      forgeries.push([`out is ${String(value)}`, outAt, value]);
      forgeries.push([`the geometry is ${String(value)}`, geometryAt, value]);
      const optional = operands === 2 && (value === undefined || value === null);
      if (!optional) forgeries.push([`the input is ${String(value)}`, 0, value]);
      for (let at = geometryAt + 1; at <= geometryAt + 1 + scalars.length; at++) {
        if (typeof value !== "number")
          forgeries.push([`argument ${at} is ${String(value)}`, at, value]);
      }
    }
    forgeries.push(
      ["a Tensor in place of its handle", 0, inputs[0]],
      ["a copy of a handle", 0, { ...handleOf(inputs[0]!) }],
      ["an object that inherits from a handle", 0, Object.create(handleOf(inputs[0]!))],
      ["a proxy of a handle", 0, new Proxy(handleOf(inputs[0]!), {})],
      ["a stale handle", 0, staleHandle],
      ["a stale out", outAt, staleHandle],
      ["a shorter input", 0, short],
      ["a shorter out", outAt, short],
      ["a geometry that is too short", geometryAt, geometry.slice(0, 10)],
      ["an empty geometry", geometryAt, new Float64Array(0)],
      ["a geometry of another kind", geometryAt, new Float32Array(32)],
      ["an unknown dtype", geometryAt + 1, 3],
      ["a negative dtype", geometryAt + 1, -1],
      ["a NaN dtype", geometryAt + 1, Number.NaN],
    );
    for (let index = 0; index < geometry.length; index++) {
      // Of the four values of a tensor the second and the third are strides of one row.
      const unused = index >= 4 && [1, 2].includes((index - 4) % 4);
      for (const count of counts) {
        if (unused && Number.isSafeInteger(count) && count >= 0) continue;
        forgeries.push([
          `geometry[${index}] is ${count}`,
          geometryAt,
          put(geometry.slice(), index, count),
        ]);
      }
    }

    test.each(forgeries)("%s", (_, index, value) => {
      const args = put(good(), index, value);
      expect(() => run(...args)).toThrow(
        expect.objectContaining({
          code: expect.stringMatching(/^ERR_/),
          message: expect.stringMatching(new RegExp(`^${op}: `)),
        }),
      );
      out.fill(Number.NaN);
      run(...good());
      expect(out.dataSync().some(Number.isNaN)).toBe(false);
    });

    test("no arguments at all", () => {
      expect(() => run()).toThrow(TypeError);
    });

    if (operands === 2) {
      test("neither gate nor up; and one of them, which would be twice as wide", () => {
        expect(() => run(null, null, ...good().slice(2))).toThrow(`${op}: expected gate or up`);
        for (const left of [0, 1]) {
          expect(() => run(...put(good(), left, null))).toThrow("reaches outside its memory");
        }
      });
    }

    test.skipIf(device === "cpu")("no stream, and a tensor of the CPU", () => {
      expect(() => run(...put(good(), outAt + 1, {} as Handle))).toThrow(TypeError);
      const foreign = put(good(), outAt, handleOf(zeros([4, 16])));
      expect(() => run(...foreign)).toThrow(expect.objectContaining({ code: "ERR_DEVICE" }));
    });
  });
}
