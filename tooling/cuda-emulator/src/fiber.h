// Stacks for the threads of a block, and switching between them and the scheduler.
#pragma once

#include <cstddef>

namespace cudaemu {

inline constexpr size_t kStackBytes = 64 << 10;
inline constexpr size_t kGuardBytes = 4096;

struct Fiber {
  char* stack = nullptr;  // its lowest usable byte; null before the start and after the end
  void* stack_pointer = nullptr;
  void* fake_stack = nullptr;  // AddressSanitizer's

  bool holds(const void* address) const {
    return static_cast<size_t>(static_cast<const char*>(address) - stack) <
           kStackBytes - kGuardBytes;
  }
};

// Takes a stack; the first switch to the fiber calls entry, which never returns.
void start_fiber(Fiber& fiber, void (*entry)());
// The stack may serve another fiber afterwards, whether the fiber came to its end or not.
void end_fiber(Fiber& fiber);

// From the scheduler into a fiber; returns when the fiber switches back.
void switch_to(Fiber& fiber);
// The other way. `last`: the fiber is never entered again.
void switch_back(Fiber& fiber, bool last);
// The first thing that an entry calls.
void enter_fiber();

// Whether the address is in the page below some fiber's stack.
bool is_stack_guard(const void* address);

}  // namespace cudaemu
