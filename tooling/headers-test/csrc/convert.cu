// Every conversion of dtype.h, a thread for two elements.

#include "convert.h"
#include "warpwright/dispatch.h"
#include "warpwright/launch.h"

namespace ww {
namespace {

constexpr int kThreads = 256;

__global__ void convert_kernel(const ConvertParams params) {
  const int64_t pair = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (pair < params.num_pairs) convert_pair(params, pair);
}

}  // namespace

cudaError_t convert_fwd(const ConvertParams& params, cudaStream_t stream) {
  if (params.num_pairs == 0) return cudaSuccess;
  return launch(convert_kernel,
                {.grid = static_cast<unsigned>(ceil_div<int64_t>(params.num_pairs, kThreads)),
                 .block = kThreads,
                 .stream = stream},
                params);
}

}  // namespace ww
