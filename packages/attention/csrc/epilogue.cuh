// From the sums in registers to results in memory, by way of shared memory: there a lane finds
// neighbouring columns, for whole vectors whatever out's dtype is.
#pragma once

#include "blocks.cuh"
#include "softmax.cuh"
#include "store.cuh"
#include "tiles.cuh"

namespace ww {

// The block's sums as floats in shared memory, in 16-byte chunks. They are permuted by their row,
// so that pairs which half a warp writes, of two neighbouring chunks in four rows, are in different
// banks, and so is every second chunk of a row, which eight lanes read.
template <typename Shape>
struct StagedSums {
  static constexpr int kColumns = Shape::kSizes.head_dim_v;

  __device__ static float* at(float* staged, int row, int column) {
    const int chunk = column / 4;
    const int place = chunk ^ (row & 3) << 1 ^ (chunk >> 3 & 1);
    return staged + row * kColumns + place * 4 + column % 4;
  }
};

// Divides by the sums of weights, stores each row's lse, and leaves the results in `staged`.
// Returns those of the lane's rows, as bits from the warp's first on, that have a NaN or an
// infinity among their results or too coarse a base.
template <typename T, typename Shape, typename Softmax>
__device__ uint32_t stage_results(const Head<T>& head, const Softmax& softmax,
                                  const ThreadPlace& place, int first_query,
                                  const typename Shape::Sums& sums, float* staged) {
  static_assert(Shape::kWarpRows <= 32);
  const AttentionParams& params = head.params;
  uint32_t odd_rows = 0;
  const float* sink = params.sinks == nullptr ? nullptr : params.sinks + head.index;
#pragma unroll
  for (int i = 0; i < Shape::kRowTiles; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int warp_row = 16 * i + 8 * half + place.row;
      const int row = place.warp_row + warp_row;
      const int64_t query = int64_t{first_query} + row;
      float max;
      float sum;
      softmax.finish(i, half, max, sum);
      const RowTotals totals = row_totals(max, sum, sink);
      const bool inside = query < params.q_grid.sizes[2];
      if (place.key == 0 && inside) store_lse(params, head.batch, head.index, query, totals.lse);
      bool odd = softmax.has_coarse_base(i, half);
#pragma unroll
      for (int j = 0; j < Shape::kColumnTiles; ++j) {
        const float first = sums[i][j][2 * half] * totals.factor;
        const float second = sums[i][j][2 * half + 1] * totals.factor;
        odd |= !(fabsf(first) < kInf && fabsf(second) < kInf);
        float* to = StagedSums<Shape>::at(staged, row, 8 * j + place.key);
        *reinterpret_cast<Pair<float>*>(to) = {first, second};
      }
      odd_rows |= static_cast<uint32_t>(odd && inside) << warp_row;
    }
  return odd_rows;
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
