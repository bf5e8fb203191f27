// The steps on one 16-byte vector of a row that row-wise kernels have in common. kAligned: every
// row of every tensor begins and ends at a 16-byte boundary.
#pragma once

#include <type_traits>

#include "warpwright/rows.h"
#include "warpwright/vec.cuh"

namespace ww {

// Elements behind the row's end are 0.
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

// One vector of h = x, or of h = x + residual rounded, which is also written to residual_out. To
// be called once for each vector: residual_out may be x or residual itself.
template <typename T, bool kAligned, AddedRowParams P>
__device__ Vec<T> load_added(const P& params, int64_t row, int vec) {
  const int n = params.hidden_size;
  const auto x = load_vec<T, kAligned>(params.x.template row<const T>(params.grid, row), vec, n);
  if (params.residual.data == nullptr) return x;

  const auto residual =
      load_vec<T, kAligned>(params.residual.template row<const T>(params.grid, row), vec, n);
  float sum[Vec<T>::kSize];
  float addend[Vec<T>::kSize];
  x.to_floats(sum);
  residual.to_floats(addend);
#pragma unroll
  for (int j = 0; j < Vec<T>::kSize; ++j) sum[j] += addend[j];
  const Vec<T> h = Vec<T>::from_floats(sum);
  store_vec<T, kAligned>(h, params.residual_out.template row<T>(params.grid, row), vec, n);
  return h;
}

// The same vector again, after load_added.
template <typename T, bool kAligned, AddedRowParams P>
__device__ Vec<T> reload_added(const P& params, int64_t row, int vec) {
  const Rows& h = params.residual.data == nullptr ? params.x : params.residual_out;
  return load_vec<T, kAligned>(h.row<const T>(params.grid, row), vec, params.hidden_size);
}

// One vector's columns of a parameter of T or of float32, which takes as many 16 bytes as T is
// narrower.
template <typename T, bool kAligned>
__device__ void load_param(const void* param, Dtype dtype, int vec, int hidden_size,
                           float (&values)[Vec<T>::kSize]) {
  if (std::is_same_v<T, float> || dtype != Dtype::f32) {
    load_vec<T, kAligned>(static_cast<const T*>(param), vec, hidden_size).to_floats(values);
    return;
  }
  const auto* floats = static_cast<const float*>(param);
  constexpr int kParts = Vec<T>::kSize / Vec<float>::kSize;
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    const auto piece = load_vec<float, kAligned>(floats, vec * kParts + part, hidden_size);
    float quarter[Vec<float>::kSize];
    piece.to_floats(quarter);
#pragma unroll
    for (int j = 0; j < Vec<float>::kSize; ++j) values[part * Vec<float>::kSize + j] = quarter[j];
  }
}

}  // namespace ww
