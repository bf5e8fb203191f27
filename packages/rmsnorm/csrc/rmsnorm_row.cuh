// The steps of RMSNorm on one 16-byte vector of a row. kAligned: every row of every tensor begins
// and ends at a 16-byte boundary.
#pragma once

#include <type_traits>

#include "rmsnorm.h"
#include "warpwright/vec.cuh"

namespace ww {

template <typename T, bool kAligned>
__device__ Vec<T> load_vec(const T* row, int vec, int hidden_size) {
  const T* ptr = row + vec * Vec<T>::kSize;
  const int count = hidden_size - vec * Vec<T>::kSize;
  if constexpr (kAligned) return Vec<T>::load(ptr);
  return count >= Vec<T>::kSize ? Vec<T>::load_misaligned(ptr)
                                : Vec<T>::load_tail(ptr, count, from_float<T>(0.0f));
}

template <typename T, bool kAligned>
__device__ void store_vec(const Vec<T>& values, T* row, int vec, int hidden_size) {
  T* ptr = row + vec * Vec<T>::kSize;
  const int count = hidden_size - vec * Vec<T>::kSize;
  if constexpr (kAligned)
    values.store(ptr);
  else if (count >= Vec<T>::kSize)
    values.store_misaligned(ptr);
  else
    values.store_tail(ptr, count);
}

// One vector of h; the first time, a sum with the residual is also written to residual_out.
template <typename T, bool kAligned>
__device__ Vec<T> load_h(const RmsNormParams& params, int64_t row, int vec) {
  const int n = params.hidden_size;
  const Vec<T> x = load_vec<T, kAligned>(params.x.row<const T>(params.grid, row), vec, n);
  if (params.residual.data == nullptr) return x;

  const Vec<T> residual =
      load_vec<T, kAligned>(params.residual.row<const T>(params.grid, row), vec, n);
  float sum[Vec<T>::kSize];
  float addend[Vec<T>::kSize];
  x.to_floats(sum);
  residual.to_floats(addend);
#pragma unroll
  for (int j = 0; j < Vec<T>::kSize; ++j) sum[j] += addend[j];
  const Vec<T> h = Vec<T>::from_floats(sum);
  store_vec<T, kAligned>(h, params.residual_out.row<T>(params.grid, row), vec, n);
  return h;
}

// The same vector again. residual_out may be x or residual itself, which then hold h by now.
template <typename T, bool kAligned>
__device__ Vec<T> reload_h(const RmsNormParams& params, int64_t row, int vec) {
  const Rows& h = params.residual.data == nullptr ? params.x : params.residual_out;
  return load_vec<T, kAligned>(h.row<const T>(params.grid, row), vec, params.hidden_size);
}

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
  constexpr int kSize = Vec<T>::kSize;
  if (std::is_same_v<T, float> || params.weight_dtype != Dtype::f32) {
    const auto* weight = static_cast<const T*>(params.weight);
    load_vec<T, kAligned>(weight, vec, params.hidden_size).to_floats(scale);
  } else {
    const auto* weight = static_cast<const float*>(params.weight);
    constexpr int kParts = kSize / Vec<float>::kSize;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const Vec<float> w =
          load_vec<float, kAligned>(weight, vec * kParts + part, params.hidden_size);
      float values[Vec<float>::kSize];
      w.to_floats(values);
#pragma unroll
      for (int j = 0; j < Vec<float>::kSize; ++j) scale[part * Vec<float>::kSize + j] = values[j];
    }
  }
#pragma unroll
  for (int j = 0; j < kSize; ++j) {
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
