// out = H16(x * rstd * weight) / 4 over each 16 columns, rstd = 1 / sqrt(mean(x^2) + eps), and
// amax, the largest |out| of each rows_per_cta rows before it is rounded. A warp, a block or a
// cluster of blocks, by the length of a row, has the rows of one amax one after the other, and no
// other block writes it. A row is read once, while the row before it is computed, and kept in
// registers; only rows too long for that are read twice. The weight is read again for each row,
// from the cache. A block of 16 columns is in 2 lanes of 16-bit elements or 4 of float32.

#include "rmsnorm_rht_amax.h"
#include "rmsnorm_rht_amax_row.cuh"
#include "warpwright/dispatch.h"
#include "warpwright/mean_square.cuh"
#include "warpwright/row_kernel.cuh"

namespace ww {
namespace {

// Beyond, two rows do not fit in the registers of 512 threads.
constexpr int kMaxVecsAhead = 8;

template <typename T, bool kAligned, typename Thread>
__device__ void load_row(const RmsnormRhtAmaxParams& params, const Thread& thread, int64_t row,
                         Vec<T> (&x)[Thread::kVecs]) {
  const T* x_row = params.x.row<const T>(params.grid, row);
  thread.each_vec(
      [&](int i, int vec) { x[i] = load_vec<T, kAligned>(x_row, vec, params.hidden_size); });
}

// One row, which every thread of it has its vectors of.
template <typename T, bool kAligned, typename Thread, typename RowSum>
__device__ void write_row(const RmsnormRhtAmaxParams& params, const Thread& thread, RowSum& row_sum,
                          int64_t row, Vec<T> (&x)[Thread::kVecs], Peak& peak) {
  float sum_sq = 0.0f;
  thread.each_vec([&](int i, int) { sum_sq += sum_squares(x[i], 1.0f); });
  float mean_sq = mean_square(params, row_sum(sum_sq), 1.0f);
  const float scaling = rescaling_of<T>(mean_sq);
  if (scaling != 1.0f) {
    sum_sq = 0.0f;
    thread.each_vec([&](int i, int) { sum_sq += sum_squares(x[i], scaling); });
    mean_sq = mean_square(params, row_sum(sum_sq), scaling);
  }
  const float rstd = rsqrtf(mean_sq);
  T* out = params.out.row<T>(params.grid, row);
  thread.each_warp_vec([&](int i, int vec, bool inside) {
    write_vec<T, kAligned>(params, x[i], out, vec, inside, scaling, rstd, peak);
  });
}

template <typename T, int kTuning, bool kAligned>
__global__ void __launch_bounds__(RowThread<kTuning>::kBlockThreads, RowThread<kTuning>::kMinBlocks)
    rmsnorm_rht_amax_fwd_kernel(const RmsnormRhtAmaxParams params) {
  using Thread = RowThread<kTuning>;
  constexpr bool kAhead = Thread::kVecs <= kMaxVecsAhead;
  const Thread thread(params.hidden_size / Vec<T>::kSize);
  const int64_t num_groups = params.num_groups();
  typename Thread::template Reduce<Sum> row_sum;
  typename Thread::template Reduce<Max> group_max;
  for (int64_t group = thread.first_row; group < num_groups; group += thread.row_stride) {
    const int64_t first = group * params.rows_per_cta;
    const int64_t end = first + params.rows_per_cta;
    Peak peak;
    Vec<T> next[Thread::kVecs]{};
    load_row<T, kAligned>(params, thread, first, next);
    for (int64_t row = first; row < end; ++row) {
      Vec<T> x[Thread::kVecs];
#pragma unroll
      for (int i = 0; i < Thread::kVecs; ++i) x[i] = next[i];
      if (kAhead && row + 1 < end) load_row<T, kAligned>(params, thread, row + 1, next);
      write_row<T, kAligned>(params, thread, row_sum, row, x, peak);
      if (!kAhead && row + 1 < end) load_row<T, kAligned>(params, thread, row + 1, next);
    }
    const float amax = group_max(peak.value(params.ignore_nan));
    if (thread.is_first()) params.amax[group] = amax;
  }
  thread.leave();
}

// A block for the rows of one amax, of any length; x is read again for the output.
template <typename T, bool kAligned>
__global__ void __launch_bounds__(LongRowThread::kBlockThreads, LongRowThread::kMinBlocks)
    rmsnorm_rht_amax_fwd_long_kernel(const RmsnormRhtAmaxParams params) {
  const int n = params.hidden_size;
  const LongRowThread thread(n / Vec<T>::kSize);
  const int64_t num_groups = params.num_groups();
  LongRowThread::Reduce<Sum> row_sum;
  LongRowThread::Reduce<Max> group_max;
  for (int64_t group = thread.first_row; group < num_groups; group += thread.row_stride) {
    Peak peak;
    for (int64_t i = 0; i < params.rows_per_cta; ++i) {
      const int64_t row = group * params.rows_per_cta + i;
      const T* x = params.x.row<const T>(params.grid, row);
      const auto sum_row = [&](float scaling) {
        double sum_sq = 0.0;  // since a thread may add up to 2^18 vectors
        thread.each_vec([&](int vec) {
          Vec<T> loaded = load_vec<T, kAligned>(x, vec, n);
          sum_sq += sum_squares(loaded, scaling);
        });
        return mean_square(params, row_sum(static_cast<float>(sum_sq)), scaling);
      };
      float mean_sq = sum_row(1.0f);
      const float scaling = rescaling_of<T>(mean_sq);
      if (scaling != 1.0f) mean_sq = sum_row(scaling);
      const float rstd = rsqrtf(mean_sq);
      T* out = params.out.row<T>(params.grid, row);
      thread.each_warp_vec([&](int vec, bool inside) {
        Vec<T> loaded{};
        if (inside) loaded = load_vec<T, kAligned>(x, vec, n);
        write_vec<T, kAligned>(params, loaded, out, vec, inside, scaling, rstd, peak);
      });
    }
    const float amax = group_max(peak.value(params.ignore_nan));
    if (thread.is_first()) params.amax[group] = amax;
  }
}

template <typename T, bool kAligned>
cudaError_t launch_rmsnorm_rht_amax(const RmsnormRhtAmaxParams& params, cudaStream_t stream) {
  const RowShare share{.count = params.num_groups(), .min_threads = params.num_threads};
  const auto held = [](auto kTuning) { return rmsnorm_rht_amax_fwd_kernel<T, kTuning, kAligned>; };
  return launch_rows<T>(params, share, stream, held, rmsnorm_rht_amax_fwd_long_kernel<T, kAligned>);
}

}  // namespace

cudaError_t rmsnorm_rht_amax_fwd(const RmsnormRhtAmaxParams& params, cudaStream_t stream) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (has_no_rows(params)) return cudaSuccess;
  const bool aligned = is_aligned(params, {params.x, params.out}, {params.weight});
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    return dispatch_bool(aligned, [&](auto kAligned) {
      return launch_rmsnorm_rht_amax<T, kAligned>(params, stream);
    });
  });
}

}  // namespace ww
