// Conversions between all element types, the same on both backends: one rounding to nearest even;
// floating point to integer truncates and saturates, NaN gives 0; integer to narrower integer
// wraps; anything but zero (NaN too) is true.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "warpwright/dtype.h"

namespace ww {

// Only a source of conversions: JavaScript's own numbers.
inline constexpr Dtype kFloat64 = static_cast<Dtype>(7);

struct boolean {
  uint8_t bits;
};

// ---- to the widest type of their kind: exact ----

WW_HOST_DEVICE constexpr float widen(float x) { return x; }
WW_HOST_DEVICE inline float widen(float16 x) { return to_float(x); }
WW_HOST_DEVICE constexpr float widen(bfloat16 x) { return to_float(x); }
WW_HOST_DEVICE constexpr double widen(double x) { return x; }
WW_HOST_DEVICE constexpr int64_t widen(int32_t x) { return x; }
WW_HOST_DEVICE constexpr int64_t widen(int64_t x) { return x; }
WW_HOST_DEVICE constexpr int64_t widen(uint8_t x) { return x; }
WW_HOST_DEVICE constexpr int64_t widen(boolean x) { return x.bits != 0; }

// ---- to float, rounded to odd: rounding that to 16 bits rounds x once ----

WW_HOST_DEVICE inline float to_odd_float(float x) { return x; }

WW_HOST_DEVICE inline float to_odd_float(double x) {
  const float nearest = static_cast<float>(x);
  const double error = static_cast<double>(nearest) - x;
  if (!(error < 0 || error > 0)) return nearest;  // exact, infinite or NaN
  // Towards zero, then the last bit set: it says that there was more. Infinity, where a large x was
  // rounded to it, becomes the largest number.
  const bool away = x > 0 ? error > 0 : error < 0;
  return bits_of<float>((bits_of<uint32_t>(nearest) - (away ? 1 : 0)) | 1);
}

WW_HOST_DEVICE inline float to_odd_float(int64_t x) {
  constexpr int64_t kExact = int64_t{1} << 53;
  if (-kExact <= x && x <= kExact) return to_odd_float(static_cast<double>(x));
  // The lowest 16 bits are below anything that the result keeps: one bit stands for them.
  const int64_t sticky = (x >> 16) | ((x & 0xffff) != 0 ? 1 : 0);
  return to_odd_float(static_cast<double>(sticky) * 65536.0);
}

// ---- to integers ----

// Variables, since device code may use those but not call the standard library's functions.
template <typename Integer>
inline constexpr Integer kLowest = std::numeric_limits<Integer>::min();
template <typename Integer>
inline constexpr Integer kHighest = std::numeric_limits<Integer>::max();

template <typename Integer, typename Float>
WW_HOST_DEVICE constexpr Integer saturate(Float x) {
  constexpr Integer kMin = kLowest<Integer>;
  constexpr Integer kMax = kHighest<Integer>;
  constexpr Float kAbove = static_cast<Float>(kMax / 2 + 1) * 2;  // a power of two, unlike kMax
  if (x != x) return 0;
  if (x < static_cast<Float>(kMin)) return kMin;
  return x >= kAbove ? kMax : static_cast<Integer>(x);
}

// ---- from the widest types; x is float, double or int64_t ----

template <typename T, typename Wide>
WW_HOST_DEVICE T narrow(Wide x) {
  if constexpr (std::is_same_v<T, boolean>) {
    return {static_cast<uint8_t>(x != 0 ? 1 : 0)};
  } else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return from_float<T>(to_odd_float(x));
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<Wide>) {
    return saturate<T>(x);
  } else {
    return static_cast<T>(x);
  }
}

// f(type_tag<T>{}) with the element type of `dtype`; float64 included.
template <typename F>
auto dispatch_element(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::f32:
      return f(type_tag<float>{});
    case Dtype::f16:
      return f(type_tag<float16>{});
    case Dtype::bf16:
      return f(type_tag<bfloat16>{});
    case Dtype::i32:
      return f(type_tag<int32_t>{});
    case Dtype::i64:
      return f(type_tag<int64_t>{});
    case Dtype::u8:
      return f(type_tag<uint8_t>{});
    case Dtype::boolean:
      return f(type_tag<boolean>{});
    default:
      return f(type_tag<double>{});
  }
}

}  // namespace ww
