#include "shared_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "asan.h"
#include "report.h"
#include "run.h"

namespace cudaemu {
namespace {

template <typename T>
T* reserve(size_t count) {
  void* data = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(data);
}

size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

SharedMemory& shared_memory() {
  static auto& instance = *new SharedMemory;
  return instance;
}

SharedMemory::SharedMemory()
    : arenas_(reserve<char>(kArenaBytes * kMaxCluster)),
      cells_(reserve<Cell>(kArenaBytes * kMaxCluster)),
      owners_(kArenaBytes) {}

void SharedMemory::start_launch(unsigned blocks, size_t dynamic_bytes, bool checked) {
  std::fill_n(owners_.begin(), used_, uint16_t{0});
  variables_.clear();
  blocks_ = blocks;
  checked_ = checked;
  static_bytes_ = 0;
  used_ = kDynamicOffset;
  for (unsigned block = 0; block < blocks; ++block) poison(arena(block), kArenaBytes);
  if (dynamic_bytes == 0) return;
  add({nullptr, "dynamic shared memory", kDynamicOffset, dynamic_bytes});
}

void SharedMemory::start_cluster() {
  for (unsigned block = 0; block < blocks_; ++block)
    for (const SharedVariable& variable : variables_)
      clear(block, variable.offset, variable.offset + variable.bytes);
}

void SharedMemory::clear(unsigned block, size_t begin, size_t end) {
  std::memset(arena(block) + begin, 0xff, end - begin);
  if (checked_) std::fill_n(cells(arena(block) + begin), end - begin, Cell{});
}

void SharedMemory::add(SharedVariable variable) {
  variables_.push_back(variable);
  used_ = variable.offset + variable.bytes + kRedzone;
  const auto index = static_cast<uint16_t>(variables_.size());
  std::fill_n(owners_.begin() + variable.offset, variable.bytes, index);
  for (unsigned block = 0; block < blocks_; ++block) {
    unpoison(arena(block) + variable.offset, variable.bytes);
    clear(block, variable.offset, variable.offset + variable.bytes);
  }
}

void* SharedMemory::variable(unsigned block, const void* key, const char* name, size_t bytes,
                             size_t alignment) {
  const auto found = std::ranges::find(variables_, key, &SharedVariable::key);
  if (found != variables_.end()) return arena(block) + found->offset;
  const size_t offset = round_up(used_, std::max<size_t>(alignment, 16));
  static_bytes_ += bytes;
  if (static_bytes_ > kMaxStaticBytes || offset + bytes + kRedzone > kArenaBytes)
    fail(cudaErrorLaunchFailure,
         format("too much static shared memory: %s brings it to %zu bytes, 49152 is the limit",
                name, static_bytes_));
  add({key, name, offset, bytes});
  return arena(block) + offset;
}

char* SharedMemory::map(const void* address, unsigned block) {
  return arena(block) + offset_of(address) % kArenaBytes;
}

const SharedVariable* SharedMemory::variable_of(const void* address, size_t bytes) const {
  const size_t offset = offset_of(address) % kArenaBytes;
  if (block_of(address) >= blocks_ || offset + bytes > kArenaBytes) return nullptr;
  const uint16_t owner = owners_[offset];
  if (owner == 0 || owners_[offset + bytes - 1] != owner) return nullptr;
  return &variables_[owner - 1];
}

Text SharedMemory::describe(const void* address) const {
  const size_t offset = offset_of(address) % kArenaBytes;
  const SharedVariable* nearest = nullptr;
  for (const SharedVariable& variable : variables_)
    if (variable.offset <= offset) nearest = &variable;
  if (nearest == nullptr) return format("shared memory");
  return format("%s + %zu bytes (it has %zu)", nearest->name, offset - nearest->offset,
                nearest->bytes);
}

}  // namespace cudaemu

using namespace cudaemu;

CUDAEMU_API void* cudaemu_shared(const void* key, const char* name, size_t bytes,
                                 size_t alignment) {
  return shared_memory().variable(current->block->rank, key, name, bytes, alignment);
}

CUDAEMU_API void* cudaemu_dynamic_shared() { return shared_memory().dynamic(current->block->rank); }

CUDAEMU_API void* cudaemu_map_shared(const void* variable, unsigned rank) {
  if (!shared_memory().holds(variable))
    fail(cudaErrorLaunchFailure, format("map_shared_rank of an address that is not shared memory"),
         {}, __builtin_return_address(0));
  if (rank >= current_run->blocks().size())
    fail(cudaErrorLaunchFailure,
         format("map_shared_rank of block %u in a cluster of %zu", rank,
                current_run->blocks().size()),
         {}, __builtin_return_address(0));
  return shared_memory().map(variable, rank);
}
