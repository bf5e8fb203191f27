// out = H16(x * rstd * weight) / 4 over each 16 columns, rstd = 1 / sqrt(mean(x^2) + eps), and
// amax, the largest |out| of each rows_per_cta rows before it is rounded. A row is a warp's, a
// block's or a cluster's, by its length. The rows of one amax are shared out over the warps of a
// block, or follow each other, so that no other block writes it. A row is read once, while the row
// before it is computed, and kept in registers; only rows too long for that are read twice. The
// weight is read again for each row, from the cache. 16 columns are in 2 lanes of 16-bit elements
// or 4 of float32.

#include <algorithm>
#include <type_traits>

#include "rmsnorm_rht_amax.h"
#include "rmsnorm_rht_amax_row.cuh"
#include "warpwright/dispatch.h"
#include "warpwright/mean_square.cuh"
#include "warpwright/row_kernel.cuh"

namespace ww {
namespace {

// Registers that a thread needs to compute a row while the next one is on its way: both rows, a
// vector in four, and what the computation takes by itself.
constexpr int kRegisters = 65536;
constexpr int kOwnRegisters = 44;

template <typename Thread>
constexpr int kRegistersAhead = 2 * 4 * Thread::kVecs + kOwnRegisters;

// For two blocks on a multiprocessor at least: one alone waits at each barrier. Warps without
// barriers do better side by side, if their rows are not too short for that (measured on an H200).
template <typename Thread>
constexpr bool kRoomAhead = !Thread::kStaged && (Thread::kRowsPerBlock == 1 || Thread::kVecs < 3) &&
                            kRegistersAhead<Thread> * Thread::kBlockThreads * 2 <= kRegisters;

// Blocks on a multiprocessor: as many as that leaves room for, since loads that are in flight are
// what the memory's speed asks for.
template <typename Thread>
constexpr int kMinBlocks =
    kRoomAhead<Thread> ? kRegisters / (kRegistersAhead<Thread> * Thread::kBlockThreads)
                       : Thread::kMinBlocks;

// How many of a block's four warps share the rows of one amax, where a row is a warp's. Many groups
// keep the device busy without it, and without its barriers.
int warps_of_group(const RmsnormRhtAmaxParams& params) {
  constexpr int64_t kManyGroups = 2048;
  if (params.num_groups() > kManyGroups || params.rows_per_cta == 1) return 1;
  return params.rows_per_cta >= 4 ? 4 : 2;
}

// The rows of a group that one warp, or all threads of a longer row, have: every `step`th.
struct GroupRows {
  int64_t first;
  int64_t end;
  int64_t step;
};

// The largest value of the warps that share a group, `warps` neighbours.
class WarpsMax {
 public:
  __device__ float operator()(float value, int warps) {
    value = warp_reduce<Max>(value);
    if (warps == 1) return value;
    // Two buffers, so that one barrier is enough: a warp cannot be two groups ahead.
    __shared__ float maxima[2][kWarps];
    float* maximum = maxima[parity_];
    parity_ ^= 1;
    const int warp = threadIdx.x / kWarpSize;
    if (threadIdx.x % kWarpSize == 0) maximum[warp] = value;
    __syncthreads();
    for (int i = warp / warps * warps; i < (warp / warps + 1) * warps; ++i)
      value = Max{}(value, maximum[i]);
    return value;
  }

 private:
  static constexpr int kWarps = 4;
  int parity_ = 0;
};

// The largest value of a longer row's threads.
template <typename Thread>
class ThreadsMax {
 public:
  __device__ float operator()(float value, int) { return reduce_(value); }

