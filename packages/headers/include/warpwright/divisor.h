// Division by numbers that a launch knows beforehand.
#pragma once

#include <bit>
#include <cstdint>

#include "warpwright/dtype.h"

namespace ww {

// Divides numerators below 2^31 by a multiplication: Granlund and Montgomery, 1994, "Division by
// Invariant Integers using Multiplication". From 1 to 2^31 - 1.
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(uint32_t value)
      : value_(value),
        shift_(31 + std::bit_width(value - 1)),
        multiplier_(static_cast<uint32_t>(((uint64_t{1} << shift_) - 1) / value + 1)) {}

  WW_HOST_DEVICE uint32_t value() const { return value_; }

  // Leaves the quotient in `numerator` and returns the remainder.
  WW_HOST_DEVICE uint32_t take(uint32_t& numerator) const {
    const uint32_t whole = numerator;
    numerator = static_cast<uint32_t>(uint64_t{whole} * multiplier_ >> shift_);
    return whole - numerator * value_;
  }

 private:
  uint32_t value_ = 1;
  int shift_ = 31;
  uint32_t multiplier_ = 0x80000000;
};

}  // namespace ww
