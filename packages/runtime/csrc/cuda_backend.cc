#include "cuda_backend.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <mutex>

#include "warpwright/device_guard.h"

namespace ww::cuda {
namespace {

constexpr int kMaxDevices = 64;

// Passes the status on and takes it off the thread's record of the last error.
cudaError_t settled(cudaError_t status) {
  if (status != cudaSuccess) cudaGetLastError();
  return status;
}

// f() with `device` current.
template <typename F>
cudaError_t on_device(int device, F&& f) {
  const DeviceGuard guard(device);
  if (guard.status() != cudaSuccess) return settled(guard.status());
  return settled(f());
}

struct DeviceState {
  std::mutex mutex;
  std::atomic<bool> open = false;
  cudaMemPool_t pool = nullptr;
  bool reads_host_pages = false;
  cudaStream_t reclaim = nullptr;
  std::array<std::atomic<bool>, kMaxDevices> readable_by{};
};

// Freed memory stays with the pool: giving it back to the system at every synchronisation, which is
// the default, would make the next allocation a system call.
cudaError_t open_device(int device, DeviceState& state) {
  if (const auto status = cudaDeviceGetDefaultMemPool(&state.pool, device)) return status;
  uint64_t threshold = UINT64_MAX;
  if (const auto status =
          cudaMemPoolSetAttribute(state.pool, cudaMemPoolAttrReleaseThreshold, &threshold))
    return status;
  int host_pages = 0;
  const auto status = cudaDeviceGetAttribute(
      &host_pages, cudaDevAttrPageableMemoryAccessUsesHostPageTables, device);
  state.reads_host_pages = host_pages != 0;
  return status;
}

// Null if the device cannot be used; `status` says why. Never destroyed: a static destructor would
// run after the driver has gone.
DeviceState* device_state(int device, cudaError_t& status) {
  static auto& states = *new std::array<DeviceState, kMaxDevices>;
  status = cudaErrorInvalidDevice;
  if (device < 0 || device >= kMaxDevices) return nullptr;
  DeviceState& state = states[device];
  if (!state.open) {
    const std::lock_guard lock(state.mutex);
    status = on_device(device, [&] { return open_device(device, state); });
    if (status != cudaSuccess) return nullptr;
    state.open = true;
  }
  status = cudaSuccess;
  return &state;
}

// An event, recorded by record(event), that `waiter` then waits for. It may be destroyed at once:
// CUDA keeps what it stands for until it has happened.
template <typename Record>
cudaError_t wait_for(Stream waiter, int event_device, Record&& record) {
  return on_device(event_device, [&] {
    cudaEvent_t event = nullptr;
    if (const auto status = cudaEventCreateWithFlags(&event, cudaEventDisableTiming)) return status;
    cudaError_t status = record(event);
    if (status == cudaSuccess) status = cudaStreamWaitEvent(waiter.stream, event, 0);
    cudaEventDestroy(event);
    return status;
  });
}

// A driver function that the runtime has no twin of; the addon is not linked against the driver.
template <typename Function>
cudaError_t driver_function(const char* name, unsigned version, Function& function) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (const auto status =
          cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &found))
    return status;
  if (address == nullptr || found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  function = reinterpret_cast<Function>(address);
  return cudaSuccess;
}

cudaError_t record_device(cudaEvent_t event) {
  CUresult (*get_current)(CUcontext*) = nullptr;
  CUresult (*record)(CUcontext, CUevent) = nullptr;
  if (const auto status = driver_function("cuCtxGetCurrent", 4000, get_current)) return status;
  if (const auto status = driver_function("cuCtxRecordEvent", 12050, record)) return status;
  CUcontext context = nullptr;
  if (get_current(&context) != CUDA_SUCCESS || context == nullptr)
    return cudaErrorDeviceUninitialized;
  return record(context, event) == CUDA_SUCCESS ? cudaSuccess : cudaErrorNotSupported;
}

// Without it a peer copy is staged through the host: memory pools have their own access rights.
// A wish, since not every pair of devices can.
void let_read(DeviceState& owner, int owner_device, int reader) {
  if (reader >= kMaxDevices || owner.readable_by[reader].exchange(true)) return;
  int can = 0;
  if (cudaDeviceCanAccessPeer(&can, reader, owner_device) == cudaSuccess && can) {
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = reader;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    cudaMemPoolSetAccess(owner.pool, &access, 1);
  }
  cudaGetLastError();
}

}  // namespace

