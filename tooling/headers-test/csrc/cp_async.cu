// cp.async: pieces of every size with their zeros, and a pipeline of several stages.

#include "ptx_cases.h"
#include "warpwright/dispatch.h"
#include "warpwright/launch.h"
#include "warpwright/ptx/cp_async.cuh"

namespace ww {
namespace {

template <int kBytes>
__global__ void copy_kernel(const CopyParams params) {
  __shared__ __align__(16) uint8_t row[kCopyThreads * kBytes];
  const int first = threadIdx.x * kBytes;
  for (int i = 0; i < kBytes; ++i) row[first + i] = 0xaa;  // has to be gone
  __syncthreads();

  const int left = params.size - first;
  const uint8_t* from = params.x + first;
  if (params.whole)
    cp_async<kBytes>(&row[first], from);
  else
    cp_async<kBytes>(&row[first], from, left < 0 ? 0 : left < kBytes ? left : kBytes);
  if (params.grouped) {
    cp_async_commit();
    cp_async_wait<0>();
  } else {
    cp_async_wait_all();
  }
  __syncthreads();

  const int other = (kCopyThreads - 1) * kBytes - first;
  for (int i = 0; i < kBytes; ++i) params.out[other + i] = row[other + i];
}

template <int kStages>
__global__ void pipeline_kernel(const PipelineParams params) {
  __shared__ __align__(16) float stages[kStages][kPipelineTile];
  const int first = 4 * threadIdx.x;
  const auto copy = [&](int tile) {
    if (tile < params.num_tiles)
      cp_async<16>(&stages[tile % kStages][first], params.x + tile * kPipelineTile + first);
    cp_async_commit();
  };
  for (int tile = 0; tile < kStages - 1; ++tile) copy(tile);
  float sums[4] = {};
  for (int tile = 0; tile < params.num_tiles; ++tile) {
    cp_async_wait<kStages - 2>();
    // Everybody's copies have arrived, and everybody has left the stage that the next ones replace.
    __syncthreads();
    copy(tile + kStages - 1);
    for (int i = 0; i < 4; ++i) sums[i] += stages[tile % kStages][kPipelineTile - 1 - first - i];
  }
  for (int i = 0; i < 4; ++i) params.out[first + i] = sums[i];
}

}  // namespace

cudaError_t copy_fwd(const CopyParams& params, cudaStream_t stream) {
  return dispatch_int<4, 8, 16>(params.piece_bytes, [&](auto kBytes) {
    return launch(copy_kernel<kBytes>, {.grid = 1, .block = kCopyThreads, .stream = stream},
                  params);
  });
}

cudaError_t pipeline_fwd(const PipelineParams& params, cudaStream_t stream) {
  return dispatch_int<2, 3, 4>(params.num_stages, [&](auto kStages) {
    return launch(pipeline_kernel<kStages>, {.grid = 1, .block = kCopyThreads, .stream = stream},
                  params);
  });
}

}  // namespace ww
