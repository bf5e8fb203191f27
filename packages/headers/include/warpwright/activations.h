// Activation functions in float32 for both backends, without branches: SiLU and the forms of GELU
// (Hendrycks and Gimpel, 2016, "Gaussian Error Linear Units"). No finite x gives NaN, -infinity
// gives -0, and a NaN stays one.
#pragma once

#include <cmath>

#include "warpwright/elementwise.h"
#include "warpwright/sigmoid.h"

namespace ww {

enum class GeluKind : int { erf = 0, tanh = 1, quick = 2 };

namespace detail {

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
    return times_sigmoid<T>(x, kLog2E * x);
  }
};

// x * sigmoid(1.702 * x).
struct GeluQuick {
  template <typename T>
  WW_OP float operator()(type_tag<T>, float x) const {
    return times_sigmoid<T>(x, 1.702f * kLog2E * x);
  }
};

// x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2, which is x times the sigmoid of twice
// tanh's argument: 1 + tanh would cancel.
struct GeluTanh {
  template <typename T>
  WW_OP float operator()(type_tag<T>, float x) const {
    constexpr float kLinear = 0x1.26aec2p+1f;  // 2 * sqrt(2 / pi) * log2(e)
    constexpr float kCubic = 0x1.a5a7d0p-4f;   // the same * 0.044715
    return times_sigmoid<T>(x, x * (kLinear + kCubic * (x * x)));
  }
};

// x * erfc(-x / sqrt(2)) / 2. Of -0 and of -infinity, -0.
struct GeluErf {
  template <typename T>
  WW_OP float operator()(type_tag<T>, float x) const {
    const float distance = detail::smaller(std::fabs(x), detail::kTailEnd<T>);
    return at_least(-0.0f, x) - detail::weighted_tail<T>(distance);
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
