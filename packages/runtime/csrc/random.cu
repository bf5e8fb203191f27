// Standard normal numbers: normal.h says which. A thread computes the Philox blocks of one vector
// of 16 bytes, and takes the next one that is a grid away if there are more vectors than threads.

#include <algorithm>

#include "convert.h"
#include "normal.h"
#include "random.h"
#include "warpwright/dispatch.h"
#include "warpwright/launch.h"
#include "warpwright/vec.cuh"

namespace ww {
namespace {

constexpr int kThreads = 256;

// What Vec::from_floats turns into T with the rounding of x alone.
template <typename T>
__device__ inline float rounded_for(double x) {
  if constexpr (std::is_same_v<T, float>)
    return narrow<float>(x);
  else
    return to_odd_float(x);
}

template <typename T>
__global__ void __launch_bounds__(kThreads) randn_kernel(T* out, int64_t count, uint64_t seed) {
  using V = Vec<T>;
  constexpr int kBlocks = V::kSize / kNormalBlock;
  const int64_t stride = int64_t{gridDim.x} * kThreads;
  const bool aligned = is_vec_aligned(out);
  for (int64_t vec = int64_t{blockIdx.x} * kThreads + threadIdx.x; vec * V::kSize < count;
       vec += stride) {
    float values[V::kSize];
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
      double block[kNormalBlock];
      normal_block(static_cast<uint64_t>(vec * kBlocks + i), seed, block);
#pragma unroll
      for (int j = 0; j < kNormalBlock; ++j)
        values[i * kNormalBlock + j] = rounded_for<T>(block[j]);
    }

    const int64_t first = vec * V::kSize;
    const V rounded = V::from_floats(values);
    const int64_t left = count - first;
    if (aligned && left >= V::kSize)
      rounded.store(out + first);
    else
      rounded.store_tail(out + first, left < V::kSize ? static_cast<int>(left) : V::kSize);
  }
}

}  // namespace

cudaError_t randn_fwd(const RandnParams& params, cudaStream_t stream) {
  if (params.count == 0) return cudaSuccess;
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    const auto vecs = ceil_div<int64_t>(params.count, Vec<T>::kSize);
    const auto blocks = std::min(ceil_div<int64_t>(vecs, kThreads), kMaxGridBlocks);
    return launch(randn_kernel<T>,
                  {.grid = static_cast<unsigned>(blocks), .block = kThreads, .stream = stream},
                  static_cast<T*>(params.out), params.count, params.seed);
  });
}

}  // namespace ww
