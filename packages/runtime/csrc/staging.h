// Pinned host memory that device memory is read through. Pinning costs milliseconds, so buffers are
// kept for the next read.
#pragma once

#include <cstddef>

#include "cuda_backend.h"

namespace ww {

inline constexpr size_t kMaxStagingBytes = size_t{8} << 20;

struct Staging {
  int device;    // of the event
  size_t bytes;  // a power of two
  void* data;
  cuda::Event ready;  // recorded by the user after the copy that fills the buffer
};

// A buffer of at least `bytes`, which are at most kMaxStagingBytes. Never one that a copy, left
// behind by an environment that ended, may still be filling.
cudaError_t take_staging(int device, size_t bytes, Staging** staging);
void give_back_staging(Staging* staging);

// Gives the device's buffers that wait for their next use back to the system.
void drop_idle_staging(int device);

}  // namespace ww
