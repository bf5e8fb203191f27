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

// To be used as
//
//   do {
//     if (!moments.has_mean) moments.start(<sum of shrunk(x)>, size);
//   } while (!moments.settle<T>(<sum of deviation(x)>, <sum of its square, grown>, size, eps));
//
// The deviations' own mean corrects the first, whose rounding is large beside a small spread, and
// the variance: Chan, Golub and LeVeque, 1983, "Algorithms for Computing the Sample Variance".
struct Moments {
  float shrink = 1.0f;
  float grow = 1.0f;
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

  template <typename Real>
  WW_HOST_DEVICE void start(Real sum, int size) {
    mean = static_cast<float>(sum / static_cast<Real>(size));
    has_mean = true;
  }

  // Takes the row's sums; false if they have to be formed again. Real: what they were summed in.
  template <typename T, typename Real>
  WW_HOST_DEVICE bool settle(Real sum, Real sum_sq, int size, float eps) {
    constexpr float kLargest = 0x1.fffffep127f;
    const Real offset = sum / static_cast<Real>(size);
    const Real offset_sq = (offset * grow) * (offset * grow);
    Real spread = sum_sq / static_cast<Real>(size) - offset_sq;
    if (spread < 0) spread = 0;
    const float scale = shrink * grow;
    correction = static_cast<float>(offset);
    variance = static_cast<float>(spread) + eps * scale * scale;

    constexpr bool kScales = !std::is_same_v<T, float16>;  // whose squares all are floats
    // Negated, for a NaN that came of infinities; a row that has one itself stays NaN.
    if (kScales && !(variance <= kLargest) && shrink == 1.0f) {
      *this = {.shrink = kShrink};
      return false;
    }
    // The correction outweighs the spread, which lost digits to it. From a mean that is the nearest
    // float it cannot: values on the floats' grid spread by more. Equal values are centred exactly.
    if (offset_sq > spread && !recentred) {
      mean += correction;
      recentred = true;
      return false;
    }
    // Also equal values that were shrunk, beside which eps fades.
    if (kScales && variance < kFaded && grow == 1.0f) {
      grow = kGrow;
      return false;
    }
    return true;
  }
};

}  // namespace ww
