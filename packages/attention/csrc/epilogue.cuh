// From the sums in registers to results in memory, by way of shared memory: there a lane finds
// neighbouring columns, for whole vectors whatever out's dtype is.
#pragma once

#include "blocks.cuh"
#include "softmax.cuh"
#include "store.cuh"
#include "tiles.cuh"

namespace ww {

// The block's sums as floats in shared memory, in 16-byte chunks permuted by their row.
template <typename Shape>
struct StagedSums {
  static constexpr int kColumns = Shape::kSizes.head_dim_v;

  __device__ static float* at(float* staged, int row, int column) {
    return staged + row * kColumns + ((column / 4 ^ (row & 7)) * 4 + column % 4);
  }
};

// Divides by the sums of weights, stores each row's lse, and leaves the results in `staged`.
// Returns whether there is a NaN among the lane's.
template <typename T, typename Shape, typename Softmax>
__device__ bool stage_results(const Head<T>& head, const Softmax& softmax, const ThreadPlace& place,
                              int first_query, const typename Shape::Sums& sums, float* staged) {
  const AttentionParams& params = head.params;
  bool found_nan = false;
  const float* sink = params.sinks == nullptr ? nullptr : params.sinks + head.index;
#pragma unroll
  for (int i = 0; i < Shape::kRowTiles; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = place.warp_row + 16 * i + 8 * half + place.row;
      const int64_t query = int64_t{first_query} + row;
      float max;
      float sum;
      softmax.finish(i, half, max, sum);
      const RowTotals totals = row_totals(max, sum, sink);
      const bool inside = query < params.q_grid.sizes[2];
      if (place.key == 0 && inside) store_lse(params, head.batch, head.index, query, totals.lse);
#pragma unroll
      for (int j = 0; j < Shape::kColumnTiles; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const float result = sums[i][j][2 * half + e] * totals.factor;
          found_nan |= inside && result != result;
          *StagedSums<Shape>::at(staged, row, 8 * j + place.key + e) = result;
        }
    }
  return found_nan;
}

// A warp stores the rows that it has staged.
template <typename T, typename Shape>
__device__ void store_staged(const Head<T>& head, const ThreadPlace& place, int first_query,
                             float* staged) {
  const AttentionParams& params = head.params;
  constexpr int kCount = 8;
  constexpr int kRowChunks = Shape::kSizes.head_dim_v / kCount;
  for (int i = place.lane; i < Shape::kWarpRows * kRowChunks; i += Shape::kWarp) {
    const int row = place.warp_row + i / kRowChunks;
    const int column = i % kRowChunks * kCount;
    const int64_t query = int64_t{first_query} + row;
    if (query >= params.q_grid.sizes[2] || column >= params.head_dim_v) continue;
    float results[kCount];
#pragma unroll
    for (int first = 0; first < kCount; first += Vec<float>::kSize) {
      float part[Vec<float>::kSize];
      Vec<float>::load(StagedSums<Shape>::at(staged, row, column + first)).to_floats(part);
#pragma unroll
      for (int e = 0; e < Vec<float>::kSize; ++e) results[first + e] = part[e];
    }
    store_results(params, head.batch, head.index, query, column, results);
  }
}

}  // namespace ww
