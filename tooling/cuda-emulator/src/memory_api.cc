// Allocation and copies.

#include <cstring>

#include "api.h"
#include "capture.h"
#include "memory.h"
#include "pool.h"

using namespace cudaemu;

namespace {

// Null if the bytes are not all inside one allocation that has not been freed.
Allocation* find_live(const void* data, size_t bytes) {
  Allocation* allocation = device_memory().find(data);
  const auto* first = static_cast<const char*>(data);
  if (allocation == nullptr || allocation->freed || first < allocation->data ||
      first + bytes > allocation->data + allocation->bytes)
    return nullptr;
  return allocation;
}

// Pageable memory: only what CUDA does not know can be that.
bool is_pageable(const void* data) { return !device_memory().holds(data); }

cudaError_t allocate(void** data, size_t bytes, int device) {
  *data = nullptr;
  if (bytes == 0) return cudaSuccess;
  Allocation* allocation = device_memory().allocate(device, bytes);
  if (allocation == nullptr) {
    // What has been freed in stream order may not have run yet.
    if (const cudaError_t status = wait_for_everything()) return status;
    allocation = device_memory().allocate(device, bytes);
  }
  if (allocation == nullptr) return cudaErrorMemoryAllocation;
  *data = allocation->data;
  return cudaSuccess;
}

cudaError_t copy(CUstream_st& stream, void* dst, const void* src, size_t bytes) {
  Allocation* to = find_live(dst, bytes);
  Allocation* from = find_live(src, bytes);
  if ((to == nullptr && !is_pageable(dst)) || (from == nullptr && !is_pageable(src)))
    return cudaErrorInvalidValue;
  const auto work = [=](CUstream_st& running) {
    if ((from == nullptr || note_use(*from, running, "a copy")) &&
        (to == nullptr || note_use(*to, running, "a copy")))
      std::memmove(dst, src, bytes);
  };
  // A graph reads and writes pageable memory, too, each time that it runs.
  if ((to != nullptr && from != nullptr) || stream.capture != nullptr) return submit(stream, work);
  if (to != nullptr) {
    // Pageable memory has been read when the call returns.
    auto staged = std::make_shared<std::vector<char>>(static_cast<const char*>(src),
                                                      static_cast<const char*>(src) + bytes);
    enqueue(stream, [=](CUstream_st& running) {
      if (note_use(*to, running, "a copy")) std::memcpy(dst, staged->data(), staged->size());
    });
    return cudaSuccess;
  }
  // Pageable memory has been written when the call returns.
  enqueue(stream, work);
  return wait_on_host(record(stream));
}

// CUDA would make it a node that allocates or frees each time that the graph runs, which nothing
// here wants: memory is allocated once, before the capture.
cudaError_t forbid_memory_nodes(const CUstream_st& stream, const char* call) {
  if (stream.capture == nullptr) return cudaSuccess;
  set_fault(cudaErrorStreamCaptureUnsupported,
            format("%s on a capturing stream: the emulator refuses memory nodes; allocate before "
                   "the capture, free after the graph's last launch",
                   call)
                .c_str());
  return fault_status();
}

}  // namespace

CUDAEMU_API cudaError_t cudaMallocAsync(void** data, size_t bytes, cudaStream_t handle) {
  return call([&] {
    CUstream_st* stream = find_stream(handle, current_device());
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t status = forbid_memory_nodes(*stream, "cudaMallocAsync")) return status;
    if (const cudaError_t status = allocate(data, bytes, stream->device)) return status;
    if (*data == nullptr) return cudaSuccess;
    Allocation* allocation = device_memory().find(*data);
    pool_of(stream->device).take(bytes);
    enqueue(*stream, [=](CUstream_st& running) { note_birth(*allocation, running); });
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaFreeAsync(void* data, cudaStream_t handle) {
  return call([&] {
    CUstream_st* stream = find_stream(handle, current_device());
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (data == nullptr) return cudaSuccess;
    if (const cudaError_t status = forbid_memory_nodes(*stream, "cudaFreeAsync")) return status;
    Allocation* allocation = find_live(data, 0);
    if (allocation == nullptr || allocation->data != data) return cudaErrorInvalidValue;
    if (!allocation->released) pool_of(allocation->device).give_back(allocation->bytes);
    allocation->released = true;
    enqueue(*stream, [=](CUstream_st& running) {
      if (note_use(*allocation, running, "cudaFreeAsync"))
        free_in_stream_order(*allocation, running);
    });
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned) {
  return call([&] { return allocate(data, bytes, kHost); });
}

// Waits for what may be using it, as CUDA does.
CUDAEMU_API cudaError_t cudaFreeHost(void* data) {
  return call([&] {
    Allocation* allocation = find_live(data, 0);
    if (allocation == nullptr || allocation->data != data) return cudaErrorInvalidValue;
    if (const cudaError_t status = wait_for_everything()) return status;
    device_memory().free(*allocation);
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t handle) {
  return call([&] {
    CUstream_st* stream = find_stream(handle, current_device());
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (bytes == 0) return cudaSuccess;
    Allocation* allocation = find_live(data, bytes);
    if (allocation == nullptr) return cudaErrorInvalidValue;
    return submit(*stream, [=](CUstream_st& running) {
      if (note_use(*allocation, running, "cudaMemsetAsync")) std::memset(data, value, bytes);
    });
  });
}

// The kind says nothing that the addresses do not.
CUDAEMU_API cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t bytes, cudaMemcpyKind,
                                        cudaStream_t handle) {
  return call([&] {
    CUstream_st* stream = find_stream(handle, current_device());
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return bytes == 0 ? cudaSuccess : copy(*stream, dst, src, bytes);
  });
}

CUDAEMU_API cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src,
                                            int src_device, size_t bytes, cudaStream_t stream) {
  const Allocation* to = device_memory().find(dst);
  const Allocation* from = device_memory().find(src);
  if (to == nullptr || from == nullptr || to->device != dst_device || from->device != src_device)
    return settle(cudaErrorInvalidValue);
  return cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, stream);
}

// Memory counts as freed from the call of cudaFreeAsync on, as in the pool's numbers.
CUDAEMU_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                 const void* data) {
  constexpr int kNoDevice = -2;
  return call([&] {
    auto* address = const_cast<void*>(data);
    const Allocation* allocation = find_live(data, 1);
    *attributes = {cudaMemoryTypeUnregistered, kNoDevice, nullptr, address, {}};
    if (allocation == nullptr || allocation->released) return cudaSuccess;
    const bool on_host = allocation->device == kHost;
    const bool reached = device_memory().can_access(current_device(), allocation->device);
    attributes->type = on_host ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    attributes->device = on_host ? current_device() : allocation->device;
    attributes->devicePointer = reached ? address : nullptr;
    attributes->hostPointer = on_host ? address : nullptr;
    return cudaSuccess;
  });
}
