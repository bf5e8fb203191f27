// AddressSanitizer's interface, where the process has it: weak, so that one library serves plain
// processes and those that preload libasan.
#pragma once

#include <cstddef>

extern "C" {
__attribute__((weak)) void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom,
                                                          size_t bytes);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom,
                                                           size_t* bytes);
__attribute__((weak)) void __asan_poison_memory_region(const volatile void* data, size_t bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void* data, size_t bytes);
}

namespace cudaemu {

inline bool under_asan() { return __asan_poison_memory_region != nullptr; }

inline void poison(const void* data, size_t bytes) {
  if (under_asan()) __asan_poison_memory_region(data, bytes);
}

inline void unpoison(const void* data, size_t bytes) {
  if (under_asan()) __asan_unpoison_memory_region(data, bytes);
}

}  // namespace cudaemu
