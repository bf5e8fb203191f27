#include "cuda_backend.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>

#include "cuda_call.h"

namespace ww::cuda {
namespace {

// Of calls that no device takes the blame for.
constexpr int kNoDevice = -1;

// An event, recorded by record(event), that `waiter` then waits for. It may be destroyed at once:
// CUDA keeps what it stands for until it has happened.
//
// Each call with its own device current, which takes the blame for what it returns.
template <typename Record>
cudaError_t wait_for(Stream waiter, int event_device, Record&& record) {
  Event event = nullptr;
  if (const auto status = create_event(event_device, &event)) return status;
  cudaError_t status = on_device(event_device, [&] { return record(event); });
  if (status == cudaSuccess) status = wait_for_event(waiter, event);
  destroy_event(event_device, event);
  return status;
}

// For the current device.
cudaError_t record_context(cudaEvent_t event) {
  CUresult (*get_current)(CUcontext*) = nullptr;
  CUresult (*record)(CUcontext, CUevent) = nullptr;
  if (const auto status = driver_function("cuCtxGetCurrent", 4000, get_current)) return status;
  if (const auto status = driver_function("cuCtxRecordEvent", 12050, record)) return status;
  CUcontext context = nullptr;
  if (get_current(&context) != CUDA_SUCCESS || context == nullptr)
    return cudaErrorDeviceUninitialized;
  return record(context, event) == CUDA_SUCCESS ? cudaSuccess : cudaErrorNotSupported;
}

}  // namespace

const char* error_name(cudaError_t status) { return cudaGetErrorName(status); }

const char* error_text(cudaError_t status) { return cudaGetErrorString(status); }

bool is_sticky(cudaError_t status) {
  switch (status) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorExternalDevice:
      return true;
    default:
      return false;
  }
}

// CUDA says of all but these that the process has to end; on two H200s an illegal access on one
// made every later call on the other fail with the same status.
bool ends_all_devices(cudaError_t status) {
  return is_sticky(status) && status != cudaErrorECCUncorrectable &&
         status != cudaErrorNvlinkUncorrectable && status != cudaErrorContextIsDestroyed;
}

// Counted once, as devices neither come nor go: where one is lost, CUDA may fail to count them.
cudaError_t device_count(int& count) {
  static std::atomic<int> counted{0};
  count = counted;
  if (count > 0) return cudaSuccess;
  const auto status = settled(kNoDevice, cudaGetDeviceCount(&count));
  if (status == cudaSuccess) counted = count;
  return status;
}

Probe probe() {
  Probe result;
  cudaDriverGetVersion(&result.driver_version);
  cudaRuntimeGetVersion(&result.runtime_version);
  int count = 0;
  result.status = device_count(count);
  for (int device = 0; device < count && result.status == cudaSuccess; ++device) {
    cudaDeviceProp properties;
    result.status = settled(kNoDevice, cudaGetDeviceProperties(&properties, device));
    if (result.status != cudaSuccess) break;
    result.devices.push_back({properties.name, properties.major, properties.minor,
                              properties.totalGlobalMem, properties.multiProcessorCount});
  }
  return result;
}

cudaError_t create_stream(int device, int priority, cudaStream_t* stream) {
  return on_device(device, [&] {
    return cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, priority);
  });
}

void destroy_stream(Stream stream) {
  on_device(stream.device, [&] { return cudaStreamDestroy(stream.stream); });
}

cudaError_t stream_device(cudaStream_t stream, int likely, int* device) {
  return on_device(likely, [&] { return cudaStreamGetDevice(stream, device); });
}

cudaError_t synchronize_device(int device) {
  return on_device(device, [] { return cudaDeviceSynchronize(); });
}

cudaError_t synchronize(Stream stream) {
  return on_device(stream.device, [&] { return cudaStreamSynchronize(stream.stream); });
}

