// The online softmax of one row on the CPU.
#pragma once

#include <cmath>
#include <limits>

#include "attention.h"

namespace ww {

inline constexpr float kLog2E = 1.44269504088896341f;
inline constexpr float kMinusInf = -std::numeric_limits<float>::infinity();

// 2^x for x <= 0, within 2 ulp; 0 below the normal floats; NaN stays. Branch-free.
WW_VECTORISED inline float exp2_nonpositive(float x) {
  constexpr float kLeast = -126.0f;
  constexpr float kRound = 0x1.8p23f;  // adding it leaves the nearest integer in the last bits
  const float clamped = x < kLeast ? kLeast : x;
  const float shifted = clamped + kRound;
  const float fraction = clamped - (shifted - kRound);
  // Taylor's series of 2^f: on [-1/2, 1/2] its next term is below 2^-26.
  float power = 1.5252733804059840e-5f;
  power = power * fraction + 1.5403530393381610e-4f;
  power = power * fraction + 1.3333558146428443e-3f;
  power = power * fraction + 9.6181291076284772e-3f;
  power = power * fraction + 5.5504108664821580e-2f;
  power = power * fraction + 2.4022650695910071e-1f;
  power = power * fraction + 6.9314718055994531e-1f;
  power = power * fraction + 1.0f;
  const uint32_t exponent = (bits_of<uint32_t>(shifted) << 23) + 0x3f800000u;
  const float result = power * bits_of<float>(exponent);
  return x < kLeast ? 0.0f : result;
}

// What a row has seen so far.
struct RowState {
  float max = kMinusInf;
  float sum = 0.0f;

  // Scores become weights relative to the largest one so far. Returns what earlier weights, and
  // what was summed with them, have to be multiplied by.
  WW_VECTORISED float update(float* scores, int count) {
    float largest = max;
#pragma omp simd reduction(max : largest)
    for (int i = 0; i < count; ++i) largest = scores[i] > largest ? scores[i] : largest;
    // Nothing visible yet: any finite number keeps -inf - largest from being NaN.
    const float base = largest == kMinusInf ? 0.0f : largest;
    float added = 0.0f;
#pragma omp simd reduction(+ : added)
    for (int i = 0; i < count; ++i) {
      scores[i] = exp2_nonpositive((scores[i] - base) * kLog2E);
      added += scores[i];
    }
    const float rescale = exp2_nonpositive((max - base) * kLog2E);
    max = largest;
    sum = sum * rescale + added;
    return rescale;
  }

  // One more logit in the denominator.
  float add_sink(float sink) {
    float none = sink;
    const float rescale = update(&none, 1);
    return rescale;
  }

  float lse() const { return sum == 0.0f ? kMinusInf : max + std::log(sum); }
};

}  // namespace ww
