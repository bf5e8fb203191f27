// The steps of RMSNorm on one 16-byte vector of a row.
#pragma once

#include "rmsnorm.h"
#include "warpwright/mean_square.cuh"
#include "warpwright/row_vec.cuh"

namespace ww {

// Whether a weight, if there is one, is of T and taken as it is, the casting plain and the row not
// scaled, as they mostly are. Known in advance, it saves instructions at each element.
template <typename T>
__device__ bool is_plain(const RmsNormParams& params, float scaling) {
  const bool plain_weight =
      params.weight == nullptr || (is_of<T>(params.weight_dtype) && params.weight_offset == 0.0f);
  return plain_weight && params.casting == RmsNormCasting::f32 && scaling == 1.0f;
}

// rstd is that of the row times scaling^2. In llama casting the first product and the weight plus
// weight_offset are rounded to T. kPlain: is_plain(). weight_of(values) fills in the vector's
// columns of the weight, if there is one.
template <typename T, bool kPlain, typename WeightOf>
__device__ Vec<T> normalize(const RmsNormParams& params, const Vec<T>& h, float scaling, float rstd,
                            WeightOf&& weight_of) {
  constexpr int kSize = Vec<T>::kSize;
  const bool is_llama = !kPlain && params.casting == RmsNormCasting::llama;
  const auto rounded = [](float value) { return to_float(from_float<T>(value)); };
  float y[kSize];
  h.to_floats(y);
#pragma unroll
  for (int j = 0; j < kSize; ++j) {
    y[j] = kPlain ? y[j] * rstd : (y[j] * scaling) * (rstd * scaling);
    if (is_llama) y[j] = rounded(y[j]);
  }
  if (params.weight != nullptr) {
    float weight[kSize];
    weight_of(weight);
#pragma unroll
    for (int j = 0; j < kSize; ++j) {
      const float scale = kPlain ? weight[j] : weight[j] + params.weight_offset;
      y[j] *= is_llama ? rounded(scale) : scale;
    }
  }
  return Vec<T>::from_floats(y);
}

}  // namespace ww
