// LayerNorm on the CPU: the same result as layernorm.cu within rounding. Rows are shared out over
// the threads, a few long ones part by part; a row is read from memory once, and for the deviations
// and the output from the cache.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "layernorm.h"
#include "moments.h"
#include "warpwright/dispatch.h"
#include "warpwright/rows_cpu.h"

namespace ww {
namespace {

template <typename T>
WW_VECTORISED inline double sum_row(const T* h, int begin, int end,
                                    const Moments<Scaled>& moments) {
  double total = 0.0;
  FloatBlock block;
  each_block(begin, end, [&](int at, int count) WW_VECTORISED {
    const auto* values = read_block(h + at, count, block);
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < count; ++i) sum += moments.shrunk(to_float(values[i]));
    total += sum;
  });
  return total;
}

// Sums of the deviations from the mean, and of their squares, grown.
struct Deviations {
  double sum = 0.0;
  double squares = 0.0;

  Deviations& operator+=(const Deviations& other) {
    sum += other.sum;
    squares += other.squares;
    return *this;
  }
};

template <typename T>
WW_VECTORISED inline Deviations sum_deviations(const T* h, int begin, int end,
                                               Moments<Scaled> moments) {
  Deviations total;
  FloatBlock block;
  each_block(begin, end, [&](int at, int count) WW_VECTORISED {
    const auto* values = read_block(h + at, count, block);
    float sum = 0.0f;
    float squares = 0.0f;
#pragma omp simd reduction(+ : sum, squares)
    for (int i = 0; i < count; ++i) {
      const float deviation = moments.deviation(to_float(values[i]));
      const float grown = deviation * moments.grow;
      sum += deviation;
      squares += grown * grown;
    }
    total += {sum, squares};
  });
  return total;
}

// out = (h - mean) * rstd * weight + bias. Moments by value, for the compiler to see that they
// stay.
template <typename T, typename W, typename B>
WW_VECTORISED inline void write_out(const T* h, const W* weight, const B* bias, T* out, int begin,
                                    int end, Moments<Scaled> moments, float rstd) {
  FloatBlock hs;
  FloatBlock weights;
  FloatBlock biases;
  FloatBlock outs;
  each_block(begin, end, [&](int at, int count) WW_VECTORISED {
    const auto* x = read_block(h + at, count, hs);
    const auto* w = read_param(weight, at, count, weights);
    const auto* b = read_param(bias, at, count, biases);
    auto* results = block_for(out + at, outs);
#pragma omp simd
    for (int i = 0; i < count; ++i) {
      float y = moments.centred(to_float(x[i])) * rstd;
      if constexpr (!std::is_same_v<W, NoParam>) y *= to_float(w[i]);
      if constexpr (!std::is_same_v<B, NoParam>) y += to_float(b[i]);
      results[i] = from_float<InLoop<T>>(y);
    }
    write_block(results, count, out + at);
  });
}

// What there is one of for each row; returns rstd of the row shrunk and grown.
float store_stats(const LayerNormParams& params, int64_t row, const Moments<Scaled>& moments) {
  const float rstd = 1.0f / std::sqrt(moments.variance);
  if (params.mean != nullptr) params.mean[row] = moments.row_mean();
  if (params.rstd != nullptr) params.rstd[row] = moments.row_rstd(rstd);
  return rstd;
}

// One row on one thread or on all.
template <typename T, typename Parts>
WW_VECTORISED inline void normalize_row(const LayerNormParams& params, int64_t row,
                                        const Parts& parts) {
  const double inverse_size = 1.0 / params.hidden_size;
  const AddedRow<T> added(params, row);
  parts.each([&](int begin, int end) WW_VECTORISED { added.add(begin, end); });

  Moments<Scaled> moments;
  Deviations deviations;
  do {
    if (!moments.has_mean) {
      moments.start(parts.sum([&](int begin, int end)
                                  WW_VECTORISED { return sum_row(added.h, begin, end, moments); }),
                    inverse_size);
    }
    deviations = parts.sum([&](int begin, int end) WW_VECTORISED {
      return sum_deviations(added.h, begin, end, moments);
    });
  } while (!moments.settle<T>(deviations.sum, deviations.squares, inverse_size, params.eps));
  const float rstd = store_stats(params, row, moments);

  T* out = params.out.row<T>(params.grid, row);
  with_param<T>(params.weight, params.weight_dtype, [&](const auto* weight) WW_VECTORISED {
    with_param<T>(params.bias, params.bias_dtype, [&](const auto* bias) WW_VECTORISED {
      parts.each([&](int begin, int end) WW_VECTORISED {
        write_out(added.h, weight, bias, out, begin, end, moments, rstd);
      });
    });
  });
}

}  // namespace

cudaError_t layernorm_fwd_cpu(const LayerNormParams& params, const ThreadPool& pool) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (has_no_rows(params)) return cudaSuccess;
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    for_each_row(params, pool, [&](int64_t row, const auto& parts) WW_VECTORISED {
      normalize_row<T>(params, row, parts);
    });
    return cudaSuccess;
  });
}

}  // namespace ww
