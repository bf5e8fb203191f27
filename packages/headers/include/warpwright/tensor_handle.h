// What a JavaScript tensor is to a native addon: a struct behind a type-tagged object, shared by
// addons that were linked, and released, at different times. Version 1. Fields are only ever
// appended, with a new minor; an addon accepts its own major and a minor not below its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "warpwright/cuda_types.h"

namespace ww {

inline constexpr uint32_t kHandleMagic = 0x57415250;  // "WARP"
inline constexpr uint16_t kHandleMajor = 1;
inline constexpr uint16_t kHandleMinor = 0;

// Node-API type tags (two 64-bit halves): an object without the tag is refused before it is read.
inline constexpr uint64_t kTensorTag[2] = {0x8f3bb8a2c0b94a51, 0x9d1e64d3a7f04c17};
inline constexpr uint64_t kStreamTag[2] = {0x5c0e7a9b13d2486f, 0xb1f59c2e807d4a63};

inline constexpr int32_t kCpu = -1;  // `device` of host memory; CUDA devices count from 0

struct Storage;  // the runtime's: reference count, allocating stream, uses by other streams

// The function table of the runtime that owns the storage. Every function may be called from any
// thread. `bytes` tells an addon which appended functions are there.
struct RuntimeApi {
  uint32_t bytes;
  void (*retain)(Storage* storage);
  void (*release)(Storage* storage);
  // Notes that work enqueued on `stream` uses the storage: memory is freed only after it, and on
  // the first use by a stream other than the allocating one, `stream` waits for the allocation.
  // While the stream is being captured, the graph keeps the storage instead.
  cudaError_t (*record_use)(Storage* storage, cudaStream_t stream);
  // A new storage of `size` bytes on `device`, ordered on `stream` (null on the CPU), with one
  // reference; *data receives its address. Null *storage on failure.
  cudaError_t (*alloc)(int32_t device, uint64_t size, cudaStream_t stream, Storage** storage,
                       void** data);
  // Calls body(context, begin, end) over disjoint ranges that cover [0, count), none but the last
  // shorter than `grain`, on the process's thread pool and the calling thread; returns when all
  // are done. Nested calls run on the calling thread. body must not throw.
  void (*parallel_for)(int64_t count, int64_t grain,
                       void (*body)(void* context, int64_t begin, int64_t end), void* context);
  // Tells of a status other than success that a call on the device gave: one that leaves the device
  // unusable for the rest of the process marks it lost.
  void (*report)(int32_t device, cudaError_t status);
};

// One JavaScript tensor's reference to its storage. Views of one storage have a handle each.
struct TensorHandle {
  uint32_t magic;
  uint16_t major;
  uint16_t minor;
  int32_t device;
  int32_t reserved;
  void* data;        // first byte of the storage
  uint64_t bytes;    // size of the storage
  Storage* storage;  // null once disposed
  cudaStream_t
      stream;  // whose use needs no record_use: the allocating one; null where there is none
  const RuntimeApi* api;
};

// A CUDA stream as JavaScript passes it.
struct StreamHandle {
  uint32_t magic;
  uint16_t major;
  uint16_t minor;
  int32_t device;
  int32_t disposed;
  cudaStream_t stream;
  const std::atomic<int32_t>* capturing;  // not 0 while the stream is being captured into a graph
  const std::atomic<const char*>*
      lost;  // why the device is lost, "name: text"; null while it is not
};

// The layout is the interface: an addon that was built elsewhere reads it.
static_assert(sizeof(RuntimeApi) == 56 && offsetof(RuntimeApi, report) == 48);
static_assert(sizeof(TensorHandle) == 56 && offsetof(TensorHandle, data) == 16 &&
              offsetof(TensorHandle, storage) == 32 && offsetof(TensorHandle, api) == 48);
static_assert(sizeof(StreamHandle) == 40 && offsetof(StreamHandle, stream) == 16 &&
              offsetof(StreamHandle, lost) == 32);
static_assert(std::atomic<int32_t>::is_always_lock_free &&
              std::atomic<const char*>::is_always_lock_free);

}  // namespace ww
