#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <vector>

#include "asan.h"

// Saves the callee's registers and the stack pointer, and continues where `to` was left. It ends
// in a jump through a register: `ret` would be predicted to return to this fiber's caller, and the
// misprediction costs five times the rest.
extern "C" void cudaemu_switch(void** from, void* to);
asm(R"(
.text
.p2align 4
.type cudaemu_switch,@function
cudaemu_switch:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  pop %r8
  jmp *%r8
.size cudaemu_switch,.-cudaemu_switch
)");

namespace cudaemu {
namespace {

constexpr int kSavedRegisters = 6;
constexpr size_t kMaxStacks = 16 * 1024;  // a cluster of 16 blocks
// Each guard page costs two mappings, of which a process has 65,530.
constexpr size_t kGuardedStacks = 4096;

void* scheduler_stack_pointer;
const void* scheduler_stack;  // as AddressSanitizer knows it
size_t scheduler_stack_bytes;

class StackPool {
 public:
  char* take() {
    if (!free_.empty()) {
      char* stack = free_.back();
      free_.pop_back();
      return stack;
    }
    if (base_ == nullptr) reserve();
    if (made_ == kMaxStacks) throw std::bad_alloc();
    char* slot = base_ + made_ * kStackBytes;
    if (made_++ < kGuardedStacks) mprotect(slot, kGuardBytes, PROT_NONE);
    return slot + kGuardBytes;
  }

  void give_back(char* stack) { free_.push_back(stack); }

  bool is_guard(const char* address) const {
    const auto offset = static_cast<size_t>(address - base_);
    return base_ != nullptr && offset < kMaxStacks * kStackBytes &&
           offset % kStackBytes < kGuardBytes;
  }

  // Tops a multiple of 4 KiB apart would share the same few lines of the cache.
  size_t colour(const char* stack) const {
    constexpr size_t kColours = 16;
    constexpr size_t kLines = 3 * 64;
    return static_cast<size_t>(stack - base_) / kStackBytes % kColours * kLines;
  }

 private:
  void reserve() {
    void* base = mmap(nullptr, kMaxStacks * kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<char*>(base);
  }

  char* base_ = nullptr;
  size_t made_ = 0;
  std::vector<char*> free_;
};

StackPool& stack_pool() {
  static auto& pool = *new StackPool;
  return pool;
}

}  // namespace

void start_fiber(Fiber& fiber, void (*entry)()) {
  fiber.stack = stack_pool().take();
  fiber.fake_stack = nullptr;
  char* end = fiber.stack + kStackBytes - kGuardBytes - stack_pool().colour(fiber.stack);
  // A function is entered with rsp % 16 == 8, or SSE code in it would fault.
  auto* top = reinterpret_cast<uintptr_t*>(end) - 3;
  top[0] = 0;  // where entry would return to: the end of every backtrace
  *--top = reinterpret_cast<uintptr_t>(entry);
  for (int i = 0; i < kSavedRegisters; ++i) *--top = 0;
  fiber.stack_pointer = top;
}

void end_fiber(Fiber& fiber) {
  if (fiber.stack == nullptr) return;
  // What an abandoned fiber's frames have poisoned would be false alarms in the next one.
  unpoison(fiber.stack, kStackBytes - kGuardBytes);
  stack_pool().give_back(fiber.stack);
  fiber.stack = nullptr;
}

void switch_to(Fiber& fiber) {
  void* fake_stack = nullptr;
  if (under_asan())
    __sanitizer_start_switch_fiber(&fake_stack, fiber.stack, kStackBytes - kGuardBytes);
  cudaemu_switch(&scheduler_stack_pointer, fiber.stack_pointer);
  if (under_asan()) __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
}

void switch_back(Fiber& fiber, bool last) {
  if (under_asan())
    __sanitizer_start_switch_fiber(last ? nullptr : &fiber.fake_stack, scheduler_stack,
                                   scheduler_stack_bytes);
  cudaemu_switch(&fiber.stack_pointer, scheduler_stack_pointer);
  if (under_asan())
    __sanitizer_finish_switch_fiber(fiber.fake_stack, &scheduler_stack, &scheduler_stack_bytes);
}

void enter_fiber() {
  if (under_asan())
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_bytes);
}

bool is_stack_guard(const void* address) {
  return stack_pool().is_guard(static_cast<const char*>(address));
}

}  // namespace cudaemu
