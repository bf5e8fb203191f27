// Blocks of device memory that a stream has freed and is likely to want again: taking one costs a
// twentieth of an allocation from the device's pool.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda_backend.h"

namespace ww {

class BlockCache {
 public:
  // What an allocation of `bytes` takes, in steps that let sizes which differ by little share.
  static uint64_t block_bytes(uint64_t bytes);

  // Bytes that all the device's caches hold.
  static uint64_t held_bytes(int device);

  explicit BlockCache(cuda::Stream stream) : stream_(stream) {}

  // A block of exactly block_bytes(bytes), or null.
  void* take(uint64_t bytes);

  // Whether the cache keeps the block; else it is the caller's to free.
  bool keep(void* data, uint64_t bytes);

  // Frees all blocks, on the stream.
  void clear();

 private:
  struct Block {
    void* data;
    uint64_t bytes;
  };

  cuda::Stream stream_;
  std::vector<Block> blocks_;
  uint64_t held_ = 0;
};

}  // namespace ww
