// Memory pools.

#include <algorithm>

#include "api.h"
#include "memory.h"
#include "pool.h"

using namespace cudaemu;

namespace {

// In steps of the GPU's pools.
constexpr uint64_t kReserveStep = uint64_t{32} << 20;

uint64_t round_up(uint64_t bytes) {
  return (bytes + kReserveStep - 1) / kReserveStep * kReserveStep;
}

// Null for what is no attribute of the pool's.
uint64_t* attribute_of(CUmemPoolHandle_st& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return &pool.release_threshold;
    case cudaMemPoolAttrReservedMemCurrent:
      return &pool.reserved;
    case cudaMemPoolAttrReservedMemHigh:
      return &pool.reserved_high;
    case cudaMemPoolAttrUsedMemCurrent:
      return &pool.used;
    case cudaMemPoolAttrUsedMemHigh:
      return &pool.used_high;
  }
  return nullptr;
}

}  // namespace

void CUmemPoolHandle_st::take(uint64_t bytes) {
  used += bytes;
  used_high = std::max(used_high, used);
  reserved = std::max(reserved, round_up(used));
  reserved_high = std::max(reserved_high, reserved);
}

void CUmemPoolHandle_st::trim(uint64_t kept) {
  reserved = std::min(reserved, round_up(std::max(used, kept)));
}

CUmemPoolHandle_st& cudaemu::pool_of(int device) {
  static CUmemPoolHandle_st pools[kDevices] = {{.device = 0}, {.device = 1}};
  return pools[device];
}

CUDAEMU_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call([&] {
    *pool = &pool_of(device);
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                                void* value) {
  return call([&] {
    const uint64_t* number = attribute_of(*pool, attribute);
    if (number == nullptr) return cudaErrorInvalidValue;
    *static_cast<uint64_t*>(value) = *number;
    return cudaSuccess;
  });
}

// A high-water mark can only be set to 0, which makes it the current number.
CUDAEMU_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                                void* value) {
  return call([&] {
    const uint64_t number = *static_cast<const uint64_t*>(value);
    const bool is_high =
        attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh;
    if (attribute == cudaMemPoolAttrReleaseThreshold)
      pool->release_threshold = number;
    else if (!is_high || number != 0)
      return cudaErrorInvalidValue;
    else if (attribute == cudaMemPoolAttrReservedMemHigh)
      pool->reserved_high = pool->reserved;
    else
      pool->used_high = pool->used;
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) {
  return call([&] {
    pool->trim(bytes);
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access,
                                             size_t count) {
  return call([&] {
    for (size_t i = 0; i < count; ++i)
      device_memory().let_access(access[i].location.id, pool->device);
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call([&] {
    *total = device_memory().total();
    *free = *total - pool_of(current_device()).reserved;
    return cudaSuccess;
  });
}