 private:
  typename Thread::template Reduce<Max> reduce_;
};

// One row, which every thread of it has its vectors of.
template <typename T, typename Thread, typename RowSum>
__device__ void write_row(const RmsnormRhtAmaxParams& params, const Thread& thread, RowSum& row_sum,
                          int64_t row, typename Thread::Vecs& x, Peak& peak) {
  const float inverse_size = 1.0f / static_cast<float>(params.hidden_size);
  float sum_sq = 0.0f;
  thread.each_vec([&](int i, auto...) {
    auto&& vec = x[i];
    sum_sq += sum_squares(vec, 1.0f);
  });
  float mean_sq = mean_square(params, row_sum(sum_sq), 1.0f, inverse_size);
  const float scaling = rescaling_of<T>(mean_sq);
  if (scaling != 1.0f) {
    sum_sq = 0.0f;
    thread.each_vec([&](int i, auto...) {
      auto&& vec = x[i];
      sum_sq += sum_squares(vec, scaling);
    });
    mean_sq = mean_square(params, row_sum(sum_sq), scaling, inverse_size);
  }
  const float rstd = rsqrtf(mean_sq);
  T* out = params.out.row<T>(params.grid, row);
  const auto write = [&](auto kPlain) {
    thread.each_warp_vec([&](int i, int column, auto at, bool inside) {
      write_vec<T, at, kPlain>(params, x[i], out, column, inside, scaling, rstd, peak);
    });
  };
  // Twice the code takes registers that threads of many vectors do not have.
  constexpr bool kHasPlain = kRoomAhead<Thread> || Thread::kVecs <= 4;
  if (kHasPlain && is_plain<T>(params, scaling))
    write(std::true_type{});
  else
    write(std::false_type{});
}

// The rows of one group that are this thread's; returns the largest of their values that it has.
template <typename T, typename Thread, typename RowSum>
__device__ float write_rows(const RmsnormRhtAmaxParams& params, Thread& thread, RowSum& row_sum,
                            const GroupRows& rows) {
  constexpr bool kAhead = kRoomAhead<Thread>;
  Peak peak(params.ignore_nan);
  [[maybe_unused]] typename Thread::Vecs next;
  const auto fetch = [&](int64_t row, auto& vecs) {
    vecs.fetch(thread, params.x.row<const T>(params.grid, row), params.hidden_size);
  };
  if (kAhead && rows.first < rows.end) fetch(rows.first, next);
  for (int64_t row = rows.first; row < rows.end; row += rows.step) {
    typename Thread::Vecs x;
    if constexpr (kAhead) {
      x = next;
      const bool more = row + rows.step < rows.end;
      if (more) fetch(row + rows.step, next);
    } else {
      fetch(row, x);
    }
    x.arrive();
    // The next kernel's blocks, were they there for all of the rows, would be shared out unevenly.
    thread.meet(row + rows.step >= rows.end);
    write_row<T>(params, thread, row_sum, row, x, peak);
  }
  return peak.value();
}

template <typename T, int kTuning, bool kAligned>
__global__ void __launch_bounds__(RowThread<T, kTuning, kAligned>::kBlockThreads,
                                  kMinBlocks<RowThread<T, kTuning, kAligned>>)
    rmsnorm_rht_amax_fwd_kernel(const RmsnormRhtAmaxParams params) {
  using Thread = RowThread<T, kTuning, kAligned>;
  constexpr bool kWarpRows = Thread::kRowsPerBlock > 1;
  Thread thread(params.hidden_size);
  const int64_t num_groups = params.num_groups();
  const int warp = kWarpRows ? threadIdx.x / kWarpSize : 0;
  const int warps = kWarpRows ? params.group_warps : 1;
  typename Thread::template Reduce<Sum> row_sum;
  std::conditional_t<kWarpRows, WarpsMax, ThreadsMax<Thread>> group_max;
  // All warps of a block go round alike, since they meet at barriers.
  const int64_t stride = thread.row_stride / warps;
  for (int64_t base = (thread.first_row - warp) / warps; base < num_groups; base += stride) {
    const int64_t group = base + warp / warps;
    const int64_t begin = group * params.rows_per_cta;
    const int64_t end = group < num_groups ? begin + params.rows_per_cta : begin;
    const GroupRows rows{begin + warp % warps, end, warps};
    const float amax = group_max(write_rows<T>(params, thread, row_sum, rows), warps);
    if (thread.is_first() && warp % warps == 0 && group < num_groups) params.amax[group] = amax;
  }
}

// A block for the rows of one amax, of any length; x is read again for the output.
template <typename T, bool kAligned>
__global__ void __launch_bounds__(LongRowThread<T, kAligned>::kBlockThreads,
                                  LongRowThread<T, kAligned>::kMinBlocks)
    rmsnorm_rht_amax_fwd_long_kernel(const RmsnormRhtAmaxParams params) {
  const int n = params.hidden_size;
  using Thread = LongRowThread<T, kAligned>;
  const Thread thread(n);
  const float inverse_size = 1.0f / static_cast<float>(n);
  const int64_t num_groups = params.num_groups();
  typename Thread::template Reduce<Sum> row_sum;
  typename Thread::template Reduce<Max> group_max;
  for (int64_t group = thread.first_row; group < num_groups; group += thread.row_stride) {
    Peak peak(params.ignore_nan);
    for (int64_t i = 0; i < params.rows_per_cta; ++i) {
      const int64_t row = group * params.rows_per_cta + i;
      const T* x = params.x.row<const T>(params.grid, row);
      const auto sum_row = [&](float scaling) {
        double sum_sq = 0.0;  // since a thread may add up to 2^18 vectors
        thread.each_vec([&](int column, auto at) {
          Vec<T> loaded = load_vec<T, at>(x, column, n);
          sum_sq += sum_squares(loaded, scaling);
        });
        return mean_square(params, row_sum(static_cast<float>(sum_sq)), scaling, inverse_size);
      };
      float mean_sq = sum_row(1.0f);
      const float scaling = rescaling_of<T>(mean_sq);
      if (scaling != 1.0f) mean_sq = sum_row(scaling);
      const float rstd = rsqrtf(mean_sq);
      T* out = params.out.row<T>(params.grid, row);
      thread.each_warp_vec([&](int column, auto at, bool inside) {
        Vec<T> loaded{};
        if (inside) loaded = load_vec<T, at>(x, column, n);
        write_vec<T, at, false>(params, loaded, out, column, inside, scaling, rstd, peak);
      });
    }
    const float amax = group_max(peak.value());
    if (thread.is_first()) params.amax[group] = amax;
  }
}

template <typename T, bool kAligned>
cudaError_t launch_rmsnorm_rht_amax(RmsnormRhtAmaxParams params, cudaStream_t stream) {
  params.group_warps = warps_of_group(params);
  // Measured on an H200: rows of up to 128 KiB are faster in the registers of one block than
  // staged.
  const RowShare share{.count = params.num_groups(),
                       .warps = params.group_warps,
                       .min_threads = params.num_threads,
                       .max_threads = 1024};
  const auto held = [](auto kTuning) { return rmsnorm_rht_amax_fwd_kernel<T, kTuning, kAligned>; };
  return launch_rows<T, kAligned, kWarpSize>(params, share, stream, held,
                                             rmsnorm_rht_amax_fwd_long_kernel<T, kAligned>);
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
