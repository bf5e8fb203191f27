// What a device's memory pool says of itself. The memory itself is DeviceMemory's.
#pragma once

#include <cstdint>

#include "../include/cuda_runtime_api.h"

struct CUmemPoolHandle_st {
  int device;
  uint64_t release_threshold = 0;
  uint64_t used = 0;
  uint64_t used_high = 0;
  uint64_t reserved = 0;
  uint64_t reserved_high = 0;

  // At the call, as CUDA counts, not when the stream comes to it.
  void take(uint64_t bytes);
  void give_back(uint64_t bytes) { used -= bytes; }
  // Until a trim the pool keeps what it has reserved, whatever the threshold.
  void trim(uint64_t kept);
};

namespace cudaemu {

CUmemPoolHandle_st& pool_of(int device);

}  // namespace cudaemu
