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
  const int chunk = threadIdx.x % Tile::kPageChunks;
  const int thread_row = threadIdx.x / Tile::kPageChunks;
  T* to = tile + Tile::offset(thread_row, 0, chunk);
  if (aligned && num_columns == Tile::kColumns && first + Tile::kRows <= num_rows) {
    const T* from = rows.row(first + thread_row) + chunk * Tile::kChunk;
#pragma unroll
    for (int step = 0; step < Tile::kRows; step += kStep) {
#pragma unroll
      for (int page = 0; page < Tile::kPages; ++page)
        cp_async<kVecBytes>(to + (page * Tile::kRows + step) * Tile::kPageColumns,
                            from + page * Tile::kPageColumns);
      from += kStep * rows.stride;
    }
    return;
  }
#pragma unroll 1
  for (int step = 0; step < Tile::kRows; step += kStep) {
    const int row = first + thread_row + step;
    // Where nothing is read, the address is that of something that could be.
    const T* from = rows.row(min(row, num_rows - 1));
#pragma unroll
    for (int page = 0; page < Tile::kPages; ++page) {
      const int column = page * Tile::kPageColumns + chunk * Tile::kChunk;
      const int count = row < num_rows ? min(num_columns - column, Tile::kChunk) : 0;
      const T* source = from + (column < num_columns ? column : 0);
      T* place = to + (page * Tile::kRows + step) * Tile::kPageColumns;
      if (aligned)
        cp_async<kVecBytes>(place, source, max(count, 0) * static_cast<int>(sizeof(T)));
      else
        Vec<T>::load_tail(source, count, T{}).store(place);
    }
  }
}

}  // namespace ww
