// Element-wise kernels on rows, as both backends see them: out = op(x) and out = op(gate, up). The
// operation is a functor, and all that a package adds.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpwright/cuda_types.h"
#include "warpwright/dtype.h"
#include "warpwright/rows.h"

// Marks an operation's call operator, and what it calls: code for both backends, always inlined, so
// that the CPU's loops around it are vectorised.
#define WW_OP WW_HOST_DEVICE inline __attribute__((always_inline))

namespace ww {

struct ElementwiseRows {
  RowGrid grid;  // num_rows, shared by all Rows
  Rows x;        // (num_rows, row_size)
  Rows out;      // (num_rows, row_size)
  int64_t row_size;
  Dtype dtype;
};

struct GatedRows {
  RowGrid grid;  // num_rows, shared by all Rows
  Rows gate;     // (num_rows, row_size). Either it or up may be null: the other is then
  Rows up;       // (num_rows, row_size, 2), itself in front and the one that is null behind
  Rows out;      // (num_rows, row_size)
  int64_t row_size;
  Dtype dtype;
};

// op(x...) in float; or op(type_tag<T>{}, x...) for an operation that is no more accurate than the
// dtype T, which its result is rounded to, can show.
template <typename T, typename Op, typename... Xs>
WW_OP float apply(const Op& op, Xs... xs) {
  if constexpr (std::is_invocable_v<const Op&, type_tag<T>, Xs...>)
    return op(type_tag<T>{}, xs...);
  else
    return op(xs...);
}

// activation(gate) * up.
template <typename Activation>
struct Gated {
  Activation activation;

  template <typename T>
  WW_OP float operator()(type_tag<T>, float gate, float up) const {
    return apply<T>(activation, gate) * up;
  }
};

namespace detail {

// Operands of one operation: one tensor, two, or two that take turns in one.
enum class Operands { one, two, interleaved };

struct OperandRows {
  RowGrid grid;
  Rows inputs[2];
  Rows out;
  int64_t row_size;
  bool swapped;  // interleaved, the second operand before the first
};

inline OperandRows operands_of(const ElementwiseRows& rows) {
  return {rows.grid, {rows.x, {}}, rows.out, rows.row_size, false};
}

inline OperandRows operands_of(const GatedRows& rows) {
  const bool swapped = rows.gate.data == nullptr;
  if (swapped) return {rows.grid, {rows.up, {}}, rows.out, rows.row_size, swapped};
  return {rows.grid, {rows.gate, rows.up}, rows.out, rows.row_size, swapped};
}

inline bool is_interleaved(const GatedRows& rows) {
  return rows.gate.data == nullptr || rows.up.data == nullptr;
}

inline bool is_dense(const RowGrid& grid, const Rows& rows, int64_t row_size) {
  return grid.num_rows() == 1 ||
         (grid.sizes[0] == 1 && grid.sizes[1] == 1 && rows.strides[2] == row_size);
}

// The same elements as one long row, where all tensors are dense.
template <Operands kOperands>
OperandRows flattened(OperandRows rows) {
  const auto dense = [&](const Rows& each, int64_t size) {
    return is_dense(rows.grid, each, size);
  };
  const int64_t size = rows.row_size;
  if (dense(rows.out, size) &&
      dense(rows.inputs[0], kOperands == Operands::interleaved ? 2 * size : size) &&
      (kOperands != Operands::two || dense(rows.inputs[1], size))) {
    rows.row_size *= rows.grid.num_rows();
    rows.grid = {{1, 1, 1}};
  }
  return rows;
}

}  // namespace detail
}  // namespace ww
