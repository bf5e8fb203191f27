// Memory behind tensors, with a reference count. The handles of one storage all belong to one
// JavaScript environment; references to it may be held anywhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "stream_state.h"
#include "warpwright/tensor_handle.h"

namespace ww {

class MemoryOwner;

struct Storage {
  std::atomic<int64_t> references{1};
  int64_t handles = 0;  // JavaScript's; touched on its thread only

  int32_t device;
  uint64_t bytes;
  void* data = nullptr;  // null if there are no bytes on a device

  // The stream that the memory was allocated on: an owner of it, or, where another library owns it,
  // a reference. Null on the CPU, for memory of another library, and for a stream that is not
  // known.
  StreamState* home = nullptr;
  bool unknown_home = false;  // allocated on a stream of another copy of the runtime

  // Whose memory it is, if not the runtime's.
  std::unique_ptr<MemoryOwner> owner{};

  std::mutex mutex{};                 // of the two lists
  std::vector<StreamState*> users{};  // streams other than home that have worked on it
  std::vector<int> unknown_users{};   // devices of streams that have and are not known

  // The stream whose use needs no record_use; null if there is none.
  cudaStream_t stream() const {
    return home == nullptr || home->borrowed ? nullptr : home->stream.stream;
  }
};

// Null on failure: on the CPU with cudaErrorMemoryAllocation.
cudaError_t allocate_storage(int32_t device, uint64_t bytes, cudaStream_t stream, bool zero,
                             Storage** storage);
// Memory of another library, which nothing is waited for.
Storage* wrap_memory(int32_t device, uint64_t bytes, void* data,
                     std::unique_ptr<MemoryOwner> owner);

void retain_storage(Storage* storage);
void release_storage(Storage* storage);
cudaError_t record_use(Storage* storage, cudaStream_t stream);

// Makes `waiter` wait for what the streams of the storage's own device have been given so far: they
// are the ones that write it.
cudaError_t wait_for_writers(cuda::Stream waiter, Storage* storage);

// Those streams go on only after what `until` has been given so far.
cudaError_t hold_writers(cuda::Stream until, Storage* storage);

extern const RuntimeApi kRuntimeApi;

}  // namespace ww
