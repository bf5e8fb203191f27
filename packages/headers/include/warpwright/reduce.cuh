// Sums and maxima over a warp, a block and a cluster. The order is fixed, so results repeat bit for
// bit.
#pragma once

#include "warpwright/dtype.h"
#include "warpwright/shared.cuh"

namespace ww {

inline constexpr int kWarpSize = 32;
inline constexpr unsigned kFullWarp = 0xffffffffu;

struct Sum {
  using Value = float;
  __device__ static float identity() { return 0.0f; }
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Two sums for the barriers of one.
struct PairSum {
  using Value = Pair<float>;
  __device__ static Value identity() { return {0.0f, 0.0f}; }
  __device__ Value operator()(Value a, Value b) const {
    return {a.first + b.first, a.second + b.second};
  }
};

// NaN propagates, unlike fmaxf.
struct Max {
  using Value = float;
  __device__ static float identity() { return -__builtin_inff(); }
  __device__ float operator()(float a, float b) const { return a > b || a != a ? a : b; }
};

__device__ inline float shuffle_xor(float x, int mask, unsigned lanes = kFullWarp) {
  return __shfl_xor_sync(lanes, x, mask);
}
__device__ inline Pair<float> shuffle_xor(Pair<float> x, int mask, unsigned lanes = kFullWarp) {
  return {shuffle_xor(x.first, mask, lanes), shuffle_xor(x.second, mask, lanes)};
}

// Over each kLanes neighbouring lanes, a power of two: all of them take part and get the result,
// while the warp's others may be elsewhere.
template <typename Op, int kLanes = kWarpSize>
__device__ inline auto warp_reduce(typename Op::Value x, Op op = {}) {
  unsigned lanes = kFullWarp;
  if constexpr (kLanes < kWarpSize)
    lanes = ((1u << kLanes) - 1) << threadIdx.x % kWarpSize / kLanes * kLanes;
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) x = op(x, shuffle_xor(x, offset, lanes));
  return x;
}

// warp_reduce with the interface of the classes below.
template <typename Op, int kLanes = kWarpSize>
class WarpReduce {
 public:
  using Value = typename Op::Value;
  __device__ Value operator()(Value x) { return warp_reduce<Op, kLanes>(x); }
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
  using Value = typename Op::Value;

  // Every thread gets the result.
  __device__ Value operator()(Value x) {
    __shared__ Value partials[2][kWarps];
    Value* partial = partials[parity_];
    parity_ ^= 1;
    const int lane = threadIdx.x % kWarpSize;
    x = warp_reduce<Op>(x);
    if (lane == 0) partial[threadIdx.x / kWarpSize] = x;
    __syncthreads();
    // Every warp reduces the partials again, which saves a second barrier.
    return warp_reduce<Op>(lane < kWarps ? partial[lane] : Op::identity());
  }

 private:
  int parity_ = 0;
};

// The same over all blocks of a cluster of up to 16, with one barrier of the cluster: each block
// writes its total to the others. They must have begun, so a barrier of the cluster has to come
// before the first call; none is needed before the blocks exit.
template <typename Op, int kThreads>
class ClusterReduce {
 public:
  using Value = typename Op::Value;

  __device__ Value operator()(Value x) {
    __shared__ Value totals[2][kMaxBlocks];
    Value* total = totals[parity_];
    parity_ ^= 1;
    x = block_reduce_(x);
    const int size = cluster_size();
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < size) *cluster_peer(&total[cluster_rank()], thread) = x;
    cluster_sync();
    const int block = thread % kMaxBlocks;
    return warp_reduce<Op, kMaxBlocks>(block < size ? total[block] : Op::identity());
  }

 private:
  static constexpr int kMaxBlocks = 16;
  BlockReduce<Op, kThreads> block_reduce_;
  int parity_ = 0;
};

}  // namespace ww
