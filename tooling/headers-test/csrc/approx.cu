// The special function unit's approximations.

#include "ptx_cases.h"
#include "warpwright/dispatch.h"
#include "warpwright/launch.h"
#include "warpwright/ptx/approx.cuh"

namespace ww {
namespace {

constexpr int kThreads = 128;

__global__ void approx_kernel(const ApproxParams params) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= params.size) return;
  params.powers[i] = exp2_approx(params.x[i]);
  params.reciprocals[i] = reciprocal_approx(params.x[i]);
}

}  // namespace

cudaError_t approx_fwd(const ApproxParams& params, cudaStream_t stream) {
  if (params.size == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(ceil_div(params.size, kThreads));
  return launch(approx_kernel, {.grid = blocks, .block = kThreads, .stream = stream}, params);
}

}  // namespace ww
