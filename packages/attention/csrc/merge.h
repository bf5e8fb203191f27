#pragma once

#include <math.h>

#include "warpwright/cpu.h"
#include "warpwright/dtype.h"
#include "warpwright/rows.h"

namespace ww {

struct MergeParams {
  RowGrid grid;  // batch_size, num_heads, seqlen_q, shared by all Rows
  Rows out_a;    // (grid, head_dim)
  Rows lse_a;    // (grid), float32
  Rows out_b;    // (grid, head_dim)
  Rows lse_b;    // (grid), float32
  Rows out;      // (grid, head_dim); may be out_a or out_b
  Rows lse;      // (grid), float32; may be lse_a or lse_b
  int head_dim;
  Dtype dtype;  // of out_a, out_b and out
};

// What the two parts count for in the result, and its lse. A part without keys, of lse -inf, counts
// nothing; the other one then counts exactly 1.
struct MergeWeights {
  float a;
  float b;
  float lse;
};

WW_HOST_DEVICE inline MergeWeights merge_weights(float lse_a, float lse_b) {
  const float largest = lse_a > lse_b || lse_a != lse_a ? lse_a : lse_b;
  if (largest == -__builtin_inff()) return {0.0f, 0.0f, largest};
  // Two infinite parts count the same; an infinity less itself is not a number.
  const float a = lse_a == largest ? 1.0f : expf(lse_a - largest);
  const float b = lse_b == largest ? 1.0f : expf(lse_b - largest);
  return {a / (a + b), b / (a + b), largest + logf(a + b)};
}

// A part that counts nothing may be anything, and leaves even the other one's -0 as it is.
WW_HOST_DEVICE inline float merged(const MergeWeights& weights, float a, float b) {
  if (weights.a == 0.0f) return weights.b == 0.0f ? 0.0f : weights.b * b;
  return weights.b == 0.0f ? weights.a * a : weights.a * a + weights.b * b;
}

inline bool is_valid(const MergeParams& params) {
  return params.head_dim >= 0 && params.head_dim <= kMaxHiddenSize;
}

cudaError_t merge_fwd(const MergeParams& params, cudaStream_t stream);
cudaError_t merge_fwd_cpu(const MergeParams& params, const ThreadPool& pool);

}  // namespace ww
