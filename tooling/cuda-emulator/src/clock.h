// A vector clock: how far into each of several sequences of events somebody has seen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudaemu {

class Clock {
 public:
  uint64_t operator[](size_t i) const { return i < ticks_.size() ? ticks_[i] : 0; }

  uint64_t advance(size_t i) {
    if (i >= ticks_.size()) ticks_.resize(i + 1);
    return ++ticks_[i];
  }

  void set(size_t i, uint64_t tick) {
    if (i >= ticks_.size()) ticks_.resize(i + 1);
    ticks_[i] = tick;
  }

  void join(const Clock& other) {
    if (other.ticks_.size() > ticks_.size()) ticks_.resize(other.ticks_.size());
    for (size_t i = 0; i < other.ticks_.size(); ++i)
      ticks_[i] = std::max(ticks_[i], other.ticks_[i]);
  }

 private:
  std::vector<uint64_t> ticks_;
};

}  // namespace cudaemu
