// Streams.

#include <algorithm>

#include "api.h"
#include "capture.h"

using namespace cudaemu;

namespace {

// As on a GPU, where the smaller number is the more urgent.
constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

}  // namespace

CUDAEMU_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = kLeastPriority;
  if (greatest != nullptr) *greatest = kGreatestPriority;
  return cudaSuccess;
}

CUDAEMU_API cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

CUDAEMU_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  return call([&] {
    set_context_device(current_device());
    *stream = create_stream(current_device());
    (*stream)->priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return with_stream(handle, [&](CUstream_st& stream) {
    if (handle == nullptr) return cudaErrorInvalidResourceHandle;
    leave_capture(stream);
    destroy_stream(&stream);
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return with_stream(handle, [&](CUstream_st& stream) {
    *device = stream.device;
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return with_stream(handle, [&](CUstream_st& stream) {
    *priority = stream.priority;
    return cudaSuccess;
  });
}

// As with events, asking is what makes a stream run.
CUDAEMU_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}

CUDAEMU_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return with_stream(handle, [](CUstream_st& stream) {
    if (const cudaError_t status = forbid_capturing(stream)) return status;
    return wait_on_host(record(stream));
  });
}

CUDAEMU_API cudaError_t cudaDeviceSynchronize() {
  return call([] {
    if (const cudaError_t status = forbid_capturing_on(current_device())) return status;
    return wait_on_host(record_device(current_device()));
  });
}
