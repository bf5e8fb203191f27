// L2 normalisation: out = x * inverse, inverse = 1 / sqrt(sum(x^2) + eps). A row belongs to a warp,
// a block or a cluster of blocks, by its length; it is read once and kept in registers. Only rows
// too long for that are read twice.

#include "new_kernel.h"
#include "warpwright/dispatch.h"
#include "warpwright/row_kernel.cuh"

namespace ww {
namespace {

template <typename T>
__device__ float sum_squares(const Vec<T>& x) {
  float values[Vec<T>::kSize];
  x.to_floats(values);
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < Vec<T>::kSize; ++j) sum += values[j] * values[j];
  return sum;
}

template <typename T>
__device__ Vec<T> scaled(const Vec<T>& x, float factor) {
  float values[Vec<T>::kSize];
  x.to_floats(values);
#pragma unroll
  for (int j = 0; j < Vec<T>::kSize; ++j) values[j] *= factor;
  return Vec<T>::from_floats(values);
}

template <typename T, int kTuning, bool kAligned>
__global__ void __launch_bounds__(RowThread<T, kTuning, kAligned>::kBlockThreads,
                                  RowThread<T, kTuning, kAligned>::kMinBlocks)
    new_kernel_fwd_kernel(const NewKernelParams params) {
  using Thread = RowThread<T, kTuning, kAligned>;
  const int n = params.hidden_size;
  Thread thread(n);
  const int64_t num_rows = params.grid.num_rows();
  typename Thread::template Reduce<Sum> row_sum;
  for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
    const RowIndex index = params.grid.index(row);
    const T* x_row = params.x.row<const T>(index);
    T* out = params.out.row<T>(index);
    thread.align_to(out);
    Vec<T> x[Thread::kVecs];
    thread.each_vec([&](int i, int column, auto at) { x[i] = load_vec<T, at>(x_row, column, n); });
    thread.meet();

    float sum_sq = 0.0f;
    thread.each_vec([&](int i, auto...) { sum_sq += sum_squares(x[i]); });
    const float inverse = rsqrtf(row_sum(sum_sq) + params.eps);
    if (thread.is_first() && params.inverse != nullptr) params.inverse[row] = inverse;

    thread.each_vec([&](int i, int column, auto at) {
      store_vec<T, at>(scaled(x[i], inverse), out, column, n);
    });
  }
}

// A block for each row of any length; x is read again for the output.
template <typename T, bool kAligned>
__global__ void __launch_bounds__(LongRowThread<T, kAligned>::kBlockThreads,
                                  LongRowThread<T, kAligned>::kMinBlocks)
    new_kernel_fwd_long_kernel(const NewKernelParams params) {
  using Thread = LongRowThread<T, kAligned>;
  const int n = params.hidden_size;
  Thread thread(n);
  const int64_t num_rows = params.grid.num_rows();
  typename Thread::template Reduce<Sum> row_sum;
  for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
    const RowIndex index = params.grid.index(row);
    const T* x = params.x.row<const T>(index);
    T* out = params.out.row<T>(index);
    thread.align_to(out);
    // In double, since a thread may add up to 2^18 vectors.
    double sum_sq = 0.0;
    thread.each_vec(
        [&](int column, auto at) { sum_sq += sum_squares(load_vec<T, at>(x, column, n)); });
    const float inverse = rsqrtf(row_sum(static_cast<float>(sum_sq)) + params.eps);
    if (thread.is_first() && params.inverse != nullptr) params.inverse[row] = inverse;

    thread.each_vec([&](int column, auto at) {
      const Vec<T> y = scaled(load_vec<T, at>(x, column, n), inverse);
      store_vec<T, at>(y, out, column, n);
    });
  }
}

template <typename T, bool kAligned>
cudaError_t launch_new_kernel(const NewKernelParams& params, cudaStream_t stream) {
  const auto held = [](auto kTuning) { return new_kernel_fwd_kernel<T, kTuning, kAligned>; };
  return launch_rows<T, kAligned>(params, stream, held, new_kernel_fwd_long_kernel<T, kAligned>);
}

}  // namespace

cudaError_t new_kernel_fwd(const NewKernelParams& params, cudaStream_t stream) {
  if (!has_valid_rows(params)) return cudaErrorInvalidValue;
  if (has_no_rows(params)) return cudaSuccess;
  const bool aligned = is_aligned(params, {params.x, params.out}, {});
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    return dispatch_bool(
        aligned, [&](auto kAligned) { return launch_new_kernel<T, kAligned>(params, stream); });
  });
}

}  // namespace ww
