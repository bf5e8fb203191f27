// The mean and the variance of a row, found in one pass over it, and what both backends do where
// one is not enough.
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

inline constexpr int kMostCentrings = 2;

// The powers of two, and their absence for rows that do not need them, which nearly all are.
struct Scaled {
  float shrink = 1.0f;
  float grow = 1.0f;
};
struct Unscaled {
  static constexpr float shrink = 1.0f;
  static constexpr float grow = 1.0f;
};

// What a row's sums came to.
enum class Fit {
  good,
  again,   // to be formed again
  scaled,  // to be formed again with Scaled
};

// To be used as
//
//   while (moments.settle<T>(<sum of deviation(x)>, <sum of its square, grown>, inverse_size,
//                            eps) == Fit::again) continue;
//
// with both sums formed again each time. Only Unscaled asks for Scaled.
//
// The first deviations are from zero, which is near enough to the mean of most rows, so that they
// are gone through once. The deviations' own mean corrects the variance (Chan, Golub and LeVeque,
// 1983, "Algorithms for Computing the Sample Variance"); where it outweighs their spread, which
// loses digits to it, it leads to the mean that the next ones are from. Once more after that, since
// its own rounding is large beside a small spread.
template <typename Scales>
struct Moments : Scales {
  using Scales::grow;
  using Scales::shrink;
  float mean = 0.0f;        // of the shrunk row, nearly
  float correction = 0.0f;  // mean of the deviations from that
  float variance = 0.0f;    // of the row, shrunk and grown, plus eps
  int centrings = 0;

  WW_HOST_DEVICE float shrunk(float x) const { return x * shrink; }
  WW_HOST_DEVICE float deviation(float x) const { return shrunk(x) - mean; }
  // T: what x is of. Beside the spread of 16-bit values the centre's rounding is nothing.
  template <typename T>
  WW_HOST_DEVICE float centred(float x) const {
    if constexpr (sizeof(T) == 2) return (shrunk(x) - (mean + correction)) * grow;
    return (deviation(x) - correction) * grow;
  }

  // What the caller gets, for the row as it is.
  WW_HOST_DEVICE float row_mean() const { return mean / shrink + correction / shrink; }
  WW_HOST_DEVICE float row_rstd(float rstd) const { return rstd * (shrink * grow); }

  // What Unscaled found, for those who take Scaled.
  WW_HOST_DEVICE Moments<Scaled> scaled() const {
    return {{}, mean, correction, variance, centrings};
  }

  // Takes the row's sums. Real: what they were summed in.
  template <typename T, typename Real>
  WW_HOST_DEVICE Fit settle(Real sum, Real sum_sq, Real inverse_size, float eps) {
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
    // From a mean that is the nearest float the correction cannot outweigh the spread: values on
    // the floats' grid spread by more. Equal values are centred exactly.
    const bool is_off_centre = offset_sq > spread && centrings < kMostCentrings;
    // Also equal values that were shrunk, beside which eps fades.
    const bool fades = kScales && variance < kFaded && grow == 1.0f;
    if (is_off_centre && !overflows) {
      mean += correction;
      ++centrings;
      return Fit::again;
    }
    if (!overflows && !fades) return Fit::good;
    if constexpr (std::is_same_v<Scales, Scaled>) {
      if (overflows) {
        *this = {};
        shrink = kShrink;
      } else {
        grow = kGrow;
      }
      return Fit::again;
    }
    return Fit::scaled;
  }
};

}  // namespace ww
