// Faults on purpose: what compute-sanitizer does not find here, it would not find in a kernel.

#include "faults.h"
#include "warpwright/launch.h"

namespace ww {
namespace {

constexpr int kThreads = 64;

__global__ void write_kernel(float* out, int size) {
  if (threadIdx.x < size) out[threadIdx.x] = 1.0f;
}

__global__ void add_kernel(const float* x, float* out) { out[threadIdx.x] = x[threadIdx.x] + 1.0f; }

// The neighbour's element is read with no barrier after it was written.
__global__ void shared_race_kernel(float* out) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = values[(threadIdx.x + 33) % kThreads];
}

__global__ void divergent_barrier_kernel(float* out) {
  if (threadIdx.x % 2 == 0) __syncthreads();
  out[threadIdx.x] = 1.0f;
}

cudaError_t commit(Fault fault, float* x, float* out, cudaStream_t stream, cudaStream_t other) {
  const LaunchConfig config{.grid = 1, .block = kThreads, .stream = stream};
  LaunchConfig elsewhere = config;
  elsewhere.stream = other;
  switch (fault) {
    case Fault::out_of_bounds:
      return launch(write_kernel, config, out + 1, kThreads);
    // The launch that waits for nothing may come before the memory exists.
    case Fault::stream_race:
      return launch(write_kernel, elsewhere, out, kThreads);
    case Fault::shared_race:
      return launch(shared_race_kernel, config, out);
    case Fault::uninitialized:
      return launch(add_kernel, config, x, out);
    case Fault::divergent_barrier:
      return launch(divergent_barrier_kernel, config, out);
  }
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t plant_fault(Fault fault) {
  cudaStream_t streams[2] = {};
  float* buffers[2] = {};
  for (cudaStream_t& stream : streams)
    if (const cudaError_t status = cudaStreamCreate(&stream)) return status;
  for (float*& buffer : buffers)
    if (const cudaError_t status = cudaMallocAsync(&buffer, kThreads * sizeof(float), streams[0]))
      return status;
  cudaError_t status = commit(fault, buffers[0], buffers[1], streams[0], streams[1]);
  for (float* buffer : buffers) cudaFreeAsync(buffer, streams[0]);
  for (cudaStream_t stream : streams) {
    const cudaError_t end = cudaStreamSynchronize(stream);
    if (status == cudaSuccess) status = end;
    cudaStreamDestroy(stream);
  }
  return status;
}

}  // namespace ww
