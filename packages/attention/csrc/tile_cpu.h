// Rows of q, k and v in float32, as the products on the CPU want them.
#pragma once

#include <algorithm>

#include "warpwright/blocks_cpu.h"
#include "warpwright/dispatch.h"
#include "warpwright/rows.h"

namespace ww {

// Rows of x, dense with zeros up to `pitch` columns. Returns whether all elements are finite.
template <typename T>
WW_VECTORISED inline bool load_rows(const T* x, int64_t stride, int num_rows, int num_columns,
                                    float* rows, int pitch) {
  // What a row far ahead has in memory comes while the rows before it are computed with: the
  // processor does not expect the next row where heads lie between.
  constexpr int kLine = 64 / sizeof(T);
  constexpr int kAhead = 32;
  float zero = 0.0f;
  for (int row = 0; row < num_rows; ++row) {
    const T* from = x + row * stride;
    for (int i = 0; i < num_columns; i += kLine) __builtin_prefetch(from + kAhead * stride + i);
    float* to = rows + int64_t{row} * pitch;
    widen(from, num_columns, to);
    // 0 x is 0, or NaN, which stays in the sum.
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < num_columns; ++i) sum += 0.0f * to[i];
    for (int i = num_columns; i < pitch; ++i) to[i] = 0.0f;
    zero += sum;
  }
  return zero == 0.0f;
}

// One row of x, kStep floats apart.
template <int kStep, typename T>
WW_VECTORISED inline void spread_row(const T* x, int num_columns, float* to) {
  for (int i = 0; i < num_columns; ++i) to[i * kStep] = to_float(x[i]);
}

// The opposite, times factor.
template <int kStep, typename T>
WW_VECTORISED inline void gather_row(const float* from, float factor, int num_columns, T* out) {
  for (int i = 0; i < num_columns; ++i) out[i] = from_float<T>(from[i * kStep] * factor);
}

}  // namespace ww
