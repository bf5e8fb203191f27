// What keeps a query from a key: causal and window, which need looking at on boundary tiles alone,
// and the mask, which every tile has to ask.
#pragma once

#include "blocks.cuh"
#include "head.cuh"
#include "tiles.cuh"

namespace ww {

// The keys that some of a block's queries see, and those that all of them do.
struct BlockKeys {
  int begin;
  int end;
  KeyRange common;

  BlockKeys() = default;
  __device__ BlockKeys(const AttentionParams& params, int first, int rows) {
    const auto seqlen_q = static_cast<int>(params.q_grid.sizes[2]);
    const KeyRange of_first = visible_keys(params, first);
    const KeyRange of_last = visible_keys(params, min(first + rows, seqlen_q) - 1);
    begin = of_first.begin;
    end = of_last.end;
    common = {of_last.begin, of_first.end};
  }

  __device__ bool is_boundary(int key, int keys) const {
    return key < common.begin || key + keys > common.end;
  }
};

// Products of keys that their queries do not see become -inf.
template <typename Shape>
__device__ void hide_keys(const AttentionParams& params, int first_query, int first_key,
                          typename Shape::Scores& scores) {
  const ThreadPlace place(recomputed(threadIdx.x), Shape::kWarpRows);
  const int first_row = first_query + place.warp_row + place.row;
#pragma unroll
  for (int i = 0; i < Shape::kRowTiles; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const KeyRange range = visible_keys(params, int64_t{first_row} + 16 * i + 8 * half);
      const int begin = range.begin - first_key - place.key;
      const int end = range.end - first_key - place.key;
#pragma unroll
      for (int j = 0; j < Shape::kKeyTiles; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          if (8 * j + e < begin || 8 * j + e >= end) scores[i][j][2 * half + e] = kMinusInf;
    }
}

// From products to scores, with cap and mask; -inf for what a query does not see.
template <typename T, typename Shape>
__device__ void make_scores(const AttentionParams& params, const BlockPlace& block, int first_key,
                            typename Shape::Scores& scores) {
  const HeadMask mask(params.mask, block.batch, block.head);
  const ThreadPlace place(recomputed(threadIdx.x), Shape::kWarpRows);
  const int first_row = block.first_query + place.warp_row + place.row;
  const auto seqlen_q = static_cast<int>(params.q_grid.sizes[2]);
#pragma unroll
  for (int i = 0; i < Shape::kRowTiles; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int query = first_row + 16 * i + 8 * half;
      // The mask has no rows for queries behind the last.
      const KeyRange range = query < seqlen_q ? visible_keys(params, query) : KeyRange{0, 0};
#pragma unroll
      for (int j = 0; j < Shape::kKeyTiles; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int key = first_key + 8 * j + place.key + e;
          float& score = scores[i][j][2 * half + e];
          score = key >= range.begin && key < range.end
                      ? score_of<T>(params, mask, score, query, key)
                      : kMinusInf;
        }
    }
}

}  // namespace ww
