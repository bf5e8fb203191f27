// How the bindings of element-wise kernels read their calls; runtime/kernel's elementwise and gated
// make them.
#pragma once

#include "warpwright/elementwise.h"
#include "warpwright/napi.h"

namespace ww {

// x, out, stream?, geometry, dtype. geometry: row size, three row-grid sizes; offset and three
// strides of out and x.
inline ElementwiseRows read_elementwise(Arguments& args) {
  const TensorArg x = args.tensor("x");
  const TensorArg out = args.tensor("out");
  args.stream();
  Geometry geometry = args.geometry();
  ElementwiseRows rows{};
  rows.dtype = args.float_dtype("dtype");
  rows.row_size = geometry.next();
  rows.grid = geometry.row_grid();
  rows.out = geometry.written_rows(out, rows.dtype, rows.grid, rows.row_size);
  rows.x = geometry.rows(x, rows.dtype, rows.grid, rows.row_size);
  return rows;
}

// gate?, up?, out, stream?, geometry, dtype. geometry: row size, three row-grid sizes; offset and
// three strides of out, gate and up. Where gate or up is left out, the other holds both in turns.
inline GatedRows read_gated(Arguments& args) {
  const TensorArg gate = args.optional_tensor("gate");
  const TensorArg up = args.optional_tensor("up");
  const TensorArg out = args.tensor("out");
  args.require_one(gate, up);
  args.stream();
  Geometry geometry = args.geometry();
  GatedRows rows{};
  rows.dtype = args.float_dtype("dtype");
  rows.row_size = geometry.next();
  rows.grid = geometry.row_grid();
  const bool interleaved = gate.handle == nullptr || up.handle == nullptr;
  const int64_t input_size = interleaved ? 2 * rows.row_size : rows.row_size;
  rows.out = geometry.written_rows(out, rows.dtype, rows.grid, rows.row_size);
  rows.gate = geometry.rows(gate, rows.dtype, rows.grid, input_size);
  rows.up = geometry.rows(up, rows.dtype, rows.grid, input_size);
  return rows;
}

}  // namespace ww
