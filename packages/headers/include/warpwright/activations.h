// Activation functions in float32 for both backends, without branches: SiLU and the forms of GELU
// (Hendrycks and Gimpel, 2016, "Gaussian Error Linear Units"). No finite x gives NaN, -infinity
// gives -0, and a NaN stays one.
#pragma once

#include <cmath>

#include "warpwright/elementwise.h"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace ww {

enum class GeluKind : int { erf = 0, tanh = 1, quick = 2 };

namespace detail {

inline constexpr float kLog2E = 0x1.715476p+0f;

// The compiler turns this form into one instruction on either backend; where an argument is NaN
// they differ.
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

// For a divisor of 1 to 2^126. The GPU's reciprocal is an ulp off; one step of Newton's method
// takes that back.
template <typename T>
WW_OP float divide(float x, float divisor) {
#if defined(__CUDA_ARCH__)
  const float reciprocal = __fdividef(1.0f, divisor);
  if constexpr (sizeof(T) == 2) return x * reciprocal;
  return x * (reciprocal + reciprocal * (1.0f - divisor * reciprocal));
#else
  return x / divisor;
#endif
}

// coefficients[0] + coefficients[1] * x + ... by Horner's rule.
template <int kCount>
WW_OP float polynomial(float x, const float (&coefficients)[kCount]) {
  float sum = coefficients[kCount - 1];
  for (int i = kCount - 2; i >= 0; --i) sum = sum * x + coefficients[i];
  return sum;
}

// 2^t for t <= 0, with subnormal results. A polynomial, relative error 2e-9, for the fraction
// within 1/2 of the nearest integer, which goes into the exponent; the result is 2^24 times too
// large until the end, so that its exponent does not underflow. The GPU has an instruction, of 22
// bits.
template <typename T>
WW_OP float exp2_negative(float t) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 2) return exp2f(t);
#endif
  constexpr float kCoefficients[] = {1.0f,           0x1.62e430p-1f, 0x1.ebfbdcp-3f,
                                     0x1.c6aee8p-5f, 0x1.3b2d4cp-7f, 0x1.5f3e54p-10f,
                                     0x1.41fbbcp-13f};
  constexpr float kRound = 0x1.8p23f + 24.0f;  // added, it leaves the integer in the last bits
  const float clamped = larger(t, -150.0f);
  const float rounded = clamped + kRound;
  const float power = polynomial(clamped - (rounded - kRound), kCoefficients);
  return bits_of<float>(bits_of<uint32_t>(power) + (bits_of<uint32_t>(rounded) << 23)) * 0x1p-24f;
}

// From here down exp(x) is 0 in float32.
inline constexpr float kFaded = -104.0f;

// x * sigmoid(w * ln(2)), where w has the sign of x. The exponential of a negative number alone
// enters, so that nothing overflows or cancels. `faded` is an x for which it is 0.
template <typename T>
WW_OP float times_sigmoid(float x, float w, float faded = kFaded) {
  const float power = exp2_negative<T>(-std::fabs(w));
  const float numerator = x < 0.0f ? larger(x, faded) * power : x;
  return divide<T>(numerator, 1.0f + power);
}

// The share of the normal distribution beyond a, for 0 <= a <= 20, is exp(-a^2 / 2) times this: a
// function that falls from 1/2 as slowly as 1 / a. Here as t * P(a * t) with t = c / (c + a), after
// Hastings (1955, "Approximations for Digital Computers"), whose t * P(t) for erf loses bits around
// 0. The coefficients minimise the relative error for a up to 14.5, from where on the exponential
// is 0: 2.6e-9, and 9.7e-7 for 16-bit results. c + a keeps the more bits the closer it is to 4.
template <typename T>
WW_OP float scaled_tail(float a) {
  if constexpr (sizeof(T) == 2) {
    constexpr float kCoefficients[] = {0x1.0p-1f,      -0x1.bcb2b2p-3f,  0x1.aba0c6p-6f,
                                       0x1.511bbcp-8f, -0x1.5a342ap-17f, -0x1.6bfff2p-11f,
                                       0x1.ce7c5ep-14f};
    const float t = divide<T>(2.75f, 2.75f + a);
    return t * polynomial(a * t, kCoefficients);
  } else {
    constexpr float kCoefficients[] = {
        0x1.0p-1f,       -0x1.00d02ap-2f, 0x1.d6ea5cp-5f,  -0x1.718d56p-9f,  -0x1.1cfec2p-10f,
        0x1.1b97f6p-14f, 0x1.cba512p-17f, 0x1.809510p-17f, -0x1.0f2aa6p-18f, 0x1.7fa99cp-22f};
    const float t = divide<T>(3.375f, 3.375f + a);
    return t * polynomial(a * t, kCoefficients);
  }
}

}  // namespace detail

// x * sigmoid(x).
struct Silu {
  template <typename T>
  WW_OP float operator()(type_tag<T>, float x) const {
    return detail::times_sigmoid<T>(x, detail::kLog2E * x);
  }
};

// x * sigmoid(1.702 * x).
struct GeluQuick {
  template <typename T>
  WW_OP float operator()(type_tag<T>, float x) const {
    return detail::times_sigmoid<T>(x, 1.702f * detail::kLog2E * x);
  }
};

// x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2, which is x times the sigmoid of twice
// tanh's argument: 1 + tanh would cancel.
struct GeluTanh {
  template <typename T>
  WW_OP float operator()(type_tag<T>, float x) const {
    constexpr float kLinear = 0x1.26aec2p+1f;  // 2 * sqrt(2 / pi) * log2(e)
    constexpr float kCubic = 0x1.a5a7d0p-4f;   // the same * 0.044715
    return detail::times_sigmoid<T>(x, x * (kLinear + kCubic * (x * x)));
  }
};

// x * erfc(-x / sqrt(2)) / 2.
struct GeluErf {
  template <typename T>
  WW_OP float operator()(type_tag<T>, float x) const {
    constexpr float kFar = 20.0f;  // from here on the tail is 0 in float32
    const float distance = detail::smaller(std::fabs(x), kFar);
    const float power = detail::exp2_negative<T>(-0.5f * detail::kLog2E * (x * x));
    const float lost = distance * (power * detail::scaled_tail<T>(distance));
    return x < 0.0f ? -lost : x - lost;
  }
};

// f(GeluErf{}), f(GeluTanh{}) or f(GeluQuick{}).
template <typename F>
cudaError_t dispatch_gelu(GeluKind kind, F&& f) {
  switch (kind) {
    case GeluKind::erf:
      return f(GeluErf{});
    case GeluKind::tanh:
      return f(GeluTanh{});
    case GeluKind::quick:
      return f(GeluQuick{});
  }
  return cudaErrorInvalidValue;
}

}  // namespace ww
