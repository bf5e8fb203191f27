// The mean square of a row on the CPU.
#pragma once

#include <cmath>
#include <type_traits>

#include "warpwright/mean_square.h"
#include "warpwright/rows_cpu.h"

namespace ww {

// Of a row times scaling^2, between begin and end.
template <typename T>
WW_VECTORISED inline double sum_squares(const T* h, int begin, int end, float scaling) {
  double total = 0.0;
  FloatBlock block;
  each_block(begin, end, [&](int at, int count) WW_VECTORISED {
    const auto* values = read_block(h + at, count, block);
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < count; ++i) {
      const float value = to_float(values[i]) * (scaling * scaling);
      sum += value * value;
    }
    total += sum;
  });
  return total;
}

// A row's 1 / sqrt(mean(h^2) + eps), and what its sum of squares had to be taken with.
struct RowRstd {
  float scaling = 1.0f;
  float rstd = 0.0f;  // of the row times scaling^2

  // Takes the sum of all squares of a row of T; false if they have to be summed again, with
  // another scaling.
  template <typename T, RowParams P>
  bool settle(const P& params, double sum_sq) {
    const double eps = static_cast<double>(params.eps) * std::pow(scaling, 4);
    const double mean_sq = sum_sq / params.hidden_size + eps;
    if (scaling == 1.0f && !std::is_same_v<T, float16>) {
      scaling = rescaling(static_cast<float>(mean_sq));
      if (scaling != 1.0f) return false;
    }
    rstd = static_cast<float>(1.0 / std::sqrt(mean_sq));
    return true;
  }
};

}  // namespace ww
