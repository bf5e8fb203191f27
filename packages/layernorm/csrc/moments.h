// The mean and the variance of a row, found in two passes over it, and what both backends do where
// two are not enough.
#pragma once

#include <type_traits>

#include "warpwright/dtype.h"

namespace ww {

// Sums and squares of floats beyond 1.8e19 overflow, squares below 1e-19 fade. A row of which they
// do is looked at again, scaled by a power of two: the largest float times kShrink, squared, times
// any hidden_size is finite, and so is a square of less than kFaded times kGrow^2.
inline constexpr float kShrink = 0x1p-80f;
inline constexpr float kGrow = 0x1p96f;
inline constexpr float kFaded = 0x1p-100f;

// The powers of two, and their absence for rows that do not need them, which nearly all are.
struct Scaled {
  float shrink = 1.0f;
  float grow = 1.0f;
};
struct Unscaled {
  static constexpr float shrink = 1.0f;
  static constexpr float grow = 1.0f;
};

// To be used as
//
//   do {
//     if (!moments.has_mean) moments.start(<sum of shrunk(x)>, inverse_size);
//   } while (!moments.settle<T>(<sum of deviation(x)>, <sum of its square, grown>,
//                                inverse_size, eps));
//
// of which Unscaled makes one attempt.
//
// The deviations' own mean corrects the first, whose rounding is large beside a small spread, and
// the variance: Chan, Golub and LeVeque, 1983, "Algorithms for Computing the Sample Variance".
template <typename Scales>
struct Moments : Scales {
  using Scales::grow;
  using Scales::shrink;
  float mean = 0.0f;        // of the shrunk row, rounded
  float correction = 0.0f;  // mean of the deviations from that
  float variance = 0.0f;    // of the row, shrunk and grown, plus eps
  bool has_mean = false;
  bool recentred = false;

  WW_HOST_DEVICE float shrunk(float x) const { return x * shrink; }
  WW_HOST_DEVICE float deviation(float x) const { return shrunk(x) - mean; }
  WW_HOST_DEVICE float centred(float x) const { return (deviation(x) - correction) * grow; }

  // What the caller gets, for the row as it is.
  WW_HOST_DEVICE float row_mean() const { return mean / shrink + correction / shrink; }
  WW_HOST_DEVICE float row_rstd(float rstd) const { return rstd * (shrink * grow); }

  // What Unscaled found, for those who take Scaled.
  WW_HOST_DEVICE Moments<Scaled> scaled() const {
    return {{}, mean, correction, variance, has_mean, recentred};
  }

  template <typename Real>
  WW_HOST_DEVICE void start(Real sum, Real inverse_size) {
    mean = static_cast<float>(sum * inverse_size);
    has_mean = true;
  }

  // Takes the row's sums; false if they have to be formed again. Real: what they were summed in.
  template <typename T, typename Real>
  WW_HOST_DEVICE bool settle(Real sum, Real sum_sq, Real inverse_size, float eps) {
    constexpr float kLargest = 0x1.fffffep127f;
    const Real offset = sum * inverse_size;
    const Real offset_sq = (offset * grow) * (offset * grow);
    Real spread = sum_sq * inverse_size - offset_sq;
    if (spread < 0) spread = 0;
    const float scale = shrink * grow;
    correction = static_cast<float>(offset);
    variance = static_cast<float>(spread) + eps * scale * scale;

    constexpr bool kScales = !std::is_same_v<T, float16>;  // whose squares all are floats
    // Negated, for a NaN that came of infinities; a row that has one itself stays NaN.
    const bool overflows = kScales && !(variance <= kLargest) && shrink == 1.0f;
    // The correction outweighs the spread, which lost digits to it. From a mean that is the nearest
    // float it cannot: values on the floats' grid spread by more. Equal values are centred exactly.
    const bool is_off_centre = offset_sq > spread && !recentred;
    // Also equal values that were shrunk, beside which eps fades.
    const bool fades = kScales && variance < kFaded && grow == 1.0f;
    if constexpr (std::is_same_v<Scales, Scaled>) {
      if (overflows) {
        *this = {};
        shrink = kShrink;
      } else if (is_off_centre) {
        mean += correction;
        recentred = true;
      } else if (fades) {
        grow = kGrow;
      }
    }
    return !(overflows || is_off_centre || fades);
  }
};

}  // namespace ww
