// Sizes, options and layouts of memory in random combinations.
import { type Device, randn, type Tensor, tensor } from "@warpwright/runtime";
import {
  expectClose,
  floatDTypes,
  inputLayouts,
  poisoned,
  testDevices,
  valuesOf,
} from "@warpwright/testing";
import { describe, test } from "vitest";
import { Draw, seeds } from "../../../tooling/vitest/draw.js";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { type RotationOptions, ropeQK } from "../src/index.js";
import { expectRopeQK } from "./support.js";

const headDims = [1, 2, 3, 7, 8, 20, 31, 32, 48, 80, 96, 128, 255, 256];
// Around the ends of int32 and of what a number holds, where sums could wrap to a row.
const far = [-1, 2 ** 31 - 1, -(2 ** 31), 2 ** 32, 2 ** 53 - 1, -(2 ** 53) + 1];

interface Sizes {
  batch: number;
  seqlen: number;
  headDim: number;
  rows: number;
}

function drawPositions(draw: Draw, { batch, seqlen, rows }: Sizes, isFlat: boolean, on: Device) {
  const shape = isFlat ? [seqlen] : [batch, seqlen];
  const dtype = draw.of(["int32", "int64"] as const);
  const outside = dtype === "int64" ? far : far.slice(0, 3);
  const values = Array.from({ length: isFlat ? seqlen : batch * seqlen }, () =>
    draw.oneIn(4) ? draw.of([...outside, rows]) : draw.below(rows),
  );
  // Every second one, so that they have a stride.
  const pairs = values.flatMap((value) => [BigInt(value), 0n]);
  const data = BigInt64Array.from(pairs);
  return tensor(data, { shape: [...shape, 2], device: on })
    .to(dtype)
    .select(-1, 0);
}

function drawCuSeqlens(draw: Draw, { seqlen }: Sizes, device: Device): Tensor {
  const starts = Array.from({ length: 1 + draw.below(5) }, () => draw.below(seqlen + 1));
  const data = [0, ...starts.sort((a, b) => a - b)];
  return tensor(data, { dtype: draw.of(["int32", "int64"]), device });
}

function drawOptions(draw: Draw, sizes: Sizes, device: Device): RotationOptions {
  const { headDim, seqlen, rows } = sizes;
  const layout = draw.of(["bshd", "bhsd", "thd"] as const);
  const rotaryDim = draw.oneIn(2) ? headDim - (headDim % 2) : 2 * draw.below((headDim >> 1) + 1);
  const shared = {
    ...{ layout, rotaryDim, rotaryOffset: draw.below(headDim - rotaryDim + 1) },
    ...{ interleaved: draw.oneIn(2), inverse: draw.oneIn(3) },
  };
  if (draw.oneIn(3)) return { ...shared, offset: draw.below(rows - seqlen + 1) };
  const offset = draw.of([0, 0, 1, -1, rows, 2 ** 31]);
  if (layout === "thd" && draw.oneIn(2)) {
    return { ...shared, offset, cuSeqlens: drawCuSeqlens(draw, sizes, device) };
  }
  const isFlat = layout === "thd" || draw.oneIn(2);
  return { ...shared, offset, positions: drawPositions(draw, sizes, isFlat, device) };
}

describe.each(testDevices())("random calls on %s", (device) => {
  test.each(seeds(isEmulated ? 24 : 200))("draw %i", (seed) => {
    const draw = new Draw(seed);
    const seqlen = draw.of([0, 1, 2, 7, 17, 33]);
    const sizes: Sizes = {
      ...{ batch: draw.below(4), seqlen, headDim: draw.of(headDims) },
      rows: seqlen + 1 + draw.below(20),
    };
    const options = drawOptions(draw, sizes, device);
    const dtype = draw.of(floatDTypes);
    const make = (shape: readonly number[], of = dtype): Tensor =>
      draw.of(inputLayouts).make(randn(shape, { seed, dtype: of, device }));
    const width = options.rotaryDim! / 2 + draw.below(3);
    const tableDType = draw.of(floatDTypes);
    const [cos, sin] = [0, 1].map(() => make([sizes.rows, width], tableDType));
    const [q, k] = [0, 1].map(() => {
      const { batch, headDim } = sizes;
      const heads = draw.below(6);
      if (options.layout === "thd") return make([seqlen, heads, headDim]);
      return make(
        options.layout === "bshd"
          ? [batch, seqlen, heads, headDim]
          : [batch, heads, seqlen, headDim],
      );
    });
    const rotated = expectRopeQK(q!, k!, cos!, sin!, options);

    const place = draw.of(inputLayouts);
    const qOut = place.make(poisoned(q!.shape, { dtype, device }));
    ropeQK(q!, k!, cos!, sin!, { ...options, qOut, kOut: k! });
    expectClose(qOut, valuesOf(rotated.q), { atol: 0 });
    expectClose(k!, valuesOf(rotated.k), { atol: 0 });
  });
});
