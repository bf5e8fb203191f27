// The functions that -fsanitize=thread makes the check build's code call. Every plain load and
// store of a kernel arrives here; libtsan has no part in it.

#include "access.h"

namespace {

using cudaemu::Access;

inline void see(const void* address, size_t bytes, Access access, const void* code) {
  const cudaemu::Thread* thread = cudaemu::current;
  // Host code of the same file, or what most accesses are: the thread's own variables.
  if (thread == nullptr || thread->fiber.holds(address)) return;
  // The call's own address is in front of where it returns to.
  cudaemu::check_access(address, bytes, access, {}, static_cast<const char*>(code) - 1);
}

}  // namespace

#define CUDAEMU_ACCESS(name, access, bytes)                   \
  CUDAEMU_API void __tsan_##name##bytes(void* address) {      \
    see(address, bytes, access, __builtin_return_address(0)); \
  }
#define CUDAEMU_ACCESSES(name, access) \
  CUDAEMU_ACCESS(name, access, 1)      \
  CUDAEMU_ACCESS(name, access, 2)      \
  CUDAEMU_ACCESS(name, access, 4)      \
  CUDAEMU_ACCESS(name, access, 8)      \
  CUDAEMU_ACCESS(name, access, 16)
CUDAEMU_ACCESSES(read, Access::read)
CUDAEMU_ACCESSES(write, Access::write)
CUDAEMU_ACCESSES(unaligned_read, Access::read)
CUDAEMU_ACCESSES(unaligned_write, Access::write)
CUDAEMU_ACCESSES(volatile_read, Access::read)
CUDAEMU_ACCESSES(volatile_write, Access::write)

CUDAEMU_API void __tsan_read_range(void* address, size_t bytes) {
  see(address, bytes, Access::read, __builtin_return_address(0));
}
CUDAEMU_API void __tsan_write_range(void* address, size_t bytes) {
  see(address, bytes, Access::write, __builtin_return_address(0));
}
CUDAEMU_API void __tsan_vptr_update(void**, void*) {}
CUDAEMU_API void __tsan_vptr_read(void**) {}
CUDAEMU_API void __tsan_init() {}
CUDAEMU_API void __tsan_func_entry(void*) {}
CUDAEMU_API void __tsan_func_exit() {}

// std::atomic and static locals of the host code in a .cu file: the operation itself. All are at
// least as strong as asked for.
#define CUDAEMU_ATOMIC(bits, type)                                                                 \
  CUDAEMU_API type __tsan_atomic##bits##_load(const volatile type* p, int) {                       \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                \
  CUDAEMU_API void __tsan_atomic##bits##_store(volatile type* p, type value, int) {                \
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                  \
  }                                                                                                \
  CUDAEMU_API type __tsan_atomic##bits##_exchange(volatile type* p, type value, int) {             \
    return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                        \
  }                                                                                                \
  CUDAEMU_API type __tsan_atomic##bits##_fetch_add(volatile type* p, type value, int) {            \
    return __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST);                                         \
  }                                                                                                \
  CUDAEMU_API type __tsan_atomic##bits##_fetch_sub(volatile type* p, type value, int) {            \
    return __atomic_fetch_sub(p, value, __ATOMIC_SEQ_CST);                                         \
  }                                                                                                \
  CUDAEMU_API bool __tsan_atomic##bits##_compare_exchange_strong(volatile type* p, type* expected, \
                                                                 type value, int, int) {           \
    return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST,                \
                                       __ATOMIC_SEQ_CST);                                          \
  }                                                                                                \
  CUDAEMU_API bool __tsan_atomic##bits##_compare_exchange_weak(volatile type* p, type* expected,   \
                                                               type value, int, int) {             \
    return __atomic_compare_exchange_n(p, expected, value, true, __ATOMIC_SEQ_CST,                 \
                                       __ATOMIC_SEQ_CST);                                          \
  }
CUDAEMU_ATOMIC(8, uint8_t)
CUDAEMU_ATOMIC(32, uint32_t)
CUDAEMU_ATOMIC(64, uint64_t)
CUDAEMU_API void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
