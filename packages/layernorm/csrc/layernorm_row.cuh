// The steps of LayerNorm on one 16-byte vector of a row.
#pragma once

#include "layernorm.h"
#include "moments.h"
#include "warpwright/row_vec.cuh"

namespace ww {

// What lies behind the row's end is 0. The row stays packed afterwards.
template <typename T>
__device__ float sum_of(const Moments& moments, Vec<T>& h) {
  float values[Vec<T>::kSize];
  h.to_floats(values);
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < Vec<T>::kSize; ++j) sum += moments.shrunk(values[j]);
  h.pin();
  return sum;
}

// The sums of the deviations from the mean and of their squares, grown. `count` elements are left
// of the row, whose end is that of a vector if it is aligned: what lies behind it deviates, too.
template <typename T, bool kAligned>
__device__ Pair<float> deviations_of(const Moments& moments, Vec<T>& h, int count) {
  float values[Vec<T>::kSize];
  h.to_floats(values);
  Pair<float> sums{0.0f, 0.0f};
#pragma unroll
  for (int j = 0; j < Vec<T>::kSize; ++j) {
    const float deviation = kAligned || j < count ? moments.deviation(values[j]) : 0.0f;
    const float grown = deviation * moments.grow;
    sums.first += deviation;
    sums.second += grown * grown;
  }
  h.pin();
  return sums;
}

// rstd is that of the row shrunk and grown.
template <typename T, bool kAligned>
__device__ Vec<T> normalize(const LayerNormParams& params, const Moments& moments, float rstd,
                            const Vec<T>& h, int vec) {
  constexpr int kSize = Vec<T>::kSize;
  const int n = params.hidden_size;
  float y[kSize];
  float param[kSize];
  h.to_floats(y);
#pragma unroll
  for (int j = 0; j < kSize; ++j) y[j] = moments.centred(y[j]) * rstd;
  if (params.weight != nullptr) {
    load_param<T, kAligned>(params.weight, params.weight_dtype, vec, n, param);
#pragma unroll
    for (int j = 0; j < kSize; ++j) y[j] *= param[j];
  }
  if (params.bias != nullptr) {
    load_param<T, kAligned>(params.bias, params.bias_dtype, vec, n, param);
#pragma unroll
    for (int j = 0; j < kSize; ++j) y[j] += param[j];
  }
  return Vec<T>::from_floats(y);
}

// What there is one of for each row.
__device__ inline void store_stats(const LayerNormParams& params, int64_t row,
                                   const Moments& moments, float rstd) {
  if (params.mean != nullptr) params.mean[row] = moments.row_mean();
  if (params.rstd != nullptr) params.rstd[row] = moments.row_rstd(rstd);
}

}  // namespace ww
