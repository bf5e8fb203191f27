// The steps of LayerNorm on one 16-byte vector of a row.
#pragma once

#include "layernorm.h"
#include "moments.h"
#include "warpwright/row_vec.cuh"

namespace ww {

// What lies behind the row's end is 0. The row stays packed afterwards.
template <typename T, typename Scales>
__device__ float sum_of(const Moments<Scales>& moments, Vec<T>& h) {
  float values[Vec<T>::kSize];
  h.to_floats(values);
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < Vec<T>::kSize; ++j) sum += moments.shrunk(values[j]);
  h.pin();
  return sum;
}

// The sums of the deviations from the mean and of their squares, grown. What is outside the row,
// where vectors are not its own, would deviate, too.
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

// rstd is that of the row shrunk and grown.
template <typename T, VecAt kAt, bool kPlain, typename Scales>
__device__ Vec<T> normalize(const LayerNormParams& params, const Moments<Scales>& moments,
                            float rstd, const Vec<T>& h, int column) {
  constexpr int kSize = Vec<T>::kSize;
  const int n = params.hidden_size;
  float y[kSize];
  float param[kSize];
  h.to_floats(y);
#pragma unroll
  for (int j = 0; j < kSize; ++j) y[j] = moments.centred(y[j]) * rstd;
  if (params.weight != nullptr) {
    load_param<T, kAt, kPlain>(params.weight, params.weight_dtype, column, n, param);
#pragma unroll
    for (int j = 0; j < kSize; ++j) y[j] *= param[j];
  }
  if (params.bias != nullptr) {
    load_param<T, kAt, kPlain>(params.bias, params.bias_dtype, column, n, param);
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
