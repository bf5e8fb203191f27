// LayerNorm forward: out = (h - mean(h)) * rstd * weight + bias, rstd = 1 / sqrt(var(h) + eps),
// with h = x, or h = x + residual rounded to the dtype. A row belongs to a warp, a block or a
// cluster of blocks, by its length; it is read once and kept in registers, where the mean is found
// before the deviations from it. Only rows too long for that are read three times.

#include <type_traits>

#include "layernorm.h"
#include "layernorm_row.cuh"
#include "moments.h"
#include "warpwright/dispatch.h"
#include "warpwright/row_kernel.cuh"

namespace ww {
namespace {

template <typename T, int kTuning, bool kAligned, bool kAdds>
__global__ void __launch_bounds__(RowThread<T, kTuning, kAligned>::kBlockThreads,
                                  RowThread<T, kTuning, kAligned>::kMinBlocks)
    layernorm_fwd_kernel(const LayerNormParams params) {
  using Thread = RowThread<T, kTuning, kAligned>;
  const int size = params.hidden_size;
  Thread thread(size);
  const int64_t num_rows = params.grid.num_rows();
  const float inverse_size = 1.0f / static_cast<float>(size);
  typename Thread::template Reduce<Sum> row_sum;
  typename Thread::template Reduce<PairSum> row_sums;
  for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
    const RowIndex index = params.grid.index(row);
    const AddedVecs<T> added(params, index);
    T* out = params.out.row<T>(index);
    thread.align_to(out);
    Vec<T> h[Thread::kVecs];
    added.template load<kAdds>(thread, h);
    thread.meet();

    const auto find = [&](auto& moments) {
      if (!moments.has_mean) {
        float sum = 0.0f;
        thread.each_vec([&](int i, auto...) { sum += sum_of(moments, h[i]); });
        moments.start(row_sum(sum), inverse_size);
      }
      Pair<float> sums{0.0f, 0.0f};
      thread.each_vec([&](int i, int column, auto at) {
        sums = PairSum()(sums, deviations_of<T, at>(moments, h[i], column, size));
      });
      sums = row_sums(sums);
      return moments.template settle<T>(sums.first, sums.second, inverse_size, params.eps);
    };
    const auto write = [&](const auto& moments, auto kPlain) {
      const float rstd = rsqrtf(moments.variance);
      if (thread.is_first()) store_stats(params, row, moments, rstd);
      thread.each_vec([&](int i, int column, auto at) {
        const auto y = normalize<T, at, kPlain>(params, moments, rstd, h[i], column);
        store_vec<T, at>(y, out, column, size);
      });
    };
    Moments<Unscaled> unscaled;
    const bool is_found = find(unscaled);
    if (is_found && is_plain<T>(params)) {
      write(unscaled, std::true_type{});
    } else {
      Moments<Scaled> scaled = unscaled.scaled();
      if (!is_found) {
        scaled = {};
        while (!find(scaled)) continue;
      }
      write(scaled, std::false_type{});
    }
  }
}

// A block for each row of any length; h is read again for the deviations and for the output.
template <typename T, bool kAligned>
__global__ void __launch_bounds__(LongRowThread<T, kAligned>::kBlockThreads,
                                  LongRowThread<T, kAligned>::kMinBlocks)
    layernorm_fwd_long_kernel(const LayerNormParams params) {
  using Thread = LongRowThread<T, kAligned>;
  const int size = params.hidden_size;
  Thread thread(size);
  const int64_t num_rows = params.grid.num_rows();
  const float inverse_size = 1.0f / static_cast<float>(size);
  typename Thread::template Reduce<Sum> row_sum;
  typename Thread::template Reduce<PairSum> row_sums;
  for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
    const RowIndex index = params.grid.index(row);
    const AddedVecs<T> added(params, index);
    T* out = params.out.row<T>(index);
    thread.align_to(out);
    // Sums in double, since a thread may add up to 2^18 vectors.
    Moments<Scaled> moments;
    Pair<float> sums;
    do {
      if (!moments.has_mean) {
        double sum = 0.0;
        thread.each_vec([&](int column, auto at) {
          // The first time of all, a residual is added.
          Vec<T> h = moments.shrink == 1.0f ? added.template load_one<at>(column)
                                            : added.template reload_one<at>(column);
          sum += sum_of(moments, h);
        });
        moments.start(row_sum(static_cast<float>(sum)), inverse_size);
      }
      double sum = 0.0;
      double sum_sq = 0.0;
      thread.each_vec([&](int column, auto at) {
        Vec<T> h = added.template reload_one<at>(column);
        const auto part = deviations_of<T, at>(moments, h, column, size);
        sum += part.first;
        sum_sq += part.second;
      });
      sums = row_sums({static_cast<float>(sum), static_cast<float>(sum_sq)});
    } while (!moments.settle<T>(sums.first, sums.second, inverse_size, params.eps));
    const float rstd = rsqrtf(moments.variance);
    if (thread.is_first()) store_stats(params, row, moments, rstd);

    thread.each_vec([&](int column, auto at) {
      const Vec<T> h = added.template reload_one<at>(column);
      const auto y = normalize<T, at, false>(params, moments, rstd, h, column);
      store_vec<T, at>(y, out, column, size);
    });
  }
}

template <typename T, bool kAligned>
cudaError_t launch_layernorm(const LayerNormParams& params, cudaStream_t stream) {
  // Of aligned rows, which most are, those without a residual have their own code and registers.
  return dispatch_bool(!kAligned || params.residual.data != nullptr, [&](auto adds) {
    constexpr bool kAdds = decltype(adds)::value || !kAligned;
    const auto held = [](auto kTuning) {
      return layernorm_fwd_kernel<T, kTuning, kAligned, kAdds>;
    };
    return launch_rows<T, kAligned>(params, stream, held, layernorm_fwd_long_kernel<T, kAligned>);
  });
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
