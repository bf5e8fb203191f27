// The mean square of a row of 16-byte vectors.
#pragma once

#include <type_traits>

#include "warpwright/mean_square.h"
#include "warpwright/rows.h"
#include "warpwright/vec.cuh"

namespace ww {

// Those of a vector times scaling^2. The row stays packed afterwards, instead of in the floats
// that were squared.
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

// mean(h^2) + eps, of the row times scaling^2. inverse_size: 1 / hidden_size.
template <RowParams P>
__device__ float mean_square(const P& params, float sum_sq, float scaling, float inverse_size) {
  const float square = scaling * scaling;
  return sum_sq * inverse_size + params.eps * square * square;
}

// 1, or what the row's squares have to be summed again with. No square of a float16 needs it.
template <typename T>
__device__ float rescaling_of(float mean_sq) {
  return std::is_same_v<T, float16> ? 1.0f : rescaling(mean_sq);
}

}  // namespace ww