cudaError_t wait_for_stream(Stream waiter, Stream other) {
  return wait_for(waiter, other.device,
                  [&](cudaEvent_t event) { return cudaEventRecord(event, other.stream); });
}

cudaError_t wait_for_device(Stream waiter, int device) {
  return wait_for(waiter, device,
                  [&](cudaEvent_t event) { return record_device_event(event, device); });
}

cudaError_t wait_for_event(Stream waiter, Event event) {
  return on_device(waiter.device, [&] { return cudaStreamWaitEvent(waiter.stream, event, 0); });
}

cudaError_t record_device_event(Event event, int device) {
  return on_device(device, [&] {
    if (record_context(event) == cudaSuccess) return cudaSuccess;
    cudaGetLastError();
    return cudaDeviceSynchronize();
  });
}

cudaError_t create_event(int device, Event* event) {
  return on_device(device, [&] { return cudaEventCreateWithFlags(event, cudaEventDisableTiming); });
}

cudaError_t create_timed_event(int device, Event* event) {
  return on_device(device, [&] { return cudaEventCreate(event); });
}

void destroy_event(int device, Event event) {
  on_device(device, [&] { return cudaEventDestroy(event); });
}

cudaError_t record_event(Event event, Stream stream) {
  return on_device(stream.device, [&] { return cudaEventRecord(event, stream.stream); });
}

cudaError_t query_event(int device, Event event, bool& done) {
  const cudaError_t status = on_device(device, [&] {
    const auto queried = cudaEventQuery(event);
    // Memory checkers take a wait, but not a query, for an order between streams.
    return queried == cudaSuccess ? cudaEventSynchronize(event) : queried;
  });
  done = status != cudaErrorNotReady;
  return done ? status : cudaSuccess;
}

cudaError_t synchronize_event(int device, Event event) {
  return on_device(device, [&] { return cudaEventSynchronize(event); });
}

cudaError_t elapsed_time(int device, Event since, Event until, float* milliseconds) {
  return on_device(device, [&] { return cudaEventElapsedTime(milliseconds, since, until); });
}

cudaError_t zero(Stream stream, void* data, size_t bytes) {
  return on_device(stream.device, [&] { return cudaMemsetAsync(data, 0, bytes, stream.stream); });
}

cudaError_t copy_on_device(Stream stream, void* dst, const void* src, size_t bytes) {
  return on_device(stream.device, [&] {
    return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, stream.stream);
  });
}

cudaError_t copy_from_host(Stream stream, void* dst, const void* src, size_t bytes) {
  bool reads_pages = false;
  if (const auto status = reads_host_pages(stream.device, reads_pages)) return status;
  return on_device(stream.device, [&] {
    const auto status = cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, stream.stream);
    // Elsewhere the driver has staged pageable memory when it returns; a device that reads the
    // host's pages itself may still be at it.
    if (status != cudaSuccess || !reads_pages) return status;
    return cudaStreamSynchronize(stream.stream);
  });
}

cudaError_t copy_to_host(Stream stream, void* dst, const void* src, size_t bytes) {
  return on_device(stream.device, [&] {
    const auto status = cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, stream.stream);
    return status == cudaSuccess ? cudaStreamSynchronize(stream.stream) : status;
  });
}

cudaError_t copy_to_pinned(Stream stream, void* dst, const void* src, size_t bytes) {
  return on_device(stream.device, [&] {
    return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, stream.stream);
  });
}

cudaError_t copy_from_pinned(Stream stream, void* dst, const void* src, size_t bytes) {
  return on_device(stream.device, [&] {
    return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, stream.stream);
  });
}

cudaError_t copy_from_peer(Stream stream, void* dst, const void* src, int src_device,
                           size_t bytes) {
  if (const auto status = let_read(src_device, stream.device)) return status;
  return on_device(stream.device, [&] {
    return cudaMemcpyPeerAsync(dst, stream.device, src, src_device, bytes, stream.stream);
  });
}

}  // namespace ww::cuda
