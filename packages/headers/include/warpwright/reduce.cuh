// Sums and maxima over a warp, a block and a cluster. The order is fixed, so results repeat bit for
// bit.
#pragma once

#include "warpwright/shared.cuh"

namespace ww {

inline constexpr int kWarpSize = 32;
inline constexpr unsigned kFullWarp = 0xffffffffu;

struct Sum {
  static constexpr float kIdentity = 0.0f;
  __device__ float operator()(float a, float b) const { return a + b; }
};

// NaN propagates, unlike fmaxf.
struct Max {
  static constexpr float kIdentity = -__builtin_inff();
  __device__ float operator()(float a, float b) const { return a > b || a != a ? a : b; }
};

// All lanes take part; every lane gets the result.
template <typename Op>
__device__ inline float warp_reduce(float x, Op op = {}) {
#pragma unroll
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2)
    x = op(x, __shfl_xor_sync(kFullWarp, x, offset));
  return x;
}

// warp_reduce with the interface of the classes below.
template <typename Op>
class WarpReduce {
 public:
  __device__ float operator()(float x) { return warp_reduce<Op>(x); }
};

// Reductions over a block of kThreads threads, one barrier each. An object may be used again at
// once: it alternates between two buffers, and a warp cannot be two barriers ahead of another. All
// threads of the block construct it and call it together. One object of a type per kernel, since
// the buffers belong to the type.
template <typename Op, int kThreads>
class BlockReduce {
  static_assert(kThreads % kWarpSize == 0 && kThreads <= 1024);
  static constexpr int kWarps = kThreads / kWarpSize;

 public:
  // Every thread gets the result.
  __device__ float operator()(float x) {
    __shared__ float partials[2][kWarps];
    float* partial = partials[parity_];
    parity_ ^= 1;
    const int lane = threadIdx.x % kWarpSize;
    x = warp_reduce<Op>(x);
    if (lane == 0) partial[threadIdx.x / kWarpSize] = x;
    __syncthreads();
    // Every warp reduces the partials again, which saves a second barrier.
    return warp_reduce<Op>(lane < kWarps ? partial[lane] : Op::kIdentity);
  }

 private:
  int parity_ = 0;
};

// The same over all blocks of a cluster. The caller must cluster_sync() before its blocks exit,
// since peers read this block's shared memory until then.
template <typename Op, int kThreads>
class ClusterReduce {
 public:
  __device__ float operator()(float x) {
    __shared__ float totals[2];
    float* total = &totals[parity_];
    parity_ ^= 1;
    x = block_reduce_(x);
    if (threadIdx.x == 0) *total = x;
    cluster_sync();
    const int lane = threadIdx.x % kWarpSize;
    return warp_reduce<Op>(lane < cluster_size() ? *cluster_peer(total, lane) : Op::kIdentity);
  }

 private:
  BlockReduce<Op, kThreads> block_reduce_;
  int parity_ = 0;
};

}  // namespace ww
