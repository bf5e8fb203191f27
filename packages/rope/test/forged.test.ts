// The binding, called past TypeScript's checks: whatever it is given, it refuses, reads nothing
// outside a tensor, and works at the next good call.
import { type Device, ones, type Tensor, tensor, zeros } from "@warpwright/runtime";
import { handleOf } from "@warpwright/runtime/kernel";
import { type Geometry, type NativeArgument, testForgedCalls } from "@warpwright/testing/vitest";
import { type Native, native } from "../src/native.js";

// Sizes of q and of k, then their tensors', the tables' and the index's offset and strides.
function geometryOf(q: Tensor, k: Tensor, table: Tensor, index: Tensor): Float64Array {
  const heads = (x: Tensor) => [
    ...x.shape.slice(0, 3),
    ...[0, ...x.strides.slice(0, 3)],
    ...[0, ...x.strides.slice(0, 3)],
  ];
  const row = [0, 0, 0, table.strides[0]!];
  return Float64Array.from([
    ...[8, 4, 2],
    ...[...heads(q), ...heads(k)],
    ...[table.shape[0]!, ...row, ...row],
    ...[0, 0, 0, ...index.strides],
  ]);
}

function good(device: Device): Record<string, NativeArgument> {
  const q = ones([2, 3, 4, 8], { device });
  const k = ones([2, 3, 2, 8], { device });
  const [cos, sin] = [ones([5, 2], { device }), zeros([5, 2], { device })];
  const index = tensor(
    [
      [0, 1, 2],
      [2, 3, 4],
    ],
    { dtype: "int32", device },
  );
  const values = geometryOf(q, k, cos, index);
  // The tables' strides along dimensions of one row, the number of sequences, and of the index the
  // stride of a dimension of one.
  const unused = [27, 28, 31, 32, 34, 36];
  return {
    q: { tensor: q },
    k: { tensor: k },
    out: { tensor: zeros(q.shape, { device }) },
    kOut: { tensor: zeros(k.shape, { device }) },
    cos: { tensor: cos },
    sin: { tensor: sin },
    index: { tensor: index },
    stream: { stream: device },
    geometry: { geometry: { values, unused } },
    dtype: { dtype: "float32" },
    tableDtype: { dtype: "float32" },
    indexKind: { integer: 1, below: 3 },
    indexIsWide: { integer: 0, below: 2 },
    offset: { number: 0 },
    interleaved: { integer: 0, below: 2 },
    inverse: { integer: 0, below: 2 },
  };
}

testForgedCalls({
  op: "rope",
  native: (...args: Parameters<Native["ropeFwd"]>) => native().ropeFwd(...args),
  good,
  more(device) {
    const x = ones([2, 3, 2, 8], { device });
    const { geometry } = good(device)["geometry"] as { geometry: Geometry };
    const changed = (index: number, value: number) => {
      const values = geometry.values.slice();
      values[index] = value;
      return values;
    };
    return [
      ["kOut without k", "k", null],
      ["k without kOut", "kOut", null],
      ["an index without its kind", "indexKind", 0],
      ["a kind without its index", "index", null],
      ["int32 read as int64", "indexIsWide", 1],
      ["an offset of 2^53", "offset", 2 ** 53],
      ["an offset that is no integer", "offset", 0.5],
      ["an offset of NaN", "offset", Number.NaN],
      ["another tensor for q", "q", handleOf(x)],
      ["an odd rotary dim", "geometry", changed(1, 3)],
      ["a rotary range beyond the head", "geometry", changed(2, 5)],
      ["k of another batch", "geometry", changed(14, 1)],
      ["k of another seqlen", "geometry", changed(15, 2)],
      ["a table with a row more", "geometry", changed(25, 6)],
      ["a head dim that ends outside", "geometry", changed(0, 9)],
    ];
  },
});
