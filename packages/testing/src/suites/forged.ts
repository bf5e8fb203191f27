// The binding, called past TypeScript's checks.
import { type Device, ones, type Tensor } from "@warpwright/runtime";
import {
  dtypeCode,
  type Handle,
  handleOf,
  type Operand,
  packRows,
  streamFor,
} from "@warpwright/runtime/kernel";
import { describe, expect, test } from "vitest";

import { testDevices } from "../cuda.js";
import { valuesOf } from "../float64.js";

/** A good argument of a native function; a tensor that is null or `optional` may be left out. */
export type NativeArgument =
  | { tensor: Tensor | null; optional?: boolean }
  | { stream: Device }
  | { geometry: Geometry }
  | { dtype: Tensor["dtype"] }
  | { number: number }
  | { integer: number; below: number };

/** What a native function is told of its tensors' places, in elements. */
export interface Geometry {
  values: Float64Array;
  /** Indices of entries that are read, but for these tensors never used. */
  unused: readonly number[];
}

export interface ForgedCalls {
  /** Begins the binding's messages. */
  op: string;
  native: (...args: never[]) => void;
  /** Good arguments by name, in order, on a device. The tensors are used over and over. */
  good(device: Device): Readonly<Record<string, NativeArgument>>;
  /** The first element of `out` after a good call. Default 1. */
  first?: number;
  /** Further calls that have to be refused: what replaces which argument. */
  more?(device: Device): readonly (readonly [fault: string, name: string, value: unknown])[];
}

/**
 * The geometry of {@link packRows}, and which of its entries are never used: those of tensors that
 * are left out, and strides of dimensions of one row; such a dimension's size too, unless a dense
 * tensor has an element for each row.
 *
 * @example
 * import { ones } from "@warpwright/runtime";
 * import { rowGeometry } from "@warpwright/testing/vitest";
 *
 * const { values, unused } = rowGeometry([ones([4, 16]), null], []);
 * console.log(values.length, unused); // 12 [1, 2, 5, 6, 8, 9, 10, 11]
 */
export function rowGeometry(
  rows: readonly [Tensor, ...Operand[]],
  dense: readonly Operand[],
): Geometry {
  const values = Float64Array.from(packRows(rows, dense)!);
  const ones = [0, 1, 2].filter((dim) => values[1 + dim] === 1);
  const numRows = rows[0].size / rows[0].shape.at(-1)!;
  const perRow = dense.some((tensor) => tensor?.size === numRows);
  const unusedOf = (tensor: Operand, i: number) => {
    const offset = 4 * (i + 1);
    return tensor === null
      ? [0, 1, 2, 3].map((entry) => offset + entry)
      : ones.map((dim) => offset + 1 + dim);
  };
  const afterRows = 4 * (rows.length + 1);
  const absent = dense.flatMap((tensor, i) => (tensor === null ? [afterRows + i] : []));
  const sizes = perRow ? [] : ones.map((dim) => 1 + dim);
  return { values, unused: [...sizes, ...rows.flatMap(unusedOf), ...absent] };
}

/**
 * Tests that a native function refuses whatever it is given in place of each argument, reads
 * nothing outside a tensor, and works at the next good call.
 *
 * @example
 * import { createRequire } from "node:module";
 * import { pathToFileURL } from "node:url";
 * import { ones, zeros } from "@warpwright/runtime";
 * import { loadAddon } from "@warpwright/runtime/kernel";
 * import { rowGeometry, testForgedCalls } from "@warpwright/testing/vitest";
 *
 * const { resolve } = createRequire(import.meta.url);
 * const folder = pathToFileURL(resolve("@warpwright/rmsnorm/package.json"));
 * const native = loadAddon<{ rmsnormFwd(...args: never[]): void }>("rmsnorm", {
 *   "linux-x64": () => new URL("prebuilds/linux-x64/rmsnorm.node", folder),
 * });
 *
 * testForgedCalls({
 *   op: "rmsnorm",
 *   native: (...args) => native().rmsnormFwd(...args),
 *   good(device) {
 *     const x = ones([4, 16], { device });
 *     const out = zeros([4, 16], { device });
 *     return {
 *       x: { tensor: x },
 *       residual: { tensor: null },
 *       weight: { tensor: null },
 *       out: { tensor: out },
 *       residualOut: { tensor: null },
 *       rstd: { tensor: null },
 *       stream: { stream: device },
 *       geometry: { geometry: rowGeometry([x, null, out, null], [null, null]) },
 *       dtype: { dtype: "float32" },
 *       weightDtype: { dtype: "float32" },
 *       eps: { number: 1e-6 },
 *       weightOffset: { number: 0 },
 *       casting: { integer: 0, below: 2 },
 *     };
 *   },
 * });
 */
