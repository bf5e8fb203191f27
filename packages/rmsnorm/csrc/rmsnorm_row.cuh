// The steps of RMSNorm on one 16-byte vector of a row.
#pragma once

#include <type_traits>

#include "rmsnorm.h"
#include "warpwright/row_vec.cuh"

namespace ww {

// The row stays packed afterwards, instead of in the floats that were squared.
template <typename T>
__device__ float sum_squares(Vec<T>& h, float scaling) {
  float values[Vec<T>::kSize];
  h.to_floats(values);
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < Vec<T>::kSize; ++j) {
    const float value = values[j] * (scaling * scaling);
    sum += value * value;
  }
  h.pin();
  return sum;
}

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

// mean(h^2) + eps, of the row times scaling^2.
__device__ inline float mean_square(const RmsNormParams& params, float sum_sq, float scaling) {
  const float square = scaling * scaling;
  return sum_sq / static_cast<float>(params.hidden_size) + params.eps * square * square;
}

// 1, or what the row's squares have to be summed again with. No square of a float16 needs it.
template <typename T>
__device__ float rescaling_of(float mean_sq) {
  return std::is_same_v<T, float16> ? 1.0f : rescaling(mean_sq);
}

}  // namespace ww
