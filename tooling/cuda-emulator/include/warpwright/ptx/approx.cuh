// The emulator's form of the headers' file of this name, found first by emulated builds.
#pragma once

#include <math.h>

#include <limits>

namespace ww {

namespace detail {

inline float flushed(float x) {
  return fabsf(x) < std::numeric_limits<float>::min() ? copysignf(0.0f, x) : x;
}

}  // namespace detail

inline float exp2_approx(float x) { return detail::flushed(exp2f(detail::flushed(x))); }

inline float reciprocal_approx(float x) {
  const float flushed = detail::flushed(x);
  if (flushed == 0.0f) return copysignf(std::numeric_limits<float>::infinity(), flushed);
  return detail::flushed(1.0f / flushed);
}

}  // namespace ww
