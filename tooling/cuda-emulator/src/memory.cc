#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "asan.h"
#include "report.h"

namespace cudaemu {
namespace {

// As cudaMalloc's, and no more than that: addresses at the start of pages would hide what relies
// on more.
constexpr size_t kAlignment = 256;
// Beyond that, poisoning would cost more memory than the tests have.
constexpr size_t kMaxPoisoned = size_t{16} << 20;

void* reserve(size_t bytes, int protection) {
  void* data = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return data;
}

size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

Text place_name(int device) {
  return device == kHost ? format("pinned host memory") : format("cuda:%d", device);
}

DeviceMemory& device_memory() {
  static auto& instance = *new DeviceMemory;
  return instance;
}

DeviceMemory::DeviceMemory()
    : base_(static_cast<char*>(reserve(kSpaceBytes * kSpaces, PROT_NONE))),
      pages_(static_cast<uint32_t*>(reserve(kSpaceBytes / kPageBytes * kSpaces * sizeof(uint32_t),
                                            PROT_READ | PROT_WRITE))) {}

// The data ends at the end of its last page, up to the alignment, with an inaccessible page behind:
// the processor itself notices larger steps out of it, in every build.
Allocation* DeviceMemory::allocate(int device, size_t bytes) {
  const size_t mapped = round_up(std::max<size_t>(bytes, 1), kPageBytes);
  if (device != kHost && used_[device] + bytes > kDeviceBytes) return nullptr;
  if (next_[device] + mapped + 2 * kPageBytes > kSpaceBytes) return nullptr;
  char* first = base_ + device * kSpaceBytes + next_[device] + kPageBytes;
  if (mprotect(first, mapped, PROT_READ | PROT_WRITE) != 0) return nullptr;
  next_[device] += mapped + kPageBytes;
  used_[device] += bytes;
  char* data = first + mapped - round_up(bytes, kAlignment);
  allocations_.push_back({.data = data, .bytes = bytes, .device = device});
  std::fill_n(pages_ + page_of(first), mapped / kPageBytes,
              static_cast<uint32_t>(allocations_.size()));
  // NaN to every floating-point type.
  std::memset(data, 0xff, std::min(bytes, kMaxPoisoned));
  poison(first, data - first);
  poison(data + bytes, first + mapped - data - bytes);
  return &allocations_.back();
}

void DeviceMemory::free(Allocation& allocation) {
  allocation.freed = true;
  used_[allocation.device] -= allocation.bytes;
  char* first = base_ + offset_of(allocation.data) / kPageBytes * kPageBytes;
  const size_t mapped = round_up(allocation.data + allocation.bytes - first, kPageBytes);
  unpoison(first, mapped);
  // A new mapping instead of the old gives the memory back.
  mmap(first, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

Allocation* DeviceMemory::find(const void* address) {
  if (!holds(address)) return nullptr;
  const uint32_t id = pages_[page_of(address)];
  return id == 0 ? nullptr : &allocations_[id - 1];
}

// An allocation, or the nearest of those next to an inaccessible page.
Allocation* DeviceMemory::nearest(const char* byte) {
  if (!holds(byte)) return nullptr;
  if (Allocation* allocation = find(byte)) return allocation;
  Allocation* before = find(byte - kPageBytes);
  Allocation* behind = find(byte + kPageBytes);
  if (before == nullptr || behind == nullptr) return before == nullptr ? behind : before;
  return byte - (before->data + before->bytes) < behind->data - byte ? before : behind;
}

Text DeviceMemory::describe(const void* address) {
  const auto* byte = static_cast<const char*>(address);
  const Allocation* allocation = nearest(byte);
  if (allocation == nullptr) return format("address %p, which is no device memory", address);
  return format("byte %td of %s of %zu bytes of %s", byte - allocation->data,
                allocation->freed ? "a freed allocation" : "an allocation", allocation->bytes,
                place_name(allocation->device).c_str());
}

}  // namespace cudaemu
