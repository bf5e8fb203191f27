// cp.async: copies from global to shared memory that pass through no register and go on while the
// thread computes (PTX ISA, "cp.async", of sm_80).
//
// Each thread has its own copies, in groups: what it has issued since the last commit is the next
// group. From the issue until the wait, what stands at the destination is anything. A thread that
// has waited sees its own copies; the others see them behind a barrier that follows the wait.
#pragma once

#include <cstdint>

namespace ww {

// kBytes from global to shared memory, both aligned to kBytes. Of 16 bytes, only L2 keeps a copy
// (.cg): what is copied is read again from shared memory. The hardware has 4 and 8 with .ca only.
//
// The first source_bytes (0 to kBytes) come from memory and zeros follow; nothing behind them is
// read, and with 0 it may be any aligned address. A constant costs nothing: where it is kBytes,
// the instruction is the one without a size.
template <int kBytes>
__device__ inline void cp_async(void* shared, const void* global, int source_bytes = kBytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  const auto from = static_cast<uint64_t>(__cvta_generic_to_global(global));
  // "memory": neither a read of what is replaced nor a write of what is copied may be moved past.
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(source_bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes),
                 "r"(source_bytes)
                 : "memory");
}

// Closes the thread's group of copies; a group may be empty, which keeps the count of a pipeline's
// last rounds.
__device__ inline void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits for all of the thread's groups but the newest kNewest.
template <int kNewest>
__device__ inline void cp_async_wait() {
  static_assert(kNewest >= 0);
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewest) : "memory");
}

// Waits for all of the thread's copies, also those of no group yet.
__device__ inline void cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace ww
