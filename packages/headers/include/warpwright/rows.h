// How a row-wise kernel sees tensors whose last dimension is dense: rows on a grid of up to three
// dimensions that all its tensors share, each tensor with its own strides.
#pragma once

#include <cstdint>

#include "warpwright/cuda_types.h"

namespace ww {

struct RowGrid {
  int64_t sizes[3];  // outermost first; rows that collapse to one dimension are {1, 1, num_rows}

  WW_HOST_DEVICE int64_t num_rows() const { return sizes[0] * sizes[1] * sizes[2]; }
};

struct Rows {
  void* data;
  int64_t strides[3];  // in elements, for the grid's dimensions

  // Distance in elements from data to the row's first element.
  WW_HOST_DEVICE int64_t offset(const RowGrid& grid, int64_t row) const {
    if (grid.sizes[0] == 1 && grid.sizes[1] == 1) return row * strides[2];
    const int64_t outer = row / grid.sizes[2];
    return outer / grid.sizes[1] * strides[0] + outer % grid.sizes[1] * strides[1] +
           row % grid.sizes[2] * strides[2];
  }

  template <typename T>
  WW_HOST_DEVICE T* row(const RowGrid& grid, int64_t row) const {
    return static_cast<T*>(data) + offset(grid, row);
  }
};

}  // namespace ww
