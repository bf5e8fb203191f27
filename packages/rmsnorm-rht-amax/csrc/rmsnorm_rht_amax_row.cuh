// The steps of the fused kernel on one 16-byte vector of a row.
#pragma once

#include "rmsnorm_rht_amax.h"
#include "warpwright/hadamard.cuh"
#include "warpwright/ptx/max.cuh"
#include "warpwright/row_vec.cuh"

namespace ww {

// The largest of the magnitudes that a thread has seen; NaN if one of them was, or not even then.
class Peak {
 public:
  __device__ explicit Peak(bool ignore_nan) : ignore_nan_(ignore_nan) {}

  template <int kSize>
  __device__ void add(const float (&values)[kSize]) {
    if (ignore_nan_) {
#pragma unroll
      for (int j = 0; j < kSize; ++j) value_ = fmaxf(value_, fabsf(values[j]));
    } else {
#pragma unroll
      for (int j = 0; j < kSize; ++j) value_ = max_nan(value_, fabsf(values[j]));
    }
  }

  __device__ float value() const { return value_; }

 private:
  bool ignore_nan_;
  float value_ = 0.0f;
};

// What the rows of a call mostly are: the weight is of T, and they are not scaled. Known in
// advance, it saves instructions at each element.
template <typename T>
__device__ bool is_plain(const RmsnormRhtAmaxParams& params, float scaling) {
  return is_of<T>(params.weight_dtype) && scaling == 1.0f;
}

// y = x * rstd * weight / 4 of one vector; rstd is that of the row times scaling^2. The transform's
// scale comes first, where it is exact, so that no sum overflows which the result does not.
// kPlain: is_plain().
template <typename T, VecAt kAt, bool kPlain>
__device__ void normalize(const RmsnormRhtAmaxParams& params, const Vec<T>& x, int column,
                          float scaling, float rstd, float (&y)[Vec<T>::kSize]) {
  constexpr float kScale = 0.25f;
  float weight[Vec<T>::kSize];
  load_param<T, kAt, kPlain>(params.weight, params.weight_dtype, column, params.hidden_size,
                             weight);
  x.to_floats(y);
  const float factor = rstd * scaling * kScale;
#pragma unroll
  for (int j = 0; j < Vec<T>::kSize; ++j)
    y[j] = (kPlain ? y[j] : y[j] * scaling) * factor * weight[j];
}

// Negates the columns of one vector whose bits are set.
template <int kSize>
__device__ void flip_signs(uint32_t signs, int column, float (&y)[kSize]) {
  const uint32_t mine = signs >> (column % kRhtBlock);
#pragma unroll
  for (int j = 0; j < kSize; ++j)
    y[j] = bits_of<float>(bits_of<uint32_t>(y[j]) ^ (mine >> j << 31));
}

// Everything behind the sum of squares: one vector of out, and its share of amax. All lanes of the
// warp take part, `inside` those whose vector is in the row.
template <typename T, VecAt kAt, bool kPlain>
__device__ void write_vec(const RmsnormRhtAmaxParams& params, const Vec<T>& x, T* out, int column,
                          bool inside, float scaling, float rstd, Peak& peak) {
  constexpr int kSize = Vec<T>::kSize;
  float y[kSize]{};
  if (inside) normalize<T, kAt, kPlain>(params, x, column, scaling, rstd, y);
  if (params.signs != 0) flip_signs(params.signs, column, y);
  hadamard16(y);
  if (!inside) return;
  peak.add(y);
  store_vec<T, kAt>(Vec<T>::from_floats(y), out, column, params.hidden_size);
}

}  // namespace ww
