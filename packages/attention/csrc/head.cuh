// One head of one batch entry, and the score of a query and a key.
#pragma once

#include "attention.h"
#include "warpwright/ptx/approx.cuh"

namespace ww {

inline constexpr float kLog2E = 1.44269504088896341f;
inline constexpr float kLn2 = 0.693147180559945309f;
inline constexpr float kInf = __builtin_inff();
inline constexpr float kMinusInf = -kInf;

// Where the rows of a head start, and their distance.
template <typename T>
struct HeadRows {
  T* data;
  int64_t stride;

  __device__ HeadRows(T* first, int64_t row_stride) : data(first), stride(row_stride) {}
  __device__ HeadRows(const Rows& rows, int batch, int head)
      : data(static_cast<T*>(rows.data) + batch * rows.strides[0] + head * rows.strides[1]),
        stride(rows.strides[2]) {}

  __device__ T* row(int64_t row) const { return data + row * stride; }
};

// A head of q, of a batch entry. What it has in the tensors is worked out where it is needed:
// numbers that are kept during the main loop are registers that it has not.
template <typename T>
struct Head {
  const AttentionParams& params;
  int batch;
  int index;

  __device__ HeadRows<const T> q() const { return {params.q, batch, index}; }
  __device__ HeadRows<const T> k() const { return {params.k, batch, shared_index()}; }
  __device__ HeadRows<const T> v() const { return {params.v, batch, shared_index()}; }

  // Of the head of k and v that its group shares.
  __device__ int shared_index() const {
    const auto num_heads = static_cast<int>(params.q_grid.sizes[1]);
    const auto num_heads_kv = static_cast<int>(params.k_grid.sizes[1]);
    return index / (num_heads / num_heads_kv);
  }
};

// cap tanh(x) with x = score / cap. In 16 bits tanh(x) = 1 - 2 / (e^2x + 1) is exact enough while x
// is not small, and saturates where e^2x leaves float. Its error is that of 1, under a large cap
// more than a score: below 1/4 it is Taylor's series, whose next term is less than 2^-21.
template <typename T>
__device__ float soft_capped(float score, float cap) {
  if constexpr (sizeof(T) == 4) return cap * tanhf(score / cap);
  constexpr float kLeast = 0x1p-126f;  // of smaller caps the reciprocal may be infinite
  const float x = score * reciprocal_approx(fmaxf(cap, kLeast));
  const float square = x * x;
  const float series = 1.0f / 3 - square * (2.0f / 15 - square * (17.0f / 315));
  const float power = exp2_approx(x * (2.0f * kLog2E));
  const float capped = cap * (1.0f - 2.0f * reciprocal_approx(power + 1.0f));
  return fabsf(x) < 0.25f ? score - score * (square * series) : capped;
}

// The mask of one head.
class HeadMask {
 public:
  __device__ HeadMask(const AttentionMask& mask, int batch, int head)
      : mask_(mask), start_(batch * mask.rows.strides[0] + head * mask.rows.strides[1]) {}

  __device__ bool is_there() const { return mask_.rows.data != nullptr; }

  // The score of a key that is in reach; -inf hides it, whatever its score is.
  __device__ float apply(float score, int64_t query, int key) const {
    const int64_t at =
        start_ + query * mask_.rows.strides[2] + (mask_.columns == 1 ? 0 : int64_t{key});
    if (mask_.dtype == Dtype::boolean)
      return static_cast<const uint8_t*>(mask_.rows.data)[at] != 0 ? score : kMinusInf;
    const float bias = bias_at(at);
    return bias == kMinusInf ? kMinusInf : score + bias;
  }

 private:
  __device__ float bias_at(int64_t at) const {
    if (mask_.dtype == Dtype::f32) return static_cast<const float*>(mask_.rows.data)[at];
    if (mask_.dtype == Dtype::f16)
      return to_float(static_cast<const float16*>(mask_.rows.data)[at]);
    return to_float(static_cast<const bfloat16*>(mask_.rows.data)[at]);
  }

  const AttentionMask& mask_;
  int64_t start_;
};

// From a product to the score: scale, cap, mask.
template <typename T>
__device__ float score_of(const AttentionParams& params, const HeadMask& mask, float product,
                          int64_t query, int key) {
  float score = product * params.softmax_scale;
  if (params.softcap > 0.0f) score = soft_capped<T>(score, params.softcap);
  return mask.is_there() ? mask.apply(score, query, key) : score;
}

}  // namespace ww
