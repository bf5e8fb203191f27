// Activation functions in float32 for both backends, without branches: SiLU and the forms of GELU
// (Hendrycks and Gimpel, 2016, "Gaussian Error Linear Units"). No finite x gives NaN, -infinity
// gives -0, and a NaN stays one.
#pragma once

#include <cmath>

#include "warpwright/elementwise.h"

#if defined(__CUDACC__)
#include <cuda_runtime.h>

#include "warpwright/ptx/approx.cuh"
#include "warpwright/ptx/max.cuh"
#endif

namespace ww {

enum class GeluKind : int { erf = 0, tanh = 1, quick = 2 };

namespace detail {

inline constexpr float kLog2E = 0x1.715476p+0f;

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

// 2^t for t <= 0, with subnormal results.
WW_OP float exp2_negative(float t) { return exp2_raised(larger(t, -150.0f)) * kLower; }

// From here down exp(x) is 0 in float32.
inline constexpr float kFaded = -104.0f;

// x * sigmoid(w * ln(2)), where w has the sign of x. `faded` is an x for which the exponential is
// 0. It is one of a negative number alone, so that nothing overflows or cancels. For 16-bit results
// the GPU has instructions, of 22 bits, where what overflows gives 0; they know no subnormal
// numbers, which the sigmoid of a bfloat16 may be.
template <typename T>
WW_OP float times_sigmoid(float x, float w, float faded = kFaded) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float16>)
    return larger(x, faded) * reciprocal_approx(1.0f + exp2_approx(-w));
  if constexpr (std::is_same_v<T, bfloat16>)
    return larger(x, faded) * (reciprocal_approx(kLower + exp2_approx(-w - kRaised)) * kLower);
#endif
  const float power = exp2_negative(-std::fabs(w));
  const float numerator = x < 0.0f ? larger(x, faded) * power : x;
  return divide(numerator, 1.0f + power);
}

// Where weighted_tail ends: from there on it is 0 in float32, being below 2^-150 times a. A float16
// result ends sooner, even where it is a product with the largest number.
template <typename T>
inline constexpr float kTailEnd = 14.42f;
template <>
inline constexpr float kTailEnd<bfloat16> = 14.18f;
template <>
inline constexpr float kTailEnd<float16> = 7.5f;

// For 16-bit results. P(a) where 2^(-1 + a * P(a)) is the share of the normal distribution beyond
// a. The coefficients minimise the share's relative error for a up to 1, 1.1e-6 and 2.7e-6; from
// there on it may grow as the share falls, to 3.3e-5 and 6.6e-4 where results are normal numbers.
template <typename T>
WW_OP float tail_slope(float a) {
  if constexpr (std::is_same_v<T, float16>) {
    constexpr float kCoefficients[] = {-0x1.26b150p+0f, -0x1.d5ef58p-2f,  -0x1.b40fc0p-5f,
                                       0x1.046a54p-7f,  -0x1.708026p-11f, 0x1.8d8bcep-17f,
                                       0x1.eb1a64p-19f, -0x1.00735cp-22f};
    return polynomial(a, kCoefficients);
  } else {
    constexpr float kCoefficients[] = {-0x1.26b2dap+0f,  -0x1.d5bd98p-2f,  -0x1.b7a6b0p-5f,
                                       0x1.12adb4p-7f,   -0x1.df7fe6p-11f, 0x1.0c2bd4p-14f,
                                       -0x1.542752p-19f, 0x1.70e838p-25f};
    return polynomial(a, kCoefficients);
  }
}

// a times the share of the normal distribution beyond a, for a from 0 to kTailEnd.
//
// In float32 the share is exp(-a^2 / 2) times a function that falls from 1/2 as slowly as 1 / a:
// t * P(t) with t = 4 * a / (3.375 + a), over a, after Hastings (1955, "Approximations for Digital
// Computers"), whose t = 1 / (c + a) for erf loses bits around 0. The coefficients, here 2^-24 of
// theirs, minimise the relative error, 2.6e-9; the 4 keeps the last bits of a subnormal a.
template <typename T>
WW_OP float weighted_tail(float a) {
  if constexpr (std::is_same_v<T, float>) {
    constexpr float kCoefficients[] = {
        0x1.b00000p-26f, -0x1.6da864p-27f, 0x1.1ade42p-29f, -0x1.769584p-34f, -0x1.e78c6ap-36f,
        0x1.9a1132p-40f, 0x1.16557cp-42f,  0x1.8c0c00p-43f, -0x1.d6bd6ep-45f, 0x1.18f284p-48f};
    const float t = divide(a, 0.25f * a + 0.84375f);
    return t * (exp2_raised(-0.5f * kLog2E * (a * a)) * polynomial(t, kCoefficients));
  }
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float16>)
    return a * exp2_approx(a * tail_slope<T>(a) - 1.0f);
  else if constexpr (std::is_same_v<T, bfloat16>)
    return a * (exp2_approx(a * tail_slope<T>(a) + (kRaised - 1.0f)) * kLower);
#endif
  return a * (exp2_raised(a * tail_slope<T>(a) - 1.0f) * kLower);
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

// x * erfc(-x / sqrt(2)) / 2. Of -0 and of -infinity, -0.
struct GeluErf {
  template <typename T>
  WW_OP float operator()(type_tag<T>, float x) const {
    const float distance = detail::smaller(std::fabs(x), detail::kTailEnd<T>);
    return detail::at_least(-0.0f, x) - detail::weighted_tail<T>(distance);
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
