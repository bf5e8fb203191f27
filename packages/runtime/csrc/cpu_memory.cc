#include "cpu_memory.h"

#include <sys/mman.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "thread_pool.h"

namespace ww {
namespace {

constexpr size_t kAlignment = 64;

// From here on memory comes straight from the kernel, in huge pages where it has them: the first
// touch of a fresh output costs one fault per 2 MiB instead of 512, and zeroed pages are free.
constexpr size_t kMappedBytes = size_t{4} << 20;
constexpr size_t kHugePage = size_t{2} << 20;

// 13 us of one thread's copying, several times what handing a piece to another costs. Small enough
// for all the threads of a large machine to have a part of one staging buffer.
constexpr int64_t kCopyGrain = 128 << 10;

size_t round_up(size_t bytes, size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Not aligned_alloc: glibc's asks for more than it frees, so that a loop over one size, with other
// allocations in between, finds no hole to use again. The block's start is kept before the data.
void* allocate_aligned(size_t bytes, bool zero) {
  const size_t size = bytes + sizeof(void*) + kAlignment;
  void* base = zero ? std::calloc(1, size) : std::malloc(size);
  if (base == nullptr) return nullptr;
  const uintptr_t data = round_up(reinterpret_cast<uintptr_t>(base) + sizeof(void*), kAlignment);
  reinterpret_cast<void**>(data)[-1] = base;
  return reinterpret_cast<void*>(data);
}

// Maps one huge page too much and gives back what lies outside the aligned part.
void* map_aligned(size_t bytes) {
  const size_t size = round_up(bytes, kHugePage);
  void* base =
      mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(base);
  const uintptr_t aligned = round_up(begin, kHugePage);
  const size_t head = aligned - begin;
  if (head > 0) munmap(base, head);
  munmap(reinterpret_cast<void*>(aligned + size), kHugePage - head);
  void* data = reinterpret_cast<void*>(aligned);
  madvise(data, size, MADV_HUGEPAGE);  // a wish: systems without huge pages refuse it
  return data;
}

std::atomic<uint64_t> allocated_bytes{0};
std::atomic<uint64_t> peak_bytes{0};

void count_allocation(uint64_t bytes) {
  const uint64_t now = allocated_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  uint64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

// memcpy with stores that do not fetch the target's lines first.
void* copy_past_caches(void* dst, const void* src, size_t bytes) {
#if defined(__SSE2__)
  constexpr size_t kVector = sizeof(__m128i);
  auto* to = static_cast<char*>(dst);
  const auto* from = static_cast<const char*>(src);
  const size_t head = std::min(bytes, -reinterpret_cast<uintptr_t>(dst) % kVector);
  const size_t end = head + (bytes - head) / kVector * kVector;
  std::memcpy(to, from, head);
  for (size_t at = head; at < end; at += kVector)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
  std::memcpy(to + end, from + end, bytes - end);
  _mm_sfence();  // other threads see what was written before they learn that it was
  return dst;
#else
  return std::memcpy(dst, src, bytes);
#endif
}

template <void* (*kCopy)(void*, const void*, size_t)>
void parallel_copy(void* dst, const void* src, size_t bytes) {
  struct Copy {
    char* dst;
    const char* src;
  } copy{static_cast<char*>(dst), static_cast<const char*>(src)};
  parallel_for(
      static_cast<int64_t>(bytes), kCopyGrain,
      [](void* context, int64_t begin, int64_t end) {
        const auto* copy = static_cast<const Copy*>(context);
        kCopy(copy->dst + begin, copy->src + begin, end - begin);
      },
      &copy);
}

}  // namespace

void* cpu_allocate(size_t bytes, bool zero) {
  if (bytes > SIZE_MAX - 2 * kHugePage) return nullptr;
  const auto allocate = [&] {
    return bytes >= kMappedBytes ? map_aligned(bytes) : allocate_aligned(bytes, zero);
  };
  void* data = allocate();
#if defined(__GLIBC__)
  if (data == nullptr && malloc_trim(0) != 0) data = allocate();
#endif
  if (data != nullptr) count_allocation(bytes);
  return data;
}

void cpu_copy(void* dst, const void* src, size_t bytes) {
  parallel_copy<std::memcpy>(dst, src, bytes);
}

void cpu_copy_past_caches(void* dst, const void* src, size_t bytes) {
  parallel_copy<copy_past_caches>(dst, src, bytes);
}

void cpu_memory_stats(uint64_t& allocated, uint64_t& peak) {
  allocated = allocated_bytes.load(std::memory_order_relaxed);
  peak = peak_bytes.load(std::memory_order_relaxed);
}

void cpu_free(void* data, size_t bytes) {
  allocated_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  if (bytes >= kMappedBytes) {
    munmap(data, round_up(bytes, kHugePage));
  } else {
    std::free(static_cast<void**>(data)[-1]);
  }
}

}  // namespace ww
