// L2 normalisation on the CPU: the same result as new_kernel.cu within rounding. Rows are shared
// out over the threads, a few long ones part by part; a row is read from memory once, and for the
// output from the cache.

#include <algorithm>
#include <cmath>

#include "new_kernel.h"
#include "warpwright/dispatch.h"
#include "warpwright/rows_cpu.h"

namespace ww {
namespace {

template <typename T>
WW_VECTORISED inline double sum_squares(const T* x, int begin, int end) {
  double total = 0.0;
  for (int block = begin; block < end; block += kSumBlock) {
    const int block_end = std::min(block + kSumBlock, end);
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int i = block; i < block_end; ++i) {
      const float value = to_float(x[i]);
      sum += value * value;
    }
    total += sum;
  }
  return total;
}

template <typename T>
WW_VECTORISED inline void write_scaled(const T* x, T* out, int begin, int end, float factor) {
#pragma omp simd
  for (int i = begin; i < end; ++i) out[i] = from_float<T>(to_float(x[i]) * factor);
}

}  // namespace

cudaError_t new_kernel_fwd_cpu(const NewKernelParams& params, const ThreadPool& pool) {
  if (!has_valid_rows(params)) return cudaErrorInvalidValue;
  if (has_no_rows(params)) return cudaSuccess;
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    for_each_row(params, pool, [&](int64_t row, const auto& parts) WW_VECTORISED {
      const T* x = params.x.row<const T>(params.grid, row);
      T* out = params.out.row<T>(params.grid, row);
      const double sum_sq =
          parts.sum([&](int begin, int end) WW_VECTORISED { return sum_squares(x, begin, end); });
      const float inverse = static_cast<float>(1.0 / std::sqrt(sum_sq + params.eps));
      if (params.inverse != nullptr) params.inverse[row] = inverse;
      parts.each([&](int begin, int end)
                     WW_VECTORISED { write_scaled(x, out, begin, end, inverse); });
    });
    return cudaSuccess;
  });
}

}  // namespace ww
