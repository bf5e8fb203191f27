// Shared memory of the running cluster's blocks: an arena each, in which every variable has the
// same place and redzones around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "race.h"
#include "report.h"

namespace cudaemu {

inline constexpr size_t kArenaBytes = 320 << 10;
inline constexpr size_t kMaxCluster = 16;
inline constexpr size_t kMaxStaticBytes = 48 << 10;

struct SharedVariable {
  const void* key;
  const char* name;
  size_t offset;
  size_t bytes;
};

class SharedMemory {
 public:
  SharedMemory();

  void start_launch(unsigned blocks, size_t dynamic_bytes, bool checked);
  // Fresh contents: NaN as floating-point numbers, and known as not written.
  void start_cluster();

  void* variable(unsigned block, const void* key, const char* name, size_t bytes, size_t alignment);
  void* dynamic(unsigned block) { return arena(block) + kDynamicOffset; }
  // The same variable of another block.
  char* map(const void* address, unsigned block);

  bool holds(const void* address) const {
    return static_cast<size_t>(static_cast<const char*>(address) - arenas_) <
           kArenaBytes * kMaxCluster;
  }
  unsigned block_of(const void* address) const { return offset_of(address) / kArenaBytes; }
  // Null if the bytes are not all inside one variable.
  const SharedVariable* variable_of(const void* address, size_t bytes) const;
  const std::vector<SharedVariable>& variables() const { return variables_; }
  Cell* cells(unsigned block, size_t offset) { return cells_ + block * kArenaBytes + offset; }
  Cell* cells(const void* address) { return cells_ + offset_of(address); }
  // "partials + 32 bytes", or how far beyond it.
  Text describe(const void* address) const;

 private:
  static constexpr size_t kRedzone = 64;
  static constexpr size_t kDynamicOffset = 128;

  char* arena(unsigned block) const { return arenas_ + block * kArenaBytes; }
  size_t offset_of(const void* address) const {
    return static_cast<size_t>(static_cast<const char*>(address) - arenas_);
  }
  void add(SharedVariable variable);
  void clear(unsigned block, size_t begin, size_t end);

  char* arenas_;
  Cell* cells_;
  std::vector<uint16_t> owners_;  // of an arena's bytes: a variable's index + 1, or 0
  std::vector<SharedVariable> variables_;
  size_t used_ = kArenaBytes;
  size_t static_bytes_ = 0;
  unsigned blocks_ = 0;
  bool checked_ = false;
};

SharedMemory& shared_memory();

}  // namespace cudaemu
