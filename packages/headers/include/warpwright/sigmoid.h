// What activations are made of, in float32 for both backends and without branches: the sigmoid, an
// exponential, a quotient and limits that let NaN through.
#pragma once

#include <cmath>

#include "warpwright/elementwise.h"

#if defined(__CUDACC__)
#include <cuda_runtime.h>

#include "warpwright/ptx/approx.cuh"
#include "warpwright/ptx/max.cuh"
#endif

namespace ww {
namespace detail {

// Of a NaN x, `limit`. The compiler turns these forms into one instruction on either backend.
WW_OP float larger(float x, float limit) {
#if defined(__CUDA_ARCH__)
  return fmaxf(x, limit);
#else
  return x > limit ? x : limit;
#endif
}

WW_OP float smaller(float x, float limit) {
#if defined(__CUDA_ARCH__)
  return fminf(x, limit);
#else
  return x < limit ? x : limit;
#endif
}

// coefficients[0] + coefficients[1] * x + ... by Horner's rule.
template <int kCount>
WW_OP float polynomial(float x, const float (&coefficients)[kCount]) {
  float sum = coefficients[kCount - 1];
  for (int i = kCount - 2; i >= 0; --i) sum = sum * x + coefficients[i];
  return sum;
}

// Powers of two by which exponentials are too large until the end, so that they are no subnormal
// numbers.
inline constexpr float kRaised = 24.0f;
inline constexpr float kLower = 0x1p-24f;

// 2^(t + kRaised) for t from -150 to 0. A polynomial, relative error 2e-9, for the fraction within
// 1/2 of the nearest integer, which goes into the exponent.
WW_OP float exp2_raised(float t) {
  constexpr float kCoefficients[] = {1.0f,           0x1.62e430p-1f, 0x1.ebfbdcp-3f,
                                     0x1.c6aee8p-5f, 0x1.3b2d4cp-7f, 0x1.5f3e54p-10f,
                                     0x1.41fbbcp-13f};
  constexpr float kRound = 0x1.8p23f + kRaised;  // added, it leaves the integer in the last bits
  const float rounded = t + kRound;
  const float power = polynomial(t - (rounded - kRound), kCoefficients);
  return bits_of<float>(bits_of<uint32_t>(power) + (bits_of<uint32_t>(rounded) << 23));
}

}  // namespace detail

inline constexpr float kLog2E = 0x1.715476p+0f;

// From here down exp(x) is 0 in float32.
inline constexpr float kExpFaded = -104.0f;

// x within limits, which a NaN stays outside of; of zeros, x.
WW_OP float at_least(float limit, float x) {
#if defined(__CUDA_ARCH__)
  return max_nan(x, limit);
#else
  return limit > x ? limit : x;
#endif
}

WW_OP float at_most(float limit, float x) {
#if defined(__CUDA_ARCH__)
  return min_nan(x, limit);
#else
  return limit < x ? limit : x;
#endif
}

// For a divisor of 2^-24 to 2^126. The GPU's reciprocal is an ulp off; one step of Newton's method
// takes that back.
WW_OP float divide(float x, float divisor) {
#if defined(__CUDA_ARCH__)
  const float reciprocal = reciprocal_approx(divisor);
  return x * (reciprocal + reciprocal * (1.0f - divisor * reciprocal));
#else
  return x / divisor;
#endif
}

// 2^t for t <= 0, with subnormal results.
WW_OP float exp2_negative(float t) {
  return detail::exp2_raised(detail::larger(t, -150.0f)) * detail::kLower;
}

// x * sigmoid(w * ln(2)), where w has the sign of x. `faded` is an x for which the exponential is
// 0. It is one of a negative number alone, so that nothing overflows or cancels. For 16-bit results
// the GPU has instructions, of 22 bits, where what overflows gives 0; they know no subnormal
// numbers, which the sigmoid of a bfloat16 may be.
template <typename T>
WW_OP float times_sigmoid(float x, float w, float faded = kExpFaded) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float16>)
    return detail::larger(x, faded) * reciprocal_approx(1.0f + exp2_approx(-w));
  if constexpr (std::is_same_v<T, bfloat16>)
    return detail::larger(x, faded) *
           (reciprocal_approx(detail::kLower + exp2_approx(-w - detail::kRaised)) * detail::kLower);
#endif
  const float power = exp2_negative(-std::fabs(w));
  const float numerator = x < 0.0f ? detail::larger(x, faded) * power : x;
  return divide(numerator, 1.0f + power);
}

}  // namespace ww
