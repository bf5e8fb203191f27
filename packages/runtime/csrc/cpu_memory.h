// Host memory of tensors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ww {

// A 64-byte aligned block, zeroed if asked; null if there is not enough memory, also after the heap
// has given back to the system what it does not use.
void* cpu_allocate(size_t bytes, bool zero);

// memcpy by several threads where that pays; the two must not overlap.
void cpu_copy(void* dst, const void* src, size_t bytes);

// The same to a target that is larger than the caches, which keep what they have.
void cpu_copy_past_caches(void* dst, const void* src, size_t bytes);

// `bytes` as it was allocated.
void cpu_free(void* data, size_t bytes);

// Bytes that cpu_allocate has given and not got back, and the most that they were.
void cpu_memory_stats(uint64_t& allocated, uint64_t& peak);

}  // namespace ww
