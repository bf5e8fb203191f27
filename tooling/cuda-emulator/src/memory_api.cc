// Allocation and copies.

#include <cstring>

#include "api.h"
#include "memory.h"
#include "stream.h"

struct CUmemPoolHandle_st {
  int device;
};

using namespace cudaemu;

namespace {

CUmemPoolHandle_st pools[kDevices] = {{0}, {1}};

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

// A copy between memory that CUDA knows, in stream order.
void enqueue_copy(CUstream_st& stream, Allocation* to, void* dst, Allocation* from, const void* src,
                  size_t bytes) {
  enqueue(stream, [=](CUstream_st& running) {
    if (note_use(*from, running, "a copy") && note_use(*to, running, "a copy"))
      std::memcpy(dst, src, bytes);
  });
}

cudaError_t copy(CUstream_st& stream, void* dst, const void* src, size_t bytes) {
  Allocation* to = find_live(dst, bytes);
  Allocation* from = find_live(src, bytes);
  if ((to == nullptr && !is_pageable(dst)) || (from == nullptr && !is_pageable(src)))
    return cudaErrorInvalidValue;
  if (to != nullptr && from != nullptr) {
    enqueue_copy(stream, to, dst, from, src, bytes);
    return cudaSuccess;
  }
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
  if (from != nullptr)
    enqueue(stream, [=](CUstream_st& running) {
      if (note_use(*from, running, "a copy")) std::memcpy(dst, src, bytes);
    });
  if (const cudaError_t status = wait_on_host(record(stream))) return status;
  if (from == nullptr) std::memmove(dst, src, bytes);
  return cudaSuccess;
}

}  // namespace

CUDAEMU_API cudaError_t cudaMallocAsync(void** data, size_t bytes, cudaStream_t handle) {
  return call([&] {
    CUstream_st* stream = find_stream(handle, current_device());
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t status = allocate(data, bytes, stream->device)) return status;
    if (*data == nullptr) return cudaSuccess;
    Allocation* allocation = device_memory().find(*data);
    enqueue(*stream, [=](CUstream_st& running) { note_birth(*allocation, running); });
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaFreeAsync(void* data, cudaStream_t handle) {
  return call([&] {
    CUstream_st* stream = find_stream(handle, current_device());
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (data == nullptr) return cudaSuccess;
    Allocation* allocation = find_live(data, 0);
    if (allocation == nullptr || allocation->data != data) return cudaErrorInvalidValue;
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
    enqueue(*stream, [=](CUstream_st& running) {
      if (note_use(*allocation, running, "cudaMemsetAsync")) std::memset(data, value, bytes);
    });
    return cudaSuccess;
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

CUDAEMU_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call([&] {
    *pool = &pools[device];
    return cudaSuccess;
  });
}

// Pools keep nothing here, so there is nothing to set or trim.
CUDAEMU_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return call([] { return cudaSuccess; });
}

CUDAEMU_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
  return call([] { return cudaSuccess; });
}

CUDAEMU_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access,
                                             size_t count) {
  return call([&] {
    for (size_t i = 0; i < count; ++i)
      device_memory().let_access(access[i].location.id, pool->device);
    return cudaSuccess;
  });
}
