// The steps of the fused kernel on one 16-byte vector of a row.
#pragma once

#include "rmsnorm_rht_amax.h"
#include "warpwright/hadamard.cuh"
#include "warpwright/row_vec.cuh"

namespace ww {

// The largest of the magnitudes that a thread has seen, and whether one of them was NaN: a sum of
// magnitudes is NaN for no other reason, and costs one instruction for each.
class Peak {
 public:
  __device__ void add(float value) {
    const float magnitude = fabsf(value);
    largest_ = fmaxf(largest_, magnitude);  // drops NaN
    sum_ += magnitude;
  }

  __device__ float value(bool ignore_nan) const {
    return !ignore_nan && sum_ != sum_ ? sum_ : largest_;
  }

 private:
  float largest_ = 0.0f;
  float sum_ = 0.0f;
};

// y = x * rstd * weight / 4 of one vector; rstd is that of the row times scaling^2. The transform's
// scale comes first, where it is exact, so that no sum overflows which the result does not.
template <typename T, VecAt kAt>
__device__ void normalize(const RmsnormRhtAmaxParams& params, const Vec<T>& x, int column,
                          float scaling, float rstd, float (&y)[Vec<T>::kSize]) {
  constexpr float kScale = 0.25f;
  float weight[Vec<T>::kSize];
  load_param<T, kAt, false>(params.weight, params.weight_dtype, column, params.hidden_size, weight);
  x.to_floats(y);
  const float factor = rstd * scaling * kScale;
#pragma unroll
  for (int j = 0; j < Vec<T>::kSize; ++j) y[j] = (y[j] * scaling) * factor * weight[j];
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
template <typename T, VecAt kAt>
__device__ void write_vec(const RmsnormRhtAmaxParams& params, const Vec<T>& x, T* out, int column,
                          bool inside, float scaling, float rstd, Peak& peak) {
  constexpr int kSize = Vec<T>::kSize;
  float y[kSize]{};
  if (inside) normalize<T, kAt>(params, x, column, scaling, rstd, y);
  if (params.signs != 0) flip_signs(params.signs, column, y);
  hadamard16(y);
  if (!inside) return;
#pragma unroll
  for (int j = 0; j < kSize; ++j) peak.add(y[j]);
  store_vec<T, kAt>(Vec<T>::from_floats(y), out, column, params.hidden_size);
}

}  // namespace ww
