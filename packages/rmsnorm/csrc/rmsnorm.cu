// RMSNorm forward: out = h * rstd * (weight + weight_offset), rstd = 1 / sqrt(mean(h^2) + eps),
// with h = x, or h = x + residual rounded to the dtype. A row belongs to a warp, a block or a
// cluster of blocks, by its length; it is read once and kept in registers. Only rows too long for
// that are read twice.

#include "rmsnorm.h"
#include "rmsnorm_row.cuh"
#include "warpwright/dispatch.h"
#include "warpwright/row_kernel.cuh"

namespace ww {
namespace {

template <typename T, int kTuning, bool kAligned>
__global__ void __launch_bounds__(RowThread<kTuning>::kBlockThreads, RowThread<kTuning>::kMinBlocks)
    rmsnorm_fwd_kernel(const RmsNormParams params) {
  using Thread = RowThread<kTuning>;
  const Thread thread(ceil_div(params.hidden_size, Vec<T>::kSize));
  const int64_t num_rows = params.grid.num_rows();
  typename Thread::template Reduce<Sum> row_sum;
  for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
    Vec<T> h[Thread::kVecs];
    thread.each_vec([&](int i, int vec) { h[i] = load_added<T, kAligned>(params, row, vec); });

    float sum_sq = 0.0f;
    thread.each_vec([&](int i, int) { sum_sq += sum_squares(h[i], 1.0f); });
    float mean_sq = mean_square(params, row_sum(sum_sq), 1.0f);
    const float scaling = rescaling_of<T>(mean_sq);
    if (scaling != 1.0f) {
      sum_sq = 0.0f;
      thread.each_vec([&](int i, int) { sum_sq += sum_squares(h[i], scaling); });
      mean_sq = mean_square(params, row_sum(sum_sq), scaling);
    }
    const float rstd = rsqrtf(mean_sq);
    if (thread.is_first() && params.rstd != nullptr) params.rstd[row] = rstd * scaling * scaling;

    T* out = params.out.row<T>(params.grid, row);
    thread.each_vec([&](int i, int vec) {
      const Vec<T> y = normalize<T, kAligned>(params, h[i], vec, scaling, rstd);
      store_vec<T, kAligned>(y, out, vec, params.hidden_size);
    });
  }
  thread.leave();
}

// A block for each row of any length; h is read again for the output.
template <typename T, bool kAligned>
__global__ void __launch_bounds__(LongRowThread::kBlockThreads, LongRowThread::kMinBlocks)
    rmsnorm_fwd_long_kernel(const RmsNormParams params) {
  const LongRowThread thread(ceil_div(params.hidden_size, Vec<T>::kSize));
  const int64_t num_rows = params.grid.num_rows();
  LongRowThread::Reduce<Sum> row_sum;
  for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
    // In double, since a thread may add up to 2^18 vectors.
    double sum_sq = 0.0;
    thread.each_vec([&](int vec) {
      Vec<T> h = load_added<T, kAligned>(params, row, vec);
      sum_sq += sum_squares(h, 1.0f);
    });
    float mean_sq = mean_square(params, row_sum(static_cast<float>(sum_sq)), 1.0f);
    const float scaling = rescaling_of<T>(mean_sq);
    if (scaling != 1.0f) {
      sum_sq = 0.0;
      thread.each_vec([&](int vec) {
        Vec<T> h = reload_added<T, kAligned>(params, row, vec);
        sum_sq += sum_squares(h, scaling);
      });
      mean_sq = mean_square(params, row_sum(static_cast<float>(sum_sq)), scaling);
    }
    const float rstd = rsqrtf(mean_sq);
    if (thread.is_first() && params.rstd != nullptr) params.rstd[row] = rstd * scaling * scaling;

    T* out = params.out.row<T>(params.grid, row);
    thread.each_vec([&](int vec) {
      const Vec<T> h = reload_added<T, kAligned>(params, row, vec);
      const Vec<T> y = normalize<T, kAligned>(params, h, vec, scaling, rstd);
      store_vec<T, kAligned>(y, out, vec, params.hidden_size);
    });
  }
}

template <typename T, bool kAligned>
cudaError_t launch_rmsnorm(const RmsNormParams& params, cudaStream_t stream) {
  const auto held = [](auto kTuning) { return rmsnorm_fwd_kernel<T, kTuning, kAligned>; };
  return launch_rows<T>(params, stream, held, rmsnorm_fwd_long_kernel<T, kAligned>);
}

}  // namespace

cudaError_t rmsnorm_fwd(const RmsNormParams& params, cudaStream_t stream) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (has_no_rows(params)) return cudaSuccess;
  const bool aligned = is_aligned(
      params, {params.x, params.residual, params.out, params.residual_out}, {params.weight});
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    return dispatch_bool(
        aligned, [&](auto kAligned) { return launch_rmsnorm<T, kAligned>(params, stream); });
  });
}

}  // namespace ww
