// The products of both steps of attention on the CPU for few queries: the keys of a group are the
// lanes of the first one, columns of v those of the second. Each sum has its terms in the same
// order as in gemm_cpu.h, so that a query gives the same bits alone as among many.
#pragma once

#include <algorithm>
#include <utility>

#include "vector_cpu.h"

namespace ww {

// Keys whose rows are read together: as many as the longest vector has lanes.
inline constexpr int kGroupKeys = 16;

// Rows of floats, somewhere.
struct FloatRows {
  const float* at;
  int64_t stride;
};

namespace detail {

// Lanes of a and, counted on from there, of b.
template <int kLanes, typename F, int... kIndex>
WW_VECTORISED inline Floats<kLanes> pick(const Floats<kLanes>& a, const Floats<kLanes>& b, F,
                                         std::integer_sequence<int, kIndex...>) {
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(a, b, F{}(kIndex)...);
#else  // GCC before 12
  return __builtin_shuffle(a, b, Ints<kLanes>{F{}(kIndex)...});
#endif
}

// Exchanges what is off the diagonal in all 2 by 2 blocks of kSize by kSize lanes.
template <int kLanes, int kSize>
WW_VECTORISED inline void exchange_blocks(Floats<kLanes> (&rows)[kLanes]) {
  constexpr std::make_integer_sequence<int, kLanes> kAll;
  constexpr auto kUpper = [](int i) constexpr { return i & kSize ? kLanes + i - kSize : i; };
  constexpr auto kLower = [](int i) constexpr { return i & kSize ? kLanes + i : i + kSize; };
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if (i & kSize) continue;
    const Floats<kLanes> upper = rows[i];
    const Floats<kLanes> lower = rows[i + kSize];
    rows[i] = pick<kLanes>(upper, lower, kUpper, kAll);
    rows[i + kSize] = pick<kLanes>(upper, lower, kLower, kAll);
  }
  if constexpr (2 * kSize < kLanes) exchange_blocks<kLanes, 2 * kSize>(rows);
}

// out (kRows, kVectors * kLanes of pitch) += weights (kRows, keys) * values.
template <int kLanes, int kRows, int kVectors>
WW_VECTORISED inline void add_columns(FloatRows values, int count, const float* weights,
                                      int weights_pitch, float* out, int pitch) {
  Floats<kLanes> sums[kRows][kVectors];
#pragma GCC unroll 4
  for (int row = 0; row < kRows; ++row)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[row][v] = lanes<kLanes>(out + row * pitch + v * kLanes);
  for (int key = 0; key < count; ++key) {
    const float* value = values.at + key * values.stride;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const Floats<kLanes> columns = lanes_anywhere<kLanes>(value + v * kLanes);
#pragma GCC unroll 4
      for (int row = 0; row < kRows; ++row)
        sums[row][v] += weights[row * weights_pitch + key] * columns;
    }
  }
#pragma GCC unroll 4
  for (int row = 0; row < kRows; ++row)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) lanes<kLanes>(out + row * pitch + v * kLanes) = sums[row][v];
}

}  // namespace detail

// scores (kRows, scores_pitch), of a group of keys, = q (kRows, pitch) * keys. Of the scores only
// the first `count` mean something; pitch is a multiple of kGroupKeys.
template <int kLanes, int kRows>
WW_VECTORISED inline void score_keys(FloatRows keys, int count, const float* q, int pitch,
                                     float* scores, int scores_pitch) {
  for (int first = 0; first < count; first += kLanes) {
    const float* rows[kLanes];
    for (int i = 0; i < kLanes; ++i)
      rows[i] = keys.at + std::min(first + i, count - 1) * keys.stride;
    Floats<kLanes> sums[kRows] = {};
    for (int at = 0; at < pitch; at += kLanes) {
      Floats<kLanes> block[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) block[i] = lanes_anywhere<kLanes>(rows[i] + at);
      detail::exchange_blocks<kLanes, 1>(block);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i)
#pragma GCC unroll 4
        for (int row = 0; row < kRows; ++row) sums[row] += block[i] * q[row * pitch + at + i];
    }
#pragma GCC unroll 4
    for (int row = 0; row < kRows; ++row)
      lanes<kLanes>(scores + row * scores_pitch + first) = sums[row];
  }
}

// out (kRows, pitch) += weights (kRows, weights_pitch) * values, of `count` keys; pitch is a
// multiple of kGroupKeys.
template <int kLanes, int kRows>
WW_VECTORISED inline void add_weighted(FloatRows values, int count, const float* weights,
                                       int weights_pitch, float* out, int pitch) {
  // So many sums hide the latency of an FMA.
  constexpr int kVectors = 8 / kRows;
  int at = 0;
  for (; at + kVectors * kLanes <= pitch; at += kVectors * kLanes)
    detail::add_columns<kLanes, kRows, kVectors>({values.at + at, values.stride}, count, weights,
                                                 weights_pitch, out + at, pitch);
  for (; at < pitch; at += kLanes)
    detail::add_columns<kLanes, kRows, 1>({values.at + at, values.stride}, count, weights,
                                          weights_pitch, out + at, pitch);
}

}  // namespace ww
