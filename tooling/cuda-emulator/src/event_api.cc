// Events.

#include "api.h"
#include "capture.h"

using namespace cudaemu;

namespace {

// f(event) under the mutex.
template <typename F>
cudaError_t with_event(cudaEvent_t event, F&& f) {
  return call([&] { return event == nullptr ? cudaErrorInvalidResourceHandle : f(*event); });
}

// Looks at captured events without invalidating their capture, as CUDA does.
cudaError_t elapsed(float* ms, const CUevent_st& start, const CUevent_st& end) {
  if (ms == nullptr) return cudaErrorInvalidValue;
  for (const CUevent_st* event : {&start, &end})
    if (event->capture != nullptr)
      return event->capture->status == cudaStreamCaptureStatusActive ? cudaErrorCapturedEvent
                                                                     : cudaErrorInvalidValue;
  for (const CUevent_st* event : {&start, &end})
    if (!event->timed || event->point == nullptr || event->device != start.device)
      return cudaErrorInvalidResourceHandle;
  if (start.point->remaining > 0 || end.point->remaining > 0) return cudaErrorNotReady;
  using Milliseconds = std::chrono::duration<float, std::milli>;
  *ms = Milliseconds(end.point->reached - start.point->reached).count();
  return cudaSuccess;
}

}  // namespace

CUDAEMU_API cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

CUDAEMU_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&] {
    set_context_device(current_device());
    *event = new CUevent_st{current_device(), (flags & cudaEventDisableTiming) == 0};
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const std::lock_guard lock(api_mutex());
  if (event == nullptr) return settle(cudaErrorInvalidResourceHandle);
  delete event;
  return settle(fault_status());
}

CUDAEMU_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  return with_stream(handle, [&](CUstream_st& stream) {
    if (event == nullptr || stream.device != event->device) return cudaErrorInvalidResourceHandle;
    if (stream.capture != nullptr) return record_captured(*event, stream);
    event->capture = nullptr;
    event->point = record(stream);
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event,
                                            unsigned flags) {
  return with_stream(handle, [&](CUstream_st& stream) {
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (flags != 0) return cudaErrorInvalidValue;
    if (stream.capture != nullptr || event->capture != nullptr)
      return wait_captured(stream, *event);
    if (event->point != nullptr) enqueue_wait(stream, event->point);
    return cudaSuccess;
  });
}

// Asking is what makes a stream run here, so the answer is never "not ready".
CUDAEMU_API cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

CUDAEMU_API cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return with_event(handle, [](CUevent_st& event) {
    if (const cudaError_t status = forbid_captured(event)) return status;
    return event.point == nullptr ? cudaSuccess : wait_on_host(event.point);
  });
}

// Asks only: nothing runs, so events that nobody has waited for are not ready.
CUDAEMU_API cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return with_event(start, [&](CUevent_st&) {
    return end == nullptr ? cudaErrorInvalidResourceHandle : elapsed(ms, *start, *end);
  });
}
