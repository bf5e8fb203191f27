// Barriers and collectives that not everybody reaches.

#include "planted.h"
#include "warpwright/launch.h"

namespace planted {
namespace {

using ww::launch;

__global__ void divergent_kernel(float* out) {
  if (threadIdx.x % 2 == 0) __syncthreads();
  out[threadIdx.x] = 1;
}

__global__ void two_barriers_kernel(float* out) {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  out[threadIdx.x] = 1;
}

__global__ void exited_lane_kernel(float* out) {
  if (threadIdx.x == 5) return;
  out[threadIdx.x] = __shfl_xor_sync(0xffffffff, 1.0f, 1);
}

__global__ void outside_mask_kernel(float* out) {
  out[threadIdx.x] = __shfl_xor_sync(0x0000ffff, 1.0f, 1);
}

__global__ void source_outside_kernel(float* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0x0000ffff, 1.0f, 20);
}

__global__ void two_collectives_kernel(float* out) {
  out[threadIdx.x] =
      threadIdx.x < 7 ? __shfl_xor_sync(0xffffffff, 1, 1) : __any_sync(0xffffffff, 1);
}

// Both halves of the warp at once, by different ways.
__global__ void half_warps_kernel(float* out) {
  float x = threadIdx.x;
  if (threadIdx.x < 16)
    x = __shfl_xor_sync(0x0000ffff, x, 1);
  else
    x = __shfl_xor_sync(0xffff0000, x, 2) + __any_sync(0xffff0000, threadIdx.x == 20);
  __syncwarp();
  out[threadIdx.x] = x + __shfl_sync(0xffffffff, x, 0);
}

__global__ void votes_kernel(float* out) {
  const unsigned ballot = __ballot_sync(0xffffffff, threadIdx.x % 2);
  const int count = __syncthreads_count(threadIdx.x % 2);
  out[threadIdx.x] = ballot == 0xaaaaaaaa && count == static_cast<int>(blockDim.x / 2);
}

template <auto* kKernel, unsigned kThreads>
cudaError_t run(const Buffers& b) {
  return launch(kKernel, {.block = kThreads, .stream = b.stream}, b.out);
}

constexpr Case kCases[] = {
    {"divergent_barrier", run<divergent_kernel, 64>},
    {"two_barriers", run<two_barriers_kernel, 64>},
    {"exited_lane", run<exited_lane_kernel, 32>},
    {"lane_outside_its_mask", run<outside_mask_kernel, 32>},
    {"source_outside_the_mask", run<source_outside_kernel, 32>},
    {"two_collectives", run<two_collectives_kernel, 32>},
    {"half_warps", run<half_warps_kernel, 32>},
    {"votes", run<votes_kernel, 64>},
};

}  // namespace

std::span<const Case> collective_cases() { return kCases; }

}  // namespace planted
