// Device memory and pinned host memory. Each allocation has pages of its own in address space that
// is never used again, so an address says for good which allocation it belongs or belonged to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "report.h"

namespace cudaemu {

inline constexpr int kDevices = 2;
inline constexpr int kHost = kDevices;  // where pinned memory is

// "cuda:0", "pinned host memory".
Text place_name(int device);

struct Allocation {
  char* data;
  size_t bytes;
  int device;
  bool freed = false;
  bool released = false;  // to be freed when its stream comes to it
  // In stream order: where it begins to exist (a stream's slot and tick, 0 before that), and the
  // last use by each stream.
  size_t birth_slot = 0;
  uint64_t birth_tick = 0;
  std::vector<std::pair<size_t, uint64_t>> uses{};
};

class DeviceMemory {
 public:
  DeviceMemory();

  // Null if the device has not enough left.
  Allocation* allocate(int device, size_t bytes);
  void free(Allocation& allocation);

  bool holds(const void* address) const { return offset_of(address) < kSpaceBytes * kSpaces; }
  // What has or had the page of the address; null for memory that was never allocated.
  Allocation* find(const void* address);
  // "byte 4100 of an allocation of 4096 bytes on cuda:0".
  Text describe(const void* address);

  size_t total() const { return kDeviceBytes; }
  void let_access(int device, int owner) { accessible_[device][owner] = true; }
  bool can_access(int device, int owner) const {
    return owner == kHost || device == owner || accessible_[device][owner];
  }

 private:
  static constexpr int kSpaces = kDevices + 1;
  static constexpr size_t kSpaceBytes = size_t{256} << 30;
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kDeviceBytes = size_t{8} << 30;

  Allocation* nearest(const char* byte);
  size_t offset_of(const void* address) const {
    return static_cast<size_t>(static_cast<const char*>(address) - base_);
  }
  size_t page_of(const void* address) const { return offset_of(address) / kPageBytes; }

  char* base_;
  uint32_t* pages_;  // index + 1 of each page's allocation
  std::deque<Allocation> allocations_;
  std::array<size_t, kSpaces> next_{};
  std::array<size_t, kSpaces> used_{};
  bool accessible_[kDevices][kDevices]{};
};

DeviceMemory& device_memory();

}  // namespace cudaemu
