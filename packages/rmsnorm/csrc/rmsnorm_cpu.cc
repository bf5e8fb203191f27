// RMSNorm on the CPU: the same result as rmsnorm.cu within rounding. Rows are shared out over the
// threads, a few long ones part by part; a row is read from memory once, and for the output from
// the cache.

#include <type_traits>

#include "rmsnorm.h"
#include "warpwright/dispatch.h"
#include "warpwright/mean_square_cpu.h"
#include "warpwright/rows_cpu.h"

namespace ww {
namespace {

// out = h * rstd * (weight + weight_offset); with llama casting the first product and the weight
// are rounded to T.
template <typename T, bool kLlama, typename W>
WW_VECTORISED inline void write_out(const T* h, const W* weight, T* out, int begin, int end,
                                    RowRstd norm, float weight_offset) {
  FloatBlock hs;
  FloatBlock weights;
  FloatBlock outs;
  each_block(begin, end, [&](int at, int count) WW_VECTORISED {
    const auto* x = read_block(h + at, count, hs);
    const auto* w = read_param(weight, at, count, weights);
    auto* results = block_for(out + at, outs);
#pragma omp simd
    for (int i = 0; i < count; ++i) {
      float y = (to_float(x[i]) * norm.scaling) * (norm.rstd * norm.scaling);
      if constexpr (kLlama) y = to_float(from_float<T>(y));
      if constexpr (!std::is_same_v<W, NoParam>) {
        float scale = to_float(w[i]) + weight_offset;
        if constexpr (kLlama) scale = to_float(from_float<T>(scale));
        y *= scale;
      }
      results[i] = from_float<InLoop<T>>(y);
    }
    write_block(results, count, out + at);
  });
}

// One row, and the steps of its norm over any part of it.
template <typename T>
struct Row {
  const RmsNormParams& params;
  const int64_t row;
  const AddedRow<T> h{params, row};
  RowRstd norm{};

  WW_VECTORISED double squares(int begin, int end) const {
    return sum_squares(h.h, begin, end, norm.scaling);
  }

  // Takes the sum of all squares; false if they have to be summed again, with another scaling.
  bool settle(double sum_sq) {
    if (!norm.settle<T>(params, sum_sq)) return false;
    if (params.rstd != nullptr) params.rstd[row] = norm.rstd * norm.scaling * norm.scaling;
    return true;
  }

  WW_VECTORISED void write(int begin, int end) const {
    T* out = params.out.row<T>(params.grid, row);
    const float offset = params.weight_offset;
    with_param<T>(params.weight, params.weight_dtype, [&](const auto* weight) WW_VECTORISED {
      if (params.casting == RmsNormCasting::llama && !std::is_same_v<T, float>)
        write_out<T, true>(h.h, weight, out, begin, end, norm, offset);
      else
        write_out<T, false>(h.h, weight, out, begin, end, norm, offset);
    });
  }
};

}  // namespace

cudaError_t rmsnorm_fwd_cpu(const RmsNormParams& params, const ThreadPool& pool) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (has_no_rows(params)) return cudaSuccess;
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    for_each_row(params, pool, [&](int64_t index, const auto& parts) WW_VECTORISED {
      Row<T> row{params, index};
      parts.each([&](int begin, int end) WW_VECTORISED { row.h.add(begin, end); });
      double sum_sq = 0.0;
      do {
        sum_sq =
            parts.sum([&](int begin, int end) WW_VECTORISED { return row.squares(begin, end); });
      } while (!row.settle(sum_sq));
      parts.each([&](int begin, int end) WW_VECTORISED { row.write(begin, end); });
    });
    return cudaSuccess;
  });
}

}  // namespace ww
