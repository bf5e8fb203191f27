// What the mean square of a row needs that float may not hold.
#pragma once

#include "warpwright/dtype.h"

namespace ww {

// Squares of floats beyond 1.8e19 overflow, those of floats below 1e-19 fade. A row whose mean
// square comes out so is computed again with a scaling: of h * scaling^2 the squares are summed,
// and out is (h * scaling) * (rstd * scaling), so that neither factor leaves float. The largest
// float times kShrink^2, squared, times any hidden_size, is finite.
inline constexpr float kShrink = 0x1p-40f;
inline constexpr float kGrow = 0x1p48f;

// 1, or the scaling for a row whose mean square, with eps, was found to be mean_sq.
WW_HOST_DEVICE inline float rescaling(float mean_sq) {
  constexpr float kLargest = 0x1.fffffep127f;
  constexpr float kFaded = 0x1p-100f;
  if (mean_sq > kLargest) return kShrink;
  return mean_sq < kFaded ? kGrow : 1.0f;
}

}  // namespace ww
