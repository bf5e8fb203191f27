// LayerNorm on the CPU: the same result as layernorm.cu within rounding. Rows are shared out over
// the threads, a few long ones part by part; a row is read from memory once, and for the output,
// which is written for some rows together, from the cache.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "layernorm.h"
#include "moments.h"
#include "warpwright/dispatch.h"
#include "warpwright/rows_cpu.h"

namespace ww {
namespace {

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

// Rows whose outputs are written together, so many elements of each in turn: they share the weight
// and the bias in the first-level cache, which a row of each, of x and of out outgrow. The rows
// themselves have to stay in the second-level cache until then.
constexpr int kMaxGroup = 4;
constexpr int kGroupBytes = 64 << 10;
template <typename T>
constexpr int kWriteBlock = sizeof(InLoop<T>) == sizeof(float) ? 128 : 512;

// A row, and what was found of it.
template <typename T>
struct Row {
  const T* h;
  T* out;
  Moments<Scaled> moments;
  float rstd;
};

// out = (h - mean) * rstd * weight + bias. Moments by value, for the compiler to see that they
// stay.
template <typename T, typename W, typename B>
WW_VECTORISED inline void write_out(const T* h, const W* w, const B* b, T* out, int count,
                                    Moments<Scaled> moments, float rstd) {
  FloatBlock hs;
  FloatBlock outs;
  const auto* x = read_block(h, count, hs);
  auto* results = block_for(out, outs);
#pragma omp simd
  for (int i = 0; i < count; ++i) {
    float y = moments.centred<T>(to_float(x[i])) * rstd;
    if constexpr (!std::is_same_v<W, NoParam>) y *= to_float(w[i]);
    if constexpr (!std::is_same_v<B, NoParam>) y += to_float(b[i]);
    results[i] = from_float<InLoop<T>>(y);
  }
  write_block(results, count, out);
}

template <typename T, typename W, typename B>
WW_VECTORISED inline void write_rows(const Row<T>* rows, int num_rows, const W* weight,
                                     const B* bias, int begin, int end) {
  FloatBlock weights;
  FloatBlock biases;
  each_block<kWriteBlock<T>>(begin, end, [&](int at, int count) WW_VECTORISED {
    const auto* w = read_param(weight, at, count, weights);
    const auto* b = read_param(bias, at, count, biases);
    for (const Row<T>* row = rows; row < rows + num_rows; ++row)
      write_out(row->h + at, w, b, row->out + at, count, row->moments, row->rstd);
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
WW_VECTORISED inline Row<T> read_row(const LayerNormParams& params, int64_t row,
                                     const Parts& parts) {
  const double inverse_size = 1.0 / params.hidden_size;
  const AddedRow<T> added(params, row);
  parts.each([&](int begin, int end) WW_VECTORISED { added.add(begin, end); });

  Moments<Scaled> moments;
  Deviations deviations;
  do {
    deviations = parts.sum([&](int begin, int end) WW_VECTORISED {
      return sum_deviations(added.h, begin, end, moments);
    });
  } while (moments.settle<T>(deviations.sum, deviations.squares, inverse_size, params.eps) ==
           Fit::again);
  const float rstd = store_stats(params, row, moments);
  return {added.h, params.out.row<T>(params.grid, row), moments, rstd};
}

template <typename T, typename Parts>
WW_VECTORISED inline void normalize_rows(const LayerNormParams& params, int64_t first, int count,
                                         const Parts& parts) {
  Row<T> rows[kMaxGroup];
  for (int i = 0; i < count; ++i) rows[i] = read_row<T>(params, first + i, parts);
  with_param<T>(params.weight, params.weight_dtype, [&](const auto* weight) WW_VECTORISED {
    with_param<T>(params.bias, params.bias_dtype, [&](const auto* bias) WW_VECTORISED {
      parts.each([&](int begin, int end)
                     WW_VECTORISED { write_rows(rows, count, weight, bias, begin, end); });
    });
  });
}

}  // namespace

cudaError_t layernorm_fwd_cpu(const LayerNormParams& params, const ThreadPool& pool) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (has_no_rows(params)) return cudaSuccess;
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    const int fitting = kGroupBytes / static_cast<int>(sizeof(T)) / params.hidden_size;
    for_each_group(params, pool, std::clamp(fitting, 1, kMaxGroup),
                   [&](int64_t first, int count, const auto& parts)
                       WW_VECTORISED { normalize_rows<T>(params, first, count, parts); });
    return cudaSuccess;
  });
}

}  // namespace ww
