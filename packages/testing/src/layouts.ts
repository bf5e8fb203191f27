import { type Tensor, tidy } from "@warpwright/runtime";

import { checkInteger, shapeError, valueError } from "./errors.js";
import { poisoned } from "./poison.js";

// Every maker returns a view with the values of x inside a larger tensor whose other elements are
// poison, so that a kernel that reads beside its input gives NaN.

/**
 * The values of x, contiguous, `elements` elements after a boundary of at least 64 bytes: what a
 * parameter in the middle of a packed buffer looks like.
 *
 * @param elements at least 0. Default 1
 * @throws RangeError ERR_VALUE
 * @example
 * import { randn } from "@warpwright/runtime";
 * import { misaligned } from "@warpwright/testing";
 *
 * const x = misaligned(randn([4, 96], { dtype: "float16", seed: 1 }), 3); // 6 bytes off
 */
export function misaligned(x: Tensor, elements = 1): Tensor {
  checkInteger("elements", elements);
  return within(x, [elements + x.size], (buffer) =>
    buffer.narrow(0, elements, x.size).view(x.shape),
  );
}

/**
 * The values of x with rows, the last dimension's runs, further apart than they are long.
 *
 * @param gap elements between a row's end and the next one's start, at least 0. Default 1
 * @throws RangeError ERR_VALUE, or ERR_SHAPE for a scalar
 * @example
 * import { randn } from "@warpwright/runtime";
 * import { stridedRows } from "@warpwright/testing";
 *
 * const x = stridedRows(randn([4, 96], { seed: 1 }), 8);
 * console.log(x.strides); // [104, 1]
 */
export function stridedRows(x: Tensor, gap = 1): Tensor {
  checkInteger("gap", gap);
  const rowLength = checkRows("stridedRows", x);
  const shape = [...x.shape.slice(0, -1), rowLength + gap];
  return within(x, shape, (buffer) => buffer.narrow(-1, 0, rowLength));
}

/**
 * The values of x with the last two dimensions swapped in memory: the last one's stride is not 1.
 *
 * @throws RangeError ERR_SHAPE for fewer than two dimensions
 * @example
 * import { randn } from "@warpwright/runtime";
 * import { transposedLast } from "@warpwright/testing";
 *
 * const x = transposedLast(randn([4, 96], { seed: 1 }));
 * console.log(x.shape, x.strides); // [4, 96] [1, 4]
 */
export function transposedLast(x: Tensor): Tensor {
  if (x.shape.length < 2) throw shapeError(`transposedLast: expected two dimensions or more`);
  const shape = [...x.shape.slice(0, -2), x.shape.at(-1)!, x.shape.at(-2)!];
  return within(x, shape, (buffer) => buffer.transpose(-1, -2));
}

/**
 * The values of x as one of several equal parts of a wider last dimension: `chunk` of a fused QKV.
 *
 * @param parts how many. Default 3
 * @param part which of them x is, from 0. Default 1
 * @throws RangeError ERR_VALUE, or ERR_SHAPE for a scalar
 * @example
 * import { randn } from "@warpwright/runtime";
 * import { fusedSlice } from "@warpwright/testing";
 *
 * const k = fusedSlice(randn([4, 96], { seed: 1 }), 3, 1);
 * console.log(k.strides); // [288, 1]
 */
export function fusedSlice(x: Tensor, parts = 3, part = 1): Tensor {
  checkInteger("parts", parts, 1);
  checkInteger("part", part);
  if (part >= parts) throw valueError(`expected part below ${parts}, got ${part}`);
  const rowLength = checkRows("fusedSlice", x);
  const shape = [...x.shape.slice(0, -1), parts * rowLength];
  return within(x, shape, (buffer) => buffer.narrow(-1, part * rowLength, rowLength));
}

/**
 * `count` copies of x that share its memory: a new first dimension with a stride of 0. For inputs
 * only; `.contiguous()` of it is what a kernel's result compares with.
 *
 * @param count at least 0
 * @throws RangeError ERR_VALUE
 * @example
 * import { randn } from "@warpwright/runtime";
 * import { expanded } from "@warpwright/testing";
 *
 * const x = expanded(randn([96], { seed: 1 }), 5);
 * console.log(x.shape, x.strides); // [5, 96] [0, 1]
 */
export function expanded(x: Tensor, count: number): Tensor {
  checkInteger("count", count);
  return tidy(() =>
    x
      .clone()
      .unsqueeze(0)
      .expand([count, ...x.shape]),
  );
}

/** A way to lay out an input of two or more dimensions. */
export interface InputLayout {
  name: string;
  /** A tensor with x's values, shape, dtype and device in this layout. */
  make(x: Tensor): Tensor;
}

/**
 * The layouts an input may have, for `test.each`: every one gives a kernel the same values, and so
 * has to give the same result.
 *
 * @example
 * import { randn } from "@warpwright/runtime";
 * import { expectClose, inputLayouts, valuesOf } from "@warpwright/testing";
 *
 * const x = randn([6, 40], { dtype: "bfloat16", seed: 1 });
 * for (const { make } of inputLayouts) expectClose(make(x), valuesOf(x), { atol: 0 });
 */
export const inputLayouts: readonly InputLayout[] = [
  { name: "contiguous", make: (x) => x.clone() },
  { name: "misaligned by 1 element", make: (x) => misaligned(x, 1) },
  { name: "misaligned by 3 elements", make: (x) => misaligned(x, 3) },
  { name: "rows 1 element apart", make: (x) => stridedRows(x, 1) },
  { name: "rows 8 elements apart", make: (x) => stridedRows(x, 8) },
  { name: "middle third of a fused tensor", make: (x) => fusedSlice(x, 3, 1) },
  { name: "transposed last dimensions", make: transposedLast },
];

/** A view, made by `view`, of a poisoned tensor of `shape`; x's values are copied into it. */
function within(x: Tensor, shape: readonly number[], view: (buffer: Tensor) => Tensor): Tensor {
  return tidy(() => view(poisoned(shape, { dtype: x.dtype, device: x.device })).copyFrom(x));
}

function checkRows(name: string, x: Tensor): number {
  const rowLength = x.shape.at(-1);
  if (rowLength !== undefined) return rowLength;
  throw shapeError(`${name}: expected one dimension or more, got a scalar`);
}
