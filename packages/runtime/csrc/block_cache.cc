#include "block_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>

namespace ww {
namespace {

constexpr uint64_t kStep = 512;
// Larger blocks take the device long enough for an allocation not to matter.
constexpr uint64_t kMaxBlockBytes = uint64_t{4} << 20;
constexpr uint64_t kMaxHeldBytes = uint64_t{32} << 20;
constexpr size_t kMaxBlocks = 64;  // few enough to look through

// Off where a checker of memory has to see every allocation, its size, and every free.
bool is_enabled() {
  static const bool enabled = [] {
    const char* text = std::getenv("WARPWRIGHT_BLOCK_CACHE");
    return text == nullptr || std::string_view(text) != "0";
  }();
  return enabled;
}

std::atomic<uint64_t>& held_on(int device) {
  static auto& held = *new std::array<std::atomic<uint64_t>, cuda::kMaxDevices>{};
  return held[device];
}

}  // namespace

uint64_t BlockCache::block_bytes(uint64_t bytes) {
  return bytes > kMaxBlockBytes || !is_enabled() ? bytes : (bytes + kStep - 1) / kStep * kStep;
}

uint64_t BlockCache::held_bytes(int device) { return held_on(device); }

void* BlockCache::take(uint64_t bytes) {
  const uint64_t wanted = block_bytes(bytes);
  const auto is_it = [&](const Block& block) { return block.bytes == wanted; };
  // The one freed last, whose memory is the likeliest to be in the device's cache.
  const auto found = std::find_if(blocks_.rbegin(), blocks_.rend(), is_it);
  if (found == blocks_.rend()) return nullptr;
  void* data = found->data;
  blocks_.erase(std::next(found).base());
  held_ -= wanted;
  held_on(stream_.device) -= wanted;
  return data;
}

bool BlockCache::keep(void* data, uint64_t bytes) {
  const uint64_t size = block_bytes(bytes);
  if (!is_enabled() || size > kMaxBlockBytes || held_ + size > kMaxHeldBytes ||
      blocks_.size() == kMaxBlocks)
    return false;
  blocks_.push_back({data, size});
  held_ += size;
  held_on(stream_.device) += size;
  return true;
}

void BlockCache::clear() {
  for (const Block& block : blocks_) cuda::free(stream_, block.data);
  blocks_.clear();
  held_on(stream_.device) -= held_;
  held_ = 0;
}

}  // namespace ww
