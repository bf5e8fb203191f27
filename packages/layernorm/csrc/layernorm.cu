// LayerNorm forward: out = (h - mean(h)) * rstd * weight + bias, rstd = 1 / sqrt(var(h) + eps),
// with h = x, or h = x + residual rounded to the dtype. A row belongs to a warp, a block or a
// cluster of blocks, by its length; it is read once and kept in registers, where the mean is found
// before the deviations from it. Only rows too long for that are read three times.

#include <algorithm>

#include "layernorm.h"
#include "layernorm_row.cuh"
#include "moments.h"
#include "warpwright/dispatch.h"
#include "warpwright/row_kernel.cuh"

namespace ww {
namespace {

// The large blocks ask for one at least: left the choice, the compiler spills registers for two.
template <int kTuning>
constexpr int kMinBlocks =
    RowThread<kTuning>::kBlockThreads < 512 ? RowThread<kTuning>::kMinBlocks
                                            : std::max(RowThread<kTuning>::kMinBlocks, 1);

template <typename T, int kTuning, bool kAligned>
__global__ void __launch_bounds__(RowThread<kTuning>::kBlockThreads, kMinBlocks<kTuning>)
    layernorm_fwd_kernel(const LayerNormParams params) {
  using Thread = RowThread<kTuning>;
  const int size = params.hidden_size;
  const Thread thread(ceil_div(size, Vec<T>::kSize));
  const int64_t num_rows = params.grid.num_rows();
  typename Thread::template Reduce<Sum> row_sum;
  typename Thread::template Reduce<PairSum> row_sums;
  for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
    Vec<T> h[Thread::kVecs];
    thread.each_vec([&](int i, int vec) { h[i] = load_added<T, kAligned>(params, row, vec); });

    Moments moments;
    Pair<float> sums;
    do {
      if (!moments.has_mean) {
        float sum = 0.0f;
        thread.each_vec([&](int i, int) { sum += sum_of(moments, h[i]); });
        moments.start(row_sum(sum), size);
      }
      sums = {0.0f, 0.0f};
      thread.each_vec([&](int i, int vec) {
        const int count = size - vec * Vec<T>::kSize;
        sums = PairSum()(sums, deviations_of<T, kAligned>(moments, h[i], count));
      });
      sums = row_sums(sums);
    } while (!moments.settle<T>(sums.first, sums.second, size, params.eps));
    const float rstd = rsqrtf(moments.variance);
    if (thread.is_first()) store_stats(params, row, moments, rstd);

    T* out = params.out.row<T>(params.grid, row);
    thread.each_vec([&](int i, int vec) {
      const Vec<T> y = normalize<T, kAligned>(params, moments, rstd, h[i], vec);
      store_vec<T, kAligned>(y, out, vec, size);
    });
  }
  thread.leave();
}

// A block for each row of any length; h is read again for the deviations and for the output.
template <typename T, bool kAligned>
__global__ void __launch_bounds__(LongRowThread::kBlockThreads, LongRowThread::kMinBlocks)
    layernorm_fwd_long_kernel(const LayerNormParams params) {
  const int size = params.hidden_size;
  const LongRowThread thread(ceil_div(size, Vec<T>::kSize));
  const int64_t num_rows = params.grid.num_rows();
  LongRowThread::Reduce<Sum> row_sum;
  LongRowThread::Reduce<PairSum> row_sums;
  for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
    // Sums in double, since a thread may add up to 2^18 vectors.
    Moments moments;
    Pair<float> sums;
    do {
      if (!moments.has_mean) {
        double sum = 0.0;
        thread.each_vec([&](int vec) {
          // The first time of all, a residual is added.
          Vec<T> h = moments.shrink == 1.0f ? load_added<T, kAligned>(params, row, vec)
                                            : reload_added<T, kAligned>(params, row, vec);
          sum += sum_of(moments, h);
        });
        moments.start(row_sum(static_cast<float>(sum)), size);
      }
      double sum = 0.0;
      double sum_sq = 0.0;
      thread.each_vec([&](int vec) {
        Vec<T> h = reload_added<T, kAligned>(params, row, vec);
        const auto part = deviations_of<T, kAligned>(moments, h, size - vec * Vec<T>::kSize);
        sum += part.first;
        sum_sq += part.second;
      });
      sums = row_sums({static_cast<float>(sum), static_cast<float>(sum_sq)});
    } while (!moments.settle<T>(sums.first, sums.second, size, params.eps));
    const float rstd = rsqrtf(moments.variance);
    if (thread.is_first()) store_stats(params, row, moments, rstd);

    T* out = params.out.row<T>(params.grid, row);
    thread.each_vec([&](int vec) {
      const Vec<T> h = reload_added<T, kAligned>(params, row, vec);
      const Vec<T> y = normalize<T, kAligned>(params, moments, rstd, h, vec);
      store_vec<T, kAligned>(y, out, vec, size);
    });
  }
}

template <typename T, bool kAligned>
cudaError_t launch_layernorm(const LayerNormParams& params, cudaStream_t stream) {
  const auto held = [](auto kTuning) { return layernorm_fwd_kernel<T, kTuning, kAligned>; };
  return launch_rows<T>(params, stream, held, layernorm_fwd_long_kernel<T, kAligned>);
}

}  // namespace

cudaError_t layernorm_fwd(const LayerNormParams& params, cudaStream_t stream) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (has_no_rows(params)) return cudaSuccess;
  const bool aligned =
      is_aligned(params, {params.x, params.residual, params.out, params.residual_out},
                 {params.weight, params.bias});
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    return dispatch_bool(
        aligned, [&](auto kAligned) { return launch_layernorm<T, kAligned>(params, stream); });
  });
}

}  // namespace ww
