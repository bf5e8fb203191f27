// Two streams and one piece of memory.

#include "planted.h"
#include "warpwright/launch.h"

namespace planted {
namespace {

using ww::launch;

__global__ void fill_kernel(float* out, float value) { out[threadIdx.x] = value; }

cudaError_t fill(float* out, float value, cudaStream_t stream) {
  return launch(fill_kernel, {.block = 256, .stream = stream}, out, value);
}

template <bool kWaitForAllocation, bool kWaitForUse>
cudaError_t use_on_other(const Buffers& b) {
  float* memory = nullptr;
  cudaMallocAsync(&memory, 256 * sizeof(float), b.stream);
  if (kWaitForAllocation) wait(b.other, b.stream);
  if (const cudaError_t status = fill(memory, 1, b.other)) return status;
  if (kWaitForUse) wait(b.stream, b.other);
  return cudaFreeAsync(memory, b.stream);
}

// Nothing runs before somebody waits, so what is read too early is what was there.
template <bool kWait>
cudaError_t read_back(const Buffers& b) {
  void* pinned = nullptr;
  cudaHostAlloc(&pinned, sizeof(float), cudaHostAllocPortable);
  auto& value = *static_cast<volatile float*>(pinned);
  value = -1;
  if (const cudaError_t status = fill(b.out, 3, b.stream)) return status;
  cudaMemcpyAsync(pinned, b.out, sizeof(float), cudaMemcpyDeviceToHost, b.stream);
  if (kWait) cudaStreamSynchronize(b.stream);
  return value == (kWait ? 3.0f : -1.0f) ? cudaSuccess : cudaErrorUnknown;
}

constexpr Case kCases[] = {
    {"ordered_streams", use_on_other<true, true>},
    {"used_before_allocated", use_on_other<false, true>},
    {"freed_while_used", use_on_other<true, false>},
    {"read_after_waiting", read_back<true>},
    {"read_without_waiting_is_stale", read_back<false>},
};

}  // namespace

std::span<const Case> stream_cases() { return kCases; }

cudaError_t wait(cudaStream_t waiter, cudaStream_t other) {
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaError_t status = cudaEventRecord(event, other);
  if (status == cudaSuccess) status = cudaStreamWaitEvent(waiter, event);
  cudaEventDestroy(event);
  return status;
}

}  // namespace planted
