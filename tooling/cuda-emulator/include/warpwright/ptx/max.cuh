// The emulator's form of the headers' file of this name, found first by emulated builds.
#pragma once

#include <math.h>

namespace ww {

inline float max_nan(float a, float b) { return isnan(a) || isnan(b) ? NAN : fmaxf(a, b); }

}  // namespace ww
