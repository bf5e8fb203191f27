// RMSNorm forward: out = h * rstd * (weight + weight_offset), rstd = 1 / sqrt(mean(h^2) + eps),
// with h = x, or h = x + residual rounded to the dtype. A row belongs to a warp, a block or a
// cluster of blocks, by its length; it is read once and kept in registers. Only rows too long for
// that are read twice.

#include <type_traits>

#include "rmsnorm.h"
#include "rmsnorm_row.cuh"
#include "warpwright/dispatch.h"
#include "warpwright/row_kernel.cuh"

namespace ww {
namespace {

// Whether the weight's vectors are asked for before they are needed: in rows of few vectors, which
// leave the registers for it, and before the sum, whose latency it then hides behind.
template <typename Thread, bool kAdds>
constexpr bool kWeightAhead = Thread::kStaged || (!kAdds && Thread::kVecs <= 4);

template <typename T, int kTuning, bool kAligned, bool kAdds>
__global__ void __launch_bounds__(RowThread<T, kTuning, kAligned>::kBlockThreads,
                                  RowThread<T, kTuning, kAligned>::kMinBlocks)
    rmsnorm_fwd_kernel(const RmsNormParams params) {
  using Thread = RowThread<T, kTuning, kAligned>;
  Thread thread(params.hidden_size);
  const int64_t num_rows = params.grid.num_rows();
  const float inverse_size = 1.0f / static_cast<float>(params.hidden_size);
  typename Thread::template Reduce<Sum> row_sum;
  for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
    const RowIndex index = params.grid.index(row);
    const AddedVecs<T> added(params, index);
    T* out = params.out.row<T>(index);
    thread.align_to(out);
    typename Thread::Vecs h;
    added.template load<kAdds>(thread, h);
    constexpr int kTogether = Thread::kTogether;
    ParamVecs<T, kTogether, kWeightAhead<Thread, kAdds>> weight(params.weight, params.weight_dtype,
                                                                params.hidden_size);
    weight.fetch(thread, 0);
    thread.meet();

    float sum_sq = 0.0f;
    thread.each_vec([&](int i, auto...) {
      auto&& vec = h[i];
      sum_sq += sum_squares(vec, 1.0f);
    });
    float mean_sq = mean_square(params, row_sum(sum_sq), 1.0f, inverse_size);
    const float scaling = rescaling_of<T>(mean_sq);
    if (scaling != 1.0f) {
      sum_sq = 0.0f;
      thread.each_vec([&](int i, auto...) {
        auto&& vec = h[i];
        sum_sq += sum_squares(vec, scaling);
      });
      mean_sq = mean_square(params, row_sum(sum_sq), scaling, inverse_size);
    }
    const float rstd = rsqrtf(mean_sq);
    if (thread.is_first() && params.rstd != nullptr) params.rstd[row] = rstd * scaling * scaling;

    const auto write = [&](auto kPlain) {
      thread.template each_group<kTogether>([&](int first) {
        if (first > 0) weight.fetch(thread, first);
        thread.template each_vec_of<kTogether>(first, [&](int i, int column, auto at) {
          const auto y = normalize<T, kPlain>(params, h[i], scaling, rstd, [&](auto& values) {
            weight.template get<at, kPlain>(i, column, values);
          });
          store_vec<T, at>(y, out, column, params.hidden_size);
        });
      });
    };
    if (is_plain<T>(params, scaling))
      write(std::true_type{});
    else
      write(std::false_type{});
  }
}

// A block for each row of any length; h is read again for the output.
template <typename T, bool kAligned>
__global__ void __launch_bounds__(LongRowThread<T, kAligned>::kBlockThreads,
                                  LongRowThread<T, kAligned>::kMinBlocks)
    rmsnorm_fwd_long_kernel(const RmsNormParams params) {
  using Thread = LongRowThread<T, kAligned>;
  Thread thread(params.hidden_size);
  const int64_t num_rows = params.grid.num_rows();
  const float inverse_size = 1.0f / static_cast<float>(params.hidden_size);
  typename Thread::template Reduce<Sum> row_sum;
  for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
    const RowIndex index = params.grid.index(row);
    const AddedVecs<T> added(params, index);
    T* out = params.out.row<T>(index);
    thread.align_to(out);
    // In double, since a thread may add up to 2^18 vectors.
    double sum_sq = 0.0;
    thread.each_vec([&](int column, auto at) {
      Vec<T> h = added.template load_one<at>(column);
      sum_sq += sum_squares(h, 1.0f);
    });
    float mean_sq = mean_square(params, row_sum(static_cast<float>(sum_sq)), 1.0f, inverse_size);
    const float scaling = rescaling_of<T>(mean_sq);
    if (scaling != 1.0f) {
      sum_sq = 0.0;
      thread.each_vec([&](int column, auto at) {
        Vec<T> h = added.template reload_one<at>(column);
        sum_sq += sum_squares(h, scaling);
      });
      mean_sq = mean_square(params, row_sum(static_cast<float>(sum_sq)), scaling, inverse_size);
    }
    const float rstd = rsqrtf(mean_sq);
    if (thread.is_first() && params.rstd != nullptr) params.rstd[row] = rstd * scaling * scaling;

    thread.each_vec([&](int column, auto at) {
      const Vec<T> h = added.template reload_one<at>(column);
      const auto y = normalize<T, false>(params, h, scaling, rstd, [&](auto& values) {
        load_param<T, at, false>(params.weight, params.weight_dtype, column, params.hidden_size,
                                 values);
      });
      store_vec<T, at>(y, out, column, params.hidden_size);
    });
  }
}

template <typename T, bool kAligned>
cudaError_t launch_rmsnorm(const RmsNormParams& params, cudaStream_t stream) {
  // Of aligned rows, which most are, those without a residual have their own code and registers.
  return dispatch_bool(!kAligned || params.residual.data != nullptr, [&](auto adds) {
    using Adds = std::bool_constant<decltype(adds)::value || !kAligned>;
    const auto held = [](auto kTuning) {
      return rmsnorm_fwd_kernel<T, kTuning, kAligned, Adds::value>;
    };
    return launch_rows<T, kAligned>(params, stream, held, rmsnorm_fwd_long_kernel<T, kAligned>);
  });
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
