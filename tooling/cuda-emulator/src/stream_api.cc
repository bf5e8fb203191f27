// Streams and events.

#include "api.h"
#include "stream.h"

using namespace cudaemu;

namespace {

template <typename F>
cudaError_t with_stream(cudaStream_t handle, F&& f) {
  return call([&] {
    CUstream_st* stream = find_stream(handle, current_device());
    return stream == nullptr ? cudaErrorInvalidResourceHandle : f(*stream);
  });
}

}  // namespace

CUDAEMU_API cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

CUDAEMU_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return call([&] {
    set_context_device(current_device());
    *stream = create_stream(current_device());
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return with_stream(handle, [&](CUstream_st& stream) {
    if (handle == nullptr) return cudaErrorInvalidResourceHandle;
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

CUDAEMU_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return with_stream(handle, [](CUstream_st& stream) { return wait_on_host(record(stream)); });
}

CUDAEMU_API cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  return with_stream(handle, [&](CUstream_st& stream) {
    if (event->point != nullptr) enqueue_wait(stream, event->point);
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaDeviceSynchronize() {
  return call([] { return wait_on_host(record_device(current_device())); });
}

CUDAEMU_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return call([&] {
    set_context_device(current_device());
    *event = new CUevent_st{current_device(), nullptr};
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const std::lock_guard lock(api_mutex());
  delete event;
  return settle(fault_status());
}

CUDAEMU_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  return with_stream(handle, [&](CUstream_st& stream) {
    if (stream.device != event->device) return cudaErrorInvalidResourceHandle;
    event->point = record(stream);
    return cudaSuccess;
  });
}

// Asking is what makes a stream run here, so the answer is never "not ready".
CUDAEMU_API cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

CUDAEMU_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&] { return event->point == nullptr ? cudaSuccess : wait_on_host(event->point); });
}
