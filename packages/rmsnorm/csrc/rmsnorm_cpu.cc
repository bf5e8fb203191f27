// RMSNorm on the CPU: the same result as rmsnorm.cu within rounding. Rows are shared out over the
// threads; a row is read from memory once, and for the output from the cache.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "rmsnorm.h"
#include "warpwright/dispatch.h"

namespace ww {
namespace {

// Squares are summed in float over this many elements and those sums in double, so that the error
// does not grow with the row.
constexpr int kSumBlock = 1024;
// As in rmsnorm_row.cuh: rows whose squares overflow float are summed again, scaled down.
constexpr float kShrink = 0x1p-80f;
// Elements that make waking another thread worth while.
constexpr int64_t kGrainElements = 16384;

// h = x + residual, rounded once.
template <typename T>
WW_VECTORISED inline void add_row(const T* x, const T* residual, T* h, int size) {
  for (int i = 0; i < size; ++i) h[i] = from_float<T>(to_float(x[i]) + to_float(residual[i]));
}

template <typename T>
WW_VECTORISED inline double sum_squares(const T* h, int size, float shrink) {
  double total = 0.0;
  for (int begin = 0; begin < size; begin += kSumBlock) {
    const int end = std::min(begin + kSumBlock, size);
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int i = begin; i < end; ++i) {
      const float value = to_float(h[i]) * shrink;
      sum += value * value;
    }
    total += sum;
  }
  return total;
}

// A missing weight, for which no product is formed.
struct NoWeight {};

// out = h * rstd * (weight + weight_offset); with llama casting the first product and the weight
// are rounded to T.
template <typename T, typename W, bool kLlama>
WW_VECTORISED inline void write_row(const T* h, const W* weight, T* out, int size, float shrink,
                                    float rstd, float weight_offset) {
#pragma omp simd
  for (int i = 0; i < size; ++i) {
    float y = to_float(h[i]) * shrink * rstd;
    if constexpr (kLlama) y = to_float(from_float<T>(y));
    if constexpr (!std::is_same_v<W, NoWeight>) {
      float scale = to_float(weight[i]) + weight_offset;
      if constexpr (kLlama) scale = to_float(from_float<T>(scale));
      y *= scale;
    }
    out[i] = from_float<T>(y);
  }
}

template <typename T, typename W, bool kLlama>
WW_VECTORISED inline void rmsnorm_row(const RmsNormParams& params, int64_t row) {
  const int size = params.hidden_size;
  const T* h = params.x.row<const T>(params.grid, row);
  if (params.residual.data != nullptr) {
    T* sum = params.residual_out.row<T>(params.grid, row);
    add_row(h, params.residual.row<const T>(params.grid, row), sum, size);
    h = sum;
  }
  float shrink = 1.0f;
  double sum_sq = sum_squares(h, size, shrink);
  if (std::isinf(sum_sq)) {
    shrink = kShrink;
    sum_sq = sum_squares(h, size, shrink);
  }
  const double shrunk_eps = static_cast<double>(params.eps) * shrink * shrink;
  const auto rstd = static_cast<float>(1.0 / std::sqrt(sum_sq / size + shrunk_eps));
  if (params.rstd != nullptr) params.rstd[row] = rstd * shrink;
  write_row<T, W, kLlama>(h, static_cast<const W*>(params.weight),
                          params.out.row<T>(params.grid, row), size, shrink, rstd,
                          params.weight_offset);
}

template <typename T, typename W>
void rmsnorm_rows(const RmsNormParams& params, const ThreadPool& pool) {
  const int64_t grain = std::max<int64_t>(kGrainElements / params.hidden_size, 1);
  pool.parallel_for(params.grid.num_rows(), grain, [&](int64_t begin, int64_t end) {
    vectorised([&]() WW_VECTORISED {
      const bool llama = params.casting == RmsNormCasting::llama && !std::is_same_v<T, float>;
      for (int64_t row = begin; row < end; ++row) {
        if (llama)
          rmsnorm_row<T, W, true>(params, row);
        else
          rmsnorm_row<T, W, false>(params, row);
      }
    });
  });
}

}  // namespace

cudaError_t rmsnorm_fwd_cpu(const RmsNormParams& params, const ThreadPool& pool) {
  if (params.grid.num_rows() == 0 || params.hidden_size == 0) return cudaSuccess;
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    if (params.weight == nullptr)
      rmsnorm_rows<T, NoWeight>(params, pool);
    else if (params.weight_dtype == Dtype::f32)
      rmsnorm_rows<T, float>(params, pool);
    else
      rmsnorm_rows<T, T>(params, pool);
    return cudaSuccess;
  });
}

}  // namespace ww
