// LayerNorm forward: out = (h - mean(h)) * rstd * weight + bias, rstd = 1 / sqrt(var(h) + eps),
// with h = x, or h = x + residual rounded to the dtype. A row belongs to a warp, a block or a
// cluster of blocks, by its length; it is read once and kept in registers. Only rows too long for
// that are read twice. Their sums are formed again where a row's mean is far from zero (moments.h).

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
  typename Thread::template Reduce<PairSum> row_sums;
  for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
    const RowIndex index = params.grid.index(row);
    const AddedVecs<T> added(params, index);
    T* out = params.out.row<T>(index);
    thread.align_to(out);
    typename Thread::Vecs h;
    added.template load<kAdds>(thread, h);
    // Of registers for two parameters' vectors, rows in registers leave too few.
    constexpr int kTogether = Thread::kTogether;
    using Param = ParamVecs<T, kTogether, Thread::kStaged>;
    Param weight(params.weight, params.weight_dtype, size);
    Param bias(params.bias, params.bias_dtype, size);
    const auto fetch_params = [&](int first) {
      weight.fetch(thread, first);
      bias.fetch(thread, first);
    };
    fetch_params(0);
    thread.meet();

    const auto find = [&](auto& moments) {
      Pair<float> sums{0.0f, 0.0f};
      thread.each_vec([&](int i, int column, auto at) {
        auto&& vec = h[i];
        sums = PairSum()(sums, deviations_of<T, at>(moments, vec, column, size));
      });
      sums = row_sums(sums);
      return moments.template settle<T>(sums.first, sums.second, inverse_size, params.eps);
    };
    const auto write = [&](const auto& moments, auto kPlain) {
      const float rstd = rsqrtf(moments.variance);
      if (thread.is_first()) store_stats(params, row, moments, rstd);
      thread.template each_group<kTogether>([&](int first) {
        if (first > 0) fetch_params(first);
        thread.template each_vec_of<kTogether>(first, [&](int i, int column, auto at) {
          const auto param_of = [&](const Param& param) {
            return [&](auto& values) { param.template get<at, kPlain>(i, column, values); };
          };
          const auto y =
              normalize<T>(params, moments, rstd, h[i], param_of(weight), param_of(bias));
          store_vec<T, at>(y, out, column, size);
        });
      });
    };
    Moments<Unscaled> unscaled;
    Fit fit;
    do {
      fit = find(unscaled);
    } while (fit == Fit::again);
    if (fit == Fit::good && is_plain<T>(params)) {
      write(unscaled, std::true_type{});
    } else {
      Moments<Scaled> scaled = unscaled.scaled();
      if (fit == Fit::scaled) {
        scaled = {};
        while (find(scaled) == Fit::again) continue;
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
  typename Thread::template Reduce<PairSum> row_sums;
  for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
    const RowIndex index = params.grid.index(row);
    const AddedVecs<T> added(params, index);
    T* out = params.out.row<T>(index);
    thread.align_to(out);
    // Sums in double, since a thread may add up to 2^18 vectors.
    Moments<Scaled> moments;
    Pair<float> sums;
    bool is_added = false;
    do {
      double sum = 0.0;
      double sum_sq = 0.0;
      thread.each_vec([&](int column, auto at) {
        Vec<T> h =
            is_added ? added.template reload_one<at>(column) : added.template load_one<at>(column);
        const auto part = deviations_of<T, at>(moments, h, column, size);
        sum += part.first;
        sum_sq += part.second;
      });
      is_added = true;
      sums = row_sums({static_cast<float>(sum), static_cast<float>(sum_sq)});
    } while (moments.settle<T>(sums.first, sums.second, inverse_size, params.eps) == Fit::again);
    const float rstd = rsqrtf(moments.variance);
    if (thread.is_first()) store_stats(params, row, moments, rstd);

    thread.each_vec([&](int column, auto at) {
      const Vec<T> h = added.template reload_one<at>(column);
      const auto param_of = [&](const void* param, Dtype dtype) {
        return [=](auto& values) { load_param<T, at, false>(param, dtype, column, size, values); };
      };
      const auto y =
          normalize<T>(params, moments, rstd, h, param_of(params.weight, params.weight_dtype),
                       param_of(params.bias, params.bias_dtype));
      store_vec<T, at>(y, out, column, size);
    });
  }
}

template <typename T, bool kAligned>
cudaError_t launch_layernorm(const LayerNormParams& params, cudaStream_t stream) {
  // Of aligned rows, which most are, those without a residual have their own code and registers.
  return dispatch_bool(!kAligned || params.residual.data != nullptr, [&](auto adds) {
    using Adds = std::bool_constant<decltype(adds)::value || !kAligned>;
    const auto held = [](auto kTuning) {
      return layernorm_fwd_kernel<T, kTuning, kAligned, Adds::value>;
    };
    // Measured on an H200: without a residual, a row of up to 128 KiB is faster in the registers of
    // one block than staged by two.
    const bool has_residual = params.residual.data != nullptr;
    const RowShare share{.count = params.grid.num_rows(), .max_threads = has_residual ? 512 : 1024};
    return launch_rows<T, kAligned>(params, share, stream, held,
                                    layernorm_fwd_long_kernel<T, kAligned>);
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
