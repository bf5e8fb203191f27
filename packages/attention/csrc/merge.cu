// The exact merge of two attentions over different keys: out = wa a + wb b, with weights from their
// lse. A warp for each row; everything is read and written once.

#include <algorithm>

#include "merge.h"
#include "warpwright/dispatch.h"
#include "warpwright/launch.h"
#include "warpwright/vec.cuh"

namespace ww {
namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr int kRowsPerBlock = kThreads / kWarp;

template <typename T>
__global__ void __launch_bounds__(kThreads) merge_fwd_kernel(const MergeParams params) {
  constexpr int kSize = Vec<T>::kSize;
  const int lane = threadIdx.x % kWarp;
  const int64_t num_rows = params.grid.num_rows();
  const int64_t row_stride = int64_t{gridDim.x} * kRowsPerBlock;
  for (int64_t row = int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.x / kWarp; row < num_rows;
       row += row_stride) {
    const MergeWeights weights = merge_weights(*params.lse_a.row<const float>(params.grid, row),
                                               *params.lse_b.row<const float>(params.grid, row));
    const T* a = params.out_a.row<const T>(params.grid, row);
    const T* b = params.out_b.row<const T>(params.grid, row);
    T* out = params.out.row<T>(params.grid, row);
    const bool aligned = is_vec_aligned(a) && is_vec_aligned(b) && is_vec_aligned(out);
    for (int first = lane * kSize; first < params.head_dim; first += kWarp * kSize) {
      const int count = params.head_dim - first;
      const bool whole = aligned && count >= kSize;
      float values_a[kSize];
      float values_b[kSize];
      (whole ? Vec<T>::load(a + first) : Vec<T>::load_tail(a + first, count, T{}))
          .to_floats(values_a);
      (whole ? Vec<T>::load(b + first) : Vec<T>::load_tail(b + first, count, T{}))
          .to_floats(values_b);
#pragma unroll
      for (int i = 0; i < kSize; ++i) values_a[i] = merged(weights, values_a[i], values_b[i]);
      const Vec<T> result = Vec<T>::from_floats(values_a);
      if (whole)
        result.store(out + first);
      else
        result.store_tail(out + first, count);
    }
    // The lse may be one of the two that all lanes have read.
    __syncwarp();
    if (lane == 0) *params.lse.row<float>(params.grid, row) = weights.lse;
  }
}

}  // namespace

cudaError_t merge_fwd(const MergeParams& params, cudaStream_t stream) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  const int64_t num_rows = params.grid.num_rows();
  if (num_rows == 0) return cudaSuccess;
  const auto blocks = std::min(ceil_div<int64_t>(num_rows, kRowsPerBlock), kMaxGridBlocks);
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    return launch(merge_fwd_kernel<T>,
                  {.grid = static_cast<unsigned>(blocks), .block = kThreads, .stream = stream},
                  params);
  });
}

}  // namespace ww
