// The steps of RMSNorm on one 16-byte vector of a row.
#pragma once

#include "rmsnorm.h"
#include "warpwright/mean_square.cuh"
#include "warpwright/row_vec.cuh"

namespace ww {

// weight + weight_offset in float; in llama casting rounded to T.
template <typename T, bool kAligned>
__device__ void load_scale(const RmsNormParams& params, int vec, float (&scale)[Vec<T>::kSize]) {
  load_param<T, kAligned>(params.weight, params.weight_dtype, vec, params.hidden_size, scale);
#pragma unroll
  for (int j = 0; j < Vec<T>::kSize; ++j) {
    scale[j] += params.weight_offset;
    if (params.casting == RmsNormCasting::llama) scale[j] = to_float(from_float<T>(scale[j]));
  }
}

// rstd is that of the row times scaling^2.
template <typename T, bool kAligned>
__device__ Vec<T> normalize(const RmsNormParams& params, const Vec<T>& h, int vec, float scaling,
                            float rstd) {
  constexpr int kSize = Vec<T>::kSize;
  float y[kSize];
  h.to_floats(y);
#pragma unroll
  for (int j = 0; j < kSize; ++j) {
    y[j] = (y[j] * scaling) * (rstd * scaling);
    if (params.casting == RmsNormCasting::llama) y[j] = to_float(from_float<T>(y[j]));
  }
  if (params.weight != nullptr) {
    float scale[kSize];
    load_scale<T, kAligned>(params, vec, scale);
#pragma unroll
    for (int j = 0; j < kSize; ++j) y[j] *= scale[j];
  }
  return Vec<T>::from_floats(y);
}

}  // namespace ww
