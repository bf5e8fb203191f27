// The two products of attention on the CPU: small blocks whose sums stay in vector registers, over
// panels of columns that lie dense in memory. Plain loops, for vectorised() to compile.
#pragma once

#include <cstdint>

#include "warpwright/cpu.h"
#include "warpwright/dtype.h"

namespace ww {

// Six rows of sixteen columns are six sums of AVX-512 or twelve of AVX2, as many as hide the
// latency of an FMA, and leave registers for the panel.
inline constexpr int kPanelRows = 6;
inline constexpr int kPanelColumns = 16;

// c (kPanelRows, kPanelColumns) = a (kPanelRows, depth) * panel (depth, kPanelColumns), or += .
template <bool kAdd>
WW_VECTORISED inline void multiply_panel(const float* a, int a_pitch,
                                         const float* __restrict__ panel, int depth, float* c,
                                         int c_pitch) {
  float sums[kPanelRows][kPanelColumns];
#pragma GCC unroll 6
  for (int row = 0; row < kPanelRows; ++row)
#pragma omp simd
    for (int i = 0; i < kPanelColumns; ++i) sums[row][i] = kAdd ? c[row * c_pitch + i] : 0.0f;
  for (int k = 0; k < depth; ++k) {
#pragma GCC unroll 6
    for (int row = 0; row < kPanelRows; ++row) {
      const float x = a[row * a_pitch + k];
#pragma omp simd
      for (int i = 0; i < kPanelColumns; ++i) sums[row][i] += x * panel[k * kPanelColumns + i];
    }
  }
#pragma GCC unroll 6
  for (int row = 0; row < kPanelRows; ++row)
#pragma omp simd
    for (int i = 0; i < kPanelColumns; ++i) c[row * c_pitch + i] = sums[row][i];
}

// Rows of x as panels of columns, (panels, num_rows, kPanelColumns); zeros follow the last column.
// Returns whether all elements are finite.
template <typename T>
WW_VECTORISED inline bool pack_columns(const T* x, int64_t stride, int num_rows, int num_columns,
                                       float* panels) {
  float largest = 0.0f;
  for (int first = 0; first < num_columns; first += kPanelColumns) {
    const int count = num_columns - first < kPanelColumns ? num_columns - first : kPanelColumns;
    for (int row = 0; row < num_rows; ++row) {
      const T* from = x + row * stride + first;
      float* to = panels + (int64_t{first} * num_rows + row * kPanelColumns);
      if (count == kPanelColumns)
        for (int i = 0; i < kPanelColumns; ++i) to[i] = to_float(from[i]);
      else
        for (int i = 0; i < kPanelColumns; ++i) to[i] = i < count ? to_float(from[i]) : 0.0f;
      // 0 x is 0, or NaN, which stays in the sum.
      float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
      for (int i = 0; i < kPanelColumns; ++i) sum += 0.0f * to[i];
      largest += sum;
    }
  }
  return largest == 0.0f;
}

// The same of x transposed: panels of rows, (panels, num_columns, kPanelColumns); zeros follow the
// last row.
template <typename T>
WW_VECTORISED inline void pack_rows(const T* x, int64_t stride, int num_rows, int num_columns,
                                    float* panels) {
  for (int first = 0; first < num_rows; first += kPanelColumns) {
    float* panel = panels + int64_t{first} * num_columns;
    for (int row = 0; row < kPanelColumns; ++row) {
      const T* from = x + (first + row) * stride;
      const bool inside = first + row < num_rows;
      for (int i = 0; i < num_columns; ++i)
        panel[i * kPanelColumns + row] = inside ? to_float(from[i]) : 0.0f;
    }
  }
}

}  // namespace ww
