// The products of both steps of attention on the CPU for many queries, one to a lane: a few rows by
// two vectors of columns, whose sums stay in registers, and what is multiplied with the queries are
// single elements of k or of v, which need no order of their own.
#pragma once

#include "vector_cpu.h"

namespace ww {

// Sums that hide the latency of an FMA, of kVectors a row, and leave registers for the operands:
// AVX-512 has 32 of them, the others 16.
template <int kLanes>
inline constexpr int kRowsAtOnce = kLanes == 16 ? 8 : 4;
// What both divide.
inline constexpr int kRowsMultiple = 8;

// Where the left operand's element of a row and a depth is.
struct LeftSteps {
  int row;
  int depth;
};

// c (kRowsAtOnce, kWidth) = a * b (depth, kWidth), plus c * factor (kWidth) if there is one.
template <int kLanes, int kVectors>
WW_VECTORISED inline void multiply_block(const float* a, LeftSteps steps, const float* b, int depth,
                                         float* c, const float* factor) {
  constexpr int kRows = kRowsAtOnce<kLanes>;
  constexpr int kWidth = kLanes * kVectors;
  Floats<kLanes> sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      sums[row][v] = Floats<kLanes>{};
      if (factor == nullptr) continue;
      sums[row][v] = rounded<kLanes>(lanes<kLanes>(c + row * kWidth + v * kLanes) *
                                     lanes<kLanes>(factor + v * kLanes));
    }
  for (int k = 0; k < depth; ++k) {
    const float* column = a + k * steps.depth;
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        sums[row][v] += column[row * steps.row] * lanes<kLanes>(b + k * kWidth + v * kLanes);
  }
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) lanes<kLanes>(c + row * kWidth + v * kLanes) = sums[row][v];
}

// The same for num_rows rows, a multiple of kRowsMultiple.
template <int kLanes, int kVectors>
WW_VECTORISED inline void multiply(const float* a, LeftSteps steps, int num_rows, const float* b,
                                   int depth, float* c, const float* factor) {
  for (int row = 0; row < num_rows; row += kRowsAtOnce<kLanes>)
    multiply_block<kLanes, kVectors>(a + row * steps.row, steps, b, depth,
                                     c + row * kLanes * kVectors, factor);
}

}  // namespace ww
