#pragma once

#include <algorithm>

#include "warpwright/cpu.h"
#include "warpwright/dtype.h"
#include "warpwright/rows.h"

namespace ww {

inline constexpr int kMaxHeadDim = 256;
// Batch entries, heads, keys and queries are each counted in an int, and tiles run over the end.
inline constexpr int64_t kMaxSize = (int64_t{1} << 31) - 1024;

// Any stride of its rows may be 0.
struct AttentionMask {
  Rows rows;    // (batch_size, num_heads, seqlen_q, columns), or null
  int columns;  // seqlen_k, or 1: the same for every key
  Dtype dtype;  // boolean: a false hides the key; else added to its score
};

// How far a query sees before and after its own position; negative: to the end.
struct AttentionWindow {
  int left;
  int right;
};

struct AttentionParams {
  RowGrid q_grid;      // batch_size, num_heads, seqlen_q
  RowGrid k_grid;      // batch_size, num_heads_kv, seqlen_k
  Rows q;              // (q_grid, head_dim)
  Rows k;              // (k_grid, head_dim)
  Rows v;              // (k_grid, head_dim_v)
  Rows out;            // (q_grid, head_dim_v)
  Rows lse;            // (q_grid), float32, or null
  const float* sinks;  // (num_heads), or null
  AttentionMask mask;
  AttentionWindow window;
  int head_dim;
  int head_dim_v;
  float softmax_scale;
  float softcap;  // 0: none
  Dtype dtype;    // of q, k and v
  Dtype out_dtype;
};

// Keys from begin up to, not including, end.
struct KeyRange {
  int begin;
  int end;
};

// The keys that a query may see by its position, which is that of the last key for the last query.
// Both bounds grow with `query`.
WW_HOST_DEVICE inline KeyRange visible_keys(const AttentionParams& params, int64_t query) {
  const int64_t seqlen_k = params.k_grid.sizes[2];
  const int64_t position = query + seqlen_k - params.q_grid.sizes[2];
  int64_t begin = params.window.left < 0 ? 0 : position - params.window.left;
  int64_t end = params.window.right < 0 ? seqlen_k : position + params.window.right + 1;
  begin = begin < 0 ? 0 : begin;
  end = end < seqlen_k ? end : seqlen_k;
  begin = begin < seqlen_k ? begin : seqlen_k;
  return {static_cast<int>(begin), static_cast<int>(end > begin ? end : begin)};
}

// What both launchers require; they answer anything else with cudaErrorInvalidValue.
inline bool is_valid(const AttentionParams& params) {
  const auto& [q_sizes] = params.q_grid;
  const auto& [k_sizes] = params.k_grid;
  const auto is_head_dim = [](int size) { return size > 0 && size <= kMaxHeadDim; };
  const auto is_size = [](int64_t size) { return size <= kMaxSize; };
  const bool fits = is_head_dim(params.head_dim) && is_head_dim(params.head_dim_v) &&
                    std::ranges::all_of(q_sizes, is_size) && std::ranges::all_of(k_sizes, is_size);
  const bool grouped = q_sizes[1] == 0 || (k_sizes[1] > 0 && q_sizes[1] % k_sizes[1] == 0);
  const bool masked = params.mask.rows.data == nullptr || params.mask.columns == 1 ||
                      params.mask.columns == k_sizes[2];
  return fits && grouped && masked && q_sizes[0] == k_sizes[0] && params.softmax_scale > 0.0f;
}

// Whether there is nothing to write.
inline bool has_no_queries(const AttentionParams& params) { return params.q_grid.num_rows() == 0; }

cudaError_t attention_fwd(const AttentionParams& params, cudaStream_t stream);
cudaError_t attention_fwd_cpu(const AttentionParams& params, const ThreadPool& pool);

}  // namespace ww
