// The steps of LayerNorm on one 16-byte vector of a row.
#pragma once

#include "layernorm.h"
#include "moments.h"
#include "warpwright/row_vec.cuh"

namespace ww {

// The sums of the deviations from the mean and of their squares, grown. What is outside the row,
// where vectors are not its own, would deviate, too. The row stays packed afterwards.
template <typename T, VecAt kAt, typename Scales>
__device__ Pair<float> deviations_of(const Moments<Scales>& moments, Vec<T>& h, int column,
                                     int hidden_size) {
  float values[Vec<T>::kSize];
  h.to_floats(values);
  Pair<float> sums{0.0f, 0.0f};
#pragma unroll
  for (int j = 0; j < Vec<T>::kSize; ++j) {
    const bool is_inside = kAt != VecAt::edge || (column + j >= 0 && column + j < hidden_size);
    const float deviation = is_inside ? moments.deviation(values[j]) : 0.0f;
    const float grown = deviation * moments.grow;
    sums.first += deviation;
    sums.second += grown * grown;
  }
  h.pin();
  return sums;
}

// Whether the parameters that there are are of T, as they mostly are. Known in advance, it saves
// instructions at each vector.
template <typename T>
__device__ bool is_plain(const LayerNormParams& params) {
  return (params.weight == nullptr || is_of<T>(params.weight_dtype)) &&
         (params.bias == nullptr || is_of<T>(params.bias_dtype));
}

// rstd is that of the row shrunk and grown. weight_of(values) and bias_of(values) fill in the
// vector's columns of those that there are.
template <typename T, typename Scales, typename WeightOf, typename BiasOf>
__device__ Vec<T> normalize(const LayerNormParams& params, const Moments<Scales>& moments,
                            float rstd, const Vec<T>& h, WeightOf&& weight_of, BiasOf&& bias_of) {
  constexpr int kSize = Vec<T>::kSize;
  float y[kSize];
  h.to_floats(y);
#pragma unroll
  for (int j = 0; j < kSize; ++j) y[j] = moments.template centred<T>(y[j]) * rstd;
  float param[kSize];
  if (params.weight != nullptr) {
    weight_of(param);
#pragma unroll
    for (int j = 0; j < kSize; ++j) y[j] *= param[j];
  }
  if (params.bias != nullptr) {
    bias_of(param);
#pragma unroll
    for (int j = 0; j < kSize; ++j) y[j] += param[j];
  }
  return Vec<T>::from_floats(y);
}

// What there is one of for each row.
template <typename Scales>
__device__ void store_stats(const LayerNormParams& params, int64_t row,
                            const Moments<Scales>& moments, float rstd) {
  if (params.mean != nullptr) params.mean[row] = moments.row_mean();
  if (params.rstd != nullptr) params.rstd[row] = moments.row_rstd(rstd);
}

}  // namespace ww
