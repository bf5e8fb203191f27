// Rows from global into shared memory.
#pragma once

#include "blocks.cuh"
#include "head.cuh"
#include "tiles.cuh"
#include "warpwright/ptx/cp_async.cuh"
#include "warpwright/vec.cuh"

namespace ww {

// The rows [first, first + Tile::kRows) of a head. Rows from num_rows on and columns from
// num_columns on are zeros: of what lies there in memory nothing is read, since 0 * NaN is not 0.
// Aligned rows are copied behind the thread's back, the others element by element.
template <typename Tile, int kThreads, typename T>
__device__ void load_rows(const HeadRows<const T>& rows, int first, int num_rows, int num_columns,
                          bool aligned, T* tile) {
  constexpr int kStep = kThreads / Tile::kPageChunks;
  static_assert(Tile::kRows % kStep == 0 && kStep % 8 == 0);
  const int thread = threadIdx.x;
  const int chunk = thread % Tile::kPageChunks;
  const int thread_row = thread / Tile::kPageChunks;
  T* to = tile + Tile::offset(thread_row, 0, chunk);
  const T* from = rows.row(first + thread_row) + chunk * Tile::kChunk;
  const int rows_left = num_rows - first - thread_row;
#pragma unroll
  for (int page = 0; page < Tile::kPages; ++page) {
    const int column = page * Tile::kPageColumns + chunk * Tile::kChunk;
    const int count = min(max(num_columns - column, 0), Tile::kChunk);
#pragma unroll
    for (int step = 0; step < Tile::kRows; step += kStep) {
      T* place = to + (page * Tile::kRows + step) * Tile::kPageColumns;
      const T* source = from + step * rows.stride + page * Tile::kPageColumns;
      const int elements = step < rows_left ? count : 0;
      if (aligned)
        cp_async<kVecBytes>(place, source, elements * static_cast<int>(sizeof(T)));
      else
        Vec<T>::load_tail(source, elements, T{}).store(place);
    }
  }
}

}  // namespace ww
