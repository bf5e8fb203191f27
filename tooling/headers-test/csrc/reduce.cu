// Reductions repeated at once, and dynamic shared memory.

#include <algorithm>

#include "gpu_cases.h"
#include "warpwright/dispatch.h"
#include "warpwright/launch.h"
#include "warpwright/reduce.cuh"

namespace ww {
namespace {

constexpr int kReverseHead = 1024;

template <typename Reduce, int kThreads, bool kClustered>
__global__ void reduce_kernel(const ReduceParams params) {
  Reduce reduce;
  if constexpr (kClustered) cluster_sync();
  for (int round = 0; round < params.num_rounds; ++round) {
    const int64_t i = (int64_t{round} * gridDim.x + blockIdx.x) * kThreads + threadIdx.x;
    params.out[i] = reduce(params.x[i]);
  }
}

template <typename Op, int kThreads>
cudaError_t launch_reduce(const ReduceParams& params, cudaStream_t stream) {
  LaunchConfig config{
      .grid = static_cast<unsigned>(params.blocks), .block = kThreads, .stream = stream};
  switch (params.scope) {
    case ReduceScope::warp:
      return launch(reduce_kernel<WarpReduce<Op>, kThreads, false>, config, params);
    case ReduceScope::block:
      return launch(reduce_kernel<BlockReduce<Op, kThreads>, kThreads, false>, config, params);
    case ReduceScope::cluster:
      config.cluster = params.blocks;
      return launch(reduce_kernel<ClusterReduce<Op, kThreads>, kThreads, true>, config, params);
  }
  return cudaErrorInvalidValue;
}

// The head in static shared memory, the rest in dynamic: together they may pass the default limit
// where neither does alone.
__global__ void reverse_kernel(const ReverseParams params) {
  __shared__ float head[kReverseHead];
  auto* rest = dynamic_shared<float>();
  const auto at = [&](int i) -> float& {
    return i < kReverseHead ? head[i] : rest[i - kReverseHead];
  };
  for (int i = threadIdx.x; i < params.size; i += blockDim.x) at(i) = params.x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < params.size; i += blockDim.x)
    params.out[i] = at(params.size - 1 - i);
}

}  // namespace

cudaError_t reduce_fwd(const ReduceParams& params, cudaStream_t stream) {
  return dispatch_int<32, 96, 256, 1024>(params.threads, [&](auto kThreads) {
    return params.op == ReduceOp::sum ? launch_reduce<Sum, kThreads>(params, stream)
                                      : launch_reduce<Max, kThreads>(params, stream);
  });
}

cudaError_t reverse_fwd(const ReverseParams& params, cudaStream_t stream) {
  return launch(reverse_kernel,
                {.grid = 1,
                 .block = static_cast<unsigned>(params.threads),
                 .smem = std::max(params.size - kReverseHead, 0) * sizeof(float),
                 .stream = stream},
                params);
}

}  // namespace ww
