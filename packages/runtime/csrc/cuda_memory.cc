// Device memory from a pool of the device, and pinned host memory.
#include <array>
#include <atomic>
#include <mutex>

#include "cuda_backend.h"
#include "cuda_call.h"

namespace ww::cuda {
namespace {

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

cudaError_t pool_bytes(cudaMemPool_t pool, cudaMemPoolAttr attribute, uint64_t& bytes) {
  return cudaMemPoolGetAttribute(pool, attribute, &bytes);
}

}  // namespace

cudaError_t reads_host_pages(int device, bool& reads) {
  cudaError_t status;
  const DeviceState* state = device_state(device, status);
  reads = state != nullptr && state->reads_host_pages;
  return status;
}

cudaError_t let_read(int owner, int reader) {
  cudaError_t status;
  DeviceState* state = device_state(owner, status);
  if (state == nullptr || reader >= kMaxDevices || state->readable_by[reader]) return status;
  const std::lock_guard lock(state->mutex);
  // A wish, since not every pair of devices can.
  int can = 0;
  if (cudaDeviceCanAccessPeer(&can, reader, owner) == cudaSuccess && can) {
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = reader;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    cudaMemPoolSetAccess(state->pool, &access, 1);
  }
  cudaGetLastError();
  state->readable_by[reader] = true;
  return cudaSuccess;
}

cudaError_t allocate(Stream stream, size_t bytes, void** data) {
  cudaError_t status;
  if (device_state(stream.device, status) == nullptr) return status;
  return on_device(stream.device, [&] { return cudaMallocAsync(data, bytes, stream.stream); });
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

cudaError_t memory_stats(int device, MemoryStats& stats) {
  cudaError_t status;
  const DeviceState* state = device_state(device, status);
  if (state == nullptr) return status;
  return on_device(device, [&] {
    size_t free = 0;
    size_t total = 0;
    if (const auto status = cudaMemGetInfo(&free, &total)) return status;
    stats.free = free;
    stats.total = total;
    if (const auto status = pool_bytes(state->pool, cudaMemPoolAttrUsedMemCurrent, stats.allocated))
      return status;
    if (const auto status = pool_bytes(state->pool, cudaMemPoolAttrUsedMemHigh, stats.peak))
      return status;
    return pool_bytes(state->pool, cudaMemPoolAttrReservedMemCurrent, stats.reserved);
  });
}

cudaError_t trim(int device) {
  cudaError_t status;
  const DeviceState* state = device_state(device, status);
  if (state == nullptr) return status;
  return on_device(device, [&] { return cudaMemPoolTrimTo(state->pool, 0); });
}

cudaError_t pointer_device(const void* data, int likely, int* device) {
  return on_device(likely, [&] {
    cudaPointerAttributes attributes{};
    if (const auto status = cudaPointerGetAttributes(&attributes, data)) return status;
    const bool on_device =
        attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
    *device = on_device ? attributes.device : -1;
    return cudaSuccess;
  });
}

cudaError_t pin(int device, size_t bytes, void** data) {
  return on_device(device, [&] { return cudaHostAlloc(data, bytes, cudaHostAllocPortable); });
}

void unpin(int device, void* data) {
  on_device(device, [&] { return cudaFreeHost(data); });
}

}  // namespace ww::cuda
