// Results on their way to memory, in out's dtype.
#pragma once

#include "head.cuh"
#include "warpwright/vec.cuh"

namespace ww {

// The first `count` of kCount results; as vectors where all of them are there and aligned.
template <typename Out, int kCount>
__device__ void store_as(Out* to, const float (&values)[kCount], int count) {
  constexpr int kSize = Vec<Out>::kSize;
  if constexpr (kCount % kSize == 0) {
    if (count >= kCount && is_vec_aligned(to)) {
#pragma unroll
      for (int first = 0; first < kCount; first += kSize) {
        float part[kSize];
#pragma unroll
        for (int i = 0; i < kSize; ++i) part[i] = values[first + i];
        Vec<Out>::from_floats(part).store(to + first);
      }
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    if (i < count) to[i] = from_float<Out>(values[i]);
}

// Results of one query, from `column` on; what is beyond head_dim_v falls away.
template <int kCount>
__device__ void store_results(const AttentionParams& params, int batch, int head, int64_t query,
                              int column, const float (&values)[kCount]) {
  const int count = params.head_dim_v - column;
  const auto store = [&]<typename Out>(type_tag<Out>) {
    store_as(HeadRows<Out>(params.out, batch, head).row(query) + column, values, count);
  };
  if (params.out_dtype == Dtype::f32)
    store(type_tag<float>{});
  else if (params.out_dtype == Dtype::f16)
    store(type_tag<float16>{});
  else
    store(type_tag<bfloat16>{});
}

__device__ inline void store_lse(const AttentionParams& params, int batch, int head, int64_t query,
                                 float lse) {
  if (params.lse.data != nullptr) *HeadRows<float>(params.lse, batch, head).row(query) = lse;
}

}  // namespace ww
