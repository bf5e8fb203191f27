// How a row-wise kernel sees tensors whose last dimension is dense: rows on a grid of up to three
// dimensions that all its tensors share, each tensor with its own strides.
#pragma once

#include <concepts>
#include <cstdint>

#include "warpwright/dtype.h"

namespace ww {

// A row's place on a grid.
struct RowIndex {
  int64_t outer;
  int64_t middle;
  int64_t inner;
  bool is_flat;  // outer and middle are 0 throughout, which saves their strides
};

struct RowGrid {
  int64_t sizes[3];  // outermost first; rows that collapse to one dimension are {1, 1, num_rows}

  WW_HOST_DEVICE int64_t num_rows() const { return sizes[0] * sizes[1] * sizes[2]; }

  WW_HOST_DEVICE RowIndex index(int64_t row) const {
    if (sizes[0] == 1 && sizes[1] == 1) return {0, 0, row, true};
    const int64_t outer = row / sizes[2];
    return {outer / sizes[1], outer % sizes[1], row % sizes[2], false};
  }
};

struct Rows {
  void* data;
  int64_t strides[3];  // in elements, for the grid's dimensions

  // Distance in elements from data to the row's first element.
  WW_HOST_DEVICE int64_t offset(const RowIndex& index) const {
    const int64_t inner = index.inner * strides[2];
    if (index.is_flat) return inner;
#ifdef __CUDA_ARCH__
    asm volatile("");  // what follows would be computed of flat grids too, and not chosen
#endif
    return index.outer * strides[0] + index.middle * strides[1] + inner;
  }

  template <typename T>
  WW_HOST_DEVICE T* row(const RowIndex& index) const {
    return static_cast<T*>(data) + offset(index);
  }
  template <typename T>
  WW_HOST_DEVICE T* row(const RowGrid& grid, int64_t row) const {
    return this->row<T>(grid.index(row));
  }
};

// Columns are counted in an int, 16 bytes at a time.
inline constexpr int kMaxHiddenSize = 1 << 30;

// The names that the shared parts of row-wise kernels expect in a params struct.
template <typename P>
concept RowParams = requires(const P& params) {
  { params.grid } -> std::same_as<const RowGrid&>;
  { params.hidden_size } -> std::same_as<const int&>;
  { params.dtype } -> std::same_as<const Dtype&>;
};

// Those of a kernel that may add a residual to x first: both null, or the sum is written to
// residual_out.
template <typename P>
concept AddedRowParams = RowParams<P> && requires(const P& params) {
  { params.x } -> std::same_as<const Rows&>;
  { params.residual } -> std::same_as<const Rows&>;
  { params.residual_out } -> std::same_as<const Rows&>;
};

// Whether a launcher can take the sizes. What it does not take it answers with
// cudaErrorInvalidValue, before anything else.
template <RowParams P>
bool has_valid_rows(const P& params) {
  const bool fits = params.hidden_size >= 0 && params.hidden_size <= kMaxHiddenSize;
  if constexpr (AddedRowParams<P>)
    return fits && (params.residual.data == nullptr) == (params.residual_out.data == nullptr);
  return fits;
}

// Whether there is nothing to do.
template <RowParams P>
bool has_no_rows(const P& params) {
  return params.grid.num_rows() == 0 || params.hidden_size == 0;
}

// A parameter that all rows share, such as a weight: null, or hidden_size elements of the rows'
// dtype or of float32.
inline bool is_valid_param(const void* param, Dtype param_dtype, Dtype dtype) {
  return param == nullptr || param_dtype == dtype || param_dtype == Dtype::f32;
}

}  // namespace ww