export function testForgedCalls(calls: ForgedCalls): void {
  describe.each(testDevices())("forged calls on %s", (device) => {
    const good = calls.good(device);
    const names = Object.keys(good);
    const native = calls.native as (...args: unknown[]) => void;
    const callWithout = (name: string, value: unknown) => {
      const args = names.map((each) => (each === name ? value : nativeValue(good[each]!)));
      return () => native(...args);
    };
    const works = () => {
      native(...names.map((name) => nativeValue(good[name]!)));
      const { out } = good as { out: { tensor: Tensor } };
      expect(valuesOf(out.tensor)[0]).toBeCloseTo(calls.first ?? 1, 5);
    };

    const forgeries = names.flatMap((name) => forgeriesOf(name, good[name]!, device));
    test.each([...forgeries, ...(calls.more?.(device) ?? [])])("%s", (_, name, value) => {
      expect(callWithout(name, value)).toThrow(
        expect.objectContaining({
          code: expect.stringMatching(/^ERR_/),
          message: expect.stringMatching(new RegExp(`^${calls.op}: `)),
        }),
      );
      works();
    });

    test("no arguments at all", () => {
      expect(() => native()).toThrow(TypeError);
      works();
    });

    test("a stream of none, where there is a GPU", () => {
      const call = callWithout("stream", device === "cpu" ? null : ({} as Handle));
      if (device === "cpu") call();
      else expect(call).toThrow(TypeError);
    });

    test("a tensor of another device", () => {
      if (device === "cpu") return;
      for (const name of names) {
        const argument = good[name]!;
        if (!("tensor" in argument) || argument.tensor === null) continue;
        const moved = handleOf(argument.tensor.to("cpu"));
        expect(callWithout(name, moved)).toThrow(expect.objectContaining({ code: "ERR_DEVICE" }));
      }
    });
  });
}

type Forgery = readonly [fault: string, name: string, value: unknown];

const nonsense = [undefined, null, 1, "x", {}, [], () => 1, Symbol("x"), 1n, new Uint8Array(8)];

function nativeValue(argument: NativeArgument): unknown {
  if ("tensor" in argument) return argument.tensor && handleOf(argument.tensor);
  if ("stream" in argument) return streamFor("test", argument.stream as "cpu");
  if ("geometry" in argument) return argument.geometry.values;
  if ("dtype" in argument) return dtypeCode(argument.dtype);
  return "number" in argument ? argument.number : argument.integer;
}

function forgeriesOf(name: string, argument: NativeArgument, device: Device): Forgery[] {
  if ("stream" in argument) return [];
  if ("tensor" in argument) return tensorForgeries(name, argument, device);
  if ("geometry" in argument) return geometryForgeries(name, argument.geometry);
  const noNumbers = nonsense.filter((value) => typeof value !== "number");
  const forgeries = nonsenseFor(name, noNumbers);
  if ("number" in argument) return forgeries;
  const wrong = "dtype" in argument ? [3, 7] : [argument.below];
  return [...forgeries, ...nonsenseFor(name, [...wrong, -1, 0.5, Number.NaN])];
}

function nonsenseFor(name: string, values: readonly unknown[]): Forgery[] {
  return values.map((value) => [`${name} is ${String(value)}`, name, value]);
}

function tensorForgeries(
  name: string,
  { tensor, optional = false }: Extract<NativeArgument, { tensor: unknown }>,
  device: Device,
): Forgery[] {
  const present = nonsense.filter((value) => value !== undefined && value !== null);
  const disposed = ones([4, 16], { device });
  const stale = handleOf(disposed);
  disposed.dispose();
  const forgeries: Forgery[] = [
    ...nonsenseFor(name, tensor === null || optional ? present : nonsense),
    [`${name} is a stale handle`, name, stale],
  ];
  if (tensor === null) return forgeries;
  const handle = handleOf(tensor);
  const short = ones([tensor.size - 1], { dtype: tensor.dtype, device });
  return [
    ...forgeries,
    [`${name} is a Tensor in place of its handle`, name, tensor],
    [`${name} is a copy of a handle`, name, { ...handle }],
    [`${name} is an object that inherits from a handle`, name, Object.create(handle)],
    [`${name} is a proxy of a handle`, name, new Proxy(handle, {})],
    [`${name} is shorter`, name, handleOf(short)],
  ];
}

const counts = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 52, 2 ** 53, 1e300];

function geometryForgeries(name: string, { values, unused }: Geometry): Forgery[] {
  const forgeries: Forgery[] = [
    ...nonsenseFor(name, nonsense),
    [`${name} lacks its end`, name, values.slice(0, -1)],
    [`${name} lacks its second half`, name, values.slice(0, values.length >> 1)],
    [`${name} is empty`, name, new Float64Array(0)],
    [`${name} is of another kind`, name, new Float32Array(32)],
  ];
  for (let index = 0; index < values.length; index++) {
    for (const count of counts) {
      // What is never used may be any count.
      if (unused.includes(index) && Number.isSafeInteger(count) && count >= 0) continue;
      forgeries.push([`${name}[${index}] is ${count}`, name, replaced(values, index, count)]);
    }
  }
  return forgeries;
}

function replaced(values: Float64Array, index: number, value: number): Float64Array {
  const copy = values.slice();
  copy[index] = value;
  return copy;
}
