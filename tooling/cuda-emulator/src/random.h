// Pseudo-random choices (xorshift64*): the same seed, the same choices.
#pragma once

#include <cstdint>

namespace cudaemu {

class Random {
 public:
  // Seed 0 is no randomness at all: every choice is the first.
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u) {}

  bool active() const { return state_ != 0; }

  // In [0, limit).
  uint64_t below(uint64_t limit) {
    if (state_ == 0) return 0;
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return ((state_ * 0x2545f4914f6cdd1du) >> 32) % limit;
  }

 private:
  uint64_t state_;
};

}  // namespace cudaemu