const char* error_name(cudaError_t status) { return cudaGetErrorName(status); }

const char* error_text(cudaError_t status) { return cudaGetErrorString(status); }

cudaError_t device_count(int& count) {
  count = 0;
  return settled(cudaGetDeviceCount(&count));
}

Probe probe() {
  Probe result;
  cudaDriverGetVersion(&result.driver_version);
  cudaRuntimeGetVersion(&result.runtime_version);
  int count = 0;
  result.status = device_count(count);
  for (int device = 0; device < count && result.status == cudaSuccess; ++device) {
    cudaDeviceProp properties;
    result.status = settled(cudaGetDeviceProperties(&properties, device));
    if (result.status != cudaSuccess) break;
    result.devices.push_back({properties.name, properties.major, properties.minor,
                              properties.totalGlobalMem, properties.multiProcessorCount});
  }
  return result;
}

cudaError_t allocate(Stream stream, size_t bytes, void** data) {
  cudaError_t status;
  DeviceState* state = device_state(stream.device, status);
  if (state == nullptr) return status;
  return on_device(stream.device, [&] {
    const cudaError_t first = cudaMallocAsync(data, bytes, stream.stream);
    if (first != cudaErrorMemoryAllocation) return first;
    cudaGetLastError();
    if (const auto status = cudaDeviceSynchronize()) return status;
    if (const auto status = cudaMemPoolTrimTo(state->pool, 0)) return status;
    return cudaMallocAsync(data, bytes, stream.stream);
  });
}

void free(Stream stream, void* data) {
  on_device(stream.device, [&] { return cudaFreeAsync(data, stream.stream); });
}

cudaError_t reclaim_stream(int device, cudaStream_t* stream) {
  cudaError_t status;
  DeviceState* state = device_state(device, status);
  if (state == nullptr) return status;
  const std::lock_guard lock(state->mutex);
  if (state->reclaim == nullptr) status = create_stream(device, 0, &state->reclaim);
  *stream = state->reclaim;
  return status;
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
  return wait_for(waiter, device, [&](cudaEvent_t event) {
    if (record_device(event) == cudaSuccess) return cudaSuccess;
    cudaGetLastError();
    return cudaDeviceSynchronize();
  });
}

cudaError_t create_event(int device, Event* event) {
  return on_device(device, [&] { return cudaEventCreateWithFlags(event, cudaEventDisableTiming); });
}

void destroy_event(int device, Event event) {
  on_device(device, [&] { return cudaEventDestroy(event); });
}

cudaError_t record_event(Event event, Stream stream) {
  return on_device(stream.device, [&] { return cudaEventRecord(event, stream.stream); });
}

cudaError_t query_event(int device, Event event, bool& done) {
  const cudaError_t status = on_device(device, [&] { return cudaEventQuery(event); });
  done = status != cudaErrorNotReady;
  return done ? status : cudaSuccess;
}

cudaError_t synchronize_event(int device, Event event) {
  return on_device(device, [&] { return cudaEventSynchronize(event); });
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
  cudaError_t status;
  DeviceState* state = device_state(stream.device, status);
  if (state == nullptr) return status;
  return on_device(stream.device, [&] {
    const auto status = cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, stream.stream);
    // Elsewhere the driver has staged pageable memory when it returns; a device that reads the
    // host's pages itself may still be at it.
    if (status != cudaSuccess || !state->reads_host_pages) return status;
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
  cudaError_t status;
  DeviceState* state = device_state(src_device, status);
  if (state == nullptr) return status;
  return on_device(stream.device, [&] {
    let_read(*state, src_device, stream.device);
    return cudaMemcpyPeerAsync(dst, stream.device, src, src_device, bytes, stream.stream);
  });
}

cudaError_t pin(int device, size_t bytes, void** data) {
  return on_device(device, [&] { return cudaHostAlloc(data, bytes, cudaHostAllocPortable); });
}

void unpin(int device, void* data) {
  on_device(device, [&] { return cudaFreeHost(data); });
}

}  // namespace ww::cuda
