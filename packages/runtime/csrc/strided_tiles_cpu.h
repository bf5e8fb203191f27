// Walking a strided layout on the CPU: tiles of the two innermost dimensions, in parallel.
#pragma once

#include <algorithm>

#include "strided_layout.h"
#include "warpwright/cpu.h"
#include "warpwright/dispatch.h"

namespace ww {

// Elements of a tile: some microseconds of work, against which finding the tile costs nothing.
inline constexpr int64_t kTileElements = 16384;

// Calls tile(offsets, num_rows, num_columns) for tiles which together cover the layout: up to
// `width` elements of its last dimension by up to `height` of the one before. offsets has each
// array's distance to the tile's first element.
template <int kArrays, typename Tile>
void for_each_tile(const StridedLayout<kArrays>& layout, int64_t height, int64_t width,
                   const ThreadPool& pool, Tile&& tile) {
  StridedLayout<kArrays> grid = layout;  // with at least two dimensions
  if (grid.rank == 1) {
    grid.swap(0, 1);
    grid.sizes[0] = 1;
    for (auto& strides : grid.strides) strides[0] = 0;
    grid.rank = 2;
  }
  const int row = grid.rank - 2;
  const int column = grid.rank - 1;
  const int64_t num_rows = grid.sizes[row];
  const int64_t num_columns = grid.sizes[column];
  grid.sizes[row] = ceil_div(num_rows, height);
  grid.sizes[column] = ceil_div(num_columns, width);
  const int64_t grain = std::max<int64_t>(1, kTileElements / (height * width));

  pool.parallel_for(grid.count(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i;
      int64_t offsets[kArrays] = {};
      int64_t first_row = 0;
      int64_t first_column = 0;
      for (int d = grid.rank - 1; d >= 0; --d) {
        int64_t index = rest % grid.sizes[d];
        rest /= grid.sizes[d];
        if (d == row) first_row = index *= height;
        if (d == column) first_column = index *= width;
        for (int array = 0; array < kArrays; ++array)
          offsets[array] += index * grid.strides[array][d];
      }
      tile(offsets, std::min(height, num_rows - first_row),
           std::min(width, num_columns - first_column));
    }
  });
}

}  // namespace ww
