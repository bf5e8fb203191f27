// Memory behind tensors, with a reference count. The handles of one storage all belong to one
// JavaScript environment; references to it may be held anywhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "stream_state.h"
#include "warpwright/tensor_handle.h"

namespace ww {

struct Storage {
  std::atomic<int64_t> references{1};
  int64_t handles = 0;  // JavaScript's; touched on its thread only

  int32_t device;
  uint64_t bytes;
  void* data = nullptr;  // null if there are no bytes on a device

  // The allocating stream; null on the CPU. Without a home it is another library's, which may have
  // destroyed it since: it is compared, never used.
  cudaStream_t stream = nullptr;
  StreamState* home = nullptr;

  std::mutex mutex;                 // of the two lists
  std::vector<StreamState*> users;  // our streams, other than home, that have worked on it
  std::vector<int> foreign_users;   // devices of other libraries' streams that have
};

// Null on failure: on the CPU with cudaErrorMemoryAllocation.
cudaError_t allocate_storage(int32_t device, uint64_t bytes, cudaStream_t stream, bool zero,
                             Storage** storage);
void retain_storage(Storage* storage);
void release_storage(Storage* storage);
cudaError_t record_use(Storage* storage, cudaStream_t stream);

// Makes `waiter` wait for everything that the storage's streams have been given so far.
cudaError_t wait_for_users(cuda::Stream waiter, Storage* storage);

// Our own streams that the storage was used on go on only after what `until` has been given so far.
cudaError_t hold_users(cuda::Stream until, Storage* storage);

extern const RuntimeApi kRuntimeApi;

}  // namespace ww
