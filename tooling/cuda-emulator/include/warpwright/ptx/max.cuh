// The emulator's form of the headers' file of this name, found first by emulated builds.
#pragma once

#include <math.h>

namespace ww {

inline float min_nan(float a, float b) {
  if (isnan(a) || isnan(b)) return NAN;
  return a < b || (a == b && signbit(a)) ? a : b;
}

inline float max_nan(float a, float b) { return -min_nan(-a, -b); }

}  // namespace ww
