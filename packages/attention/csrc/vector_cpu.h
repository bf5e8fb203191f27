// Vectors of floats: one operation on them is one instruction, or two, where the processor has it.
#pragma once

#include <cstdint>

#include "warpwright/cpu.h"
#include "warpwright/dtype.h"

// Everything here is inlined, so that no vector is ever returned by an ABI.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace ww {

template <int kLanes>
struct VectorOf {
  using Floats [[gnu::vector_size(4 * kLanes)]] = float;
  using Ints [[gnu::vector_size(4 * kLanes)]] = int32_t;
  using Anywhere [[gnu::vector_size(4 * kLanes), gnu::aligned(4)]] = float;
};

template <int kLanes>
using Floats = typename VectorOf<kLanes>::Floats;
template <int kLanes>
using Ints = typename VectorOf<kLanes>::Ints;

// Lanes as they lie in memory, at multiples of their own size.
template <int kLanes>
WW_VECTORISED inline Floats<kLanes>& lanes(float* at) {
  return *reinterpret_cast<Floats<kLanes>*>(at);
}

template <int kLanes>
WW_VECTORISED inline const Floats<kLanes>& lanes(const float* at) {
  return *reinterpret_cast<const Floats<kLanes>*>(at);
}

// The same at any place.
template <int kLanes>
WW_VECTORISED inline Floats<kLanes> lanes_anywhere(const float* at) {
  return *reinterpret_cast<const typename VectorOf<kLanes>::Anywhere*>(at);
}

// x, a product that has been rounded: of x y + z w the compiler would fold one product into an FMA,
// and which one is its own choice each time.
template <int kLanes>
WW_VECTORISED inline Floats<kLanes> rounded(Floats<kLanes> x) {
  asm("" : "+x"(x));
  return x;
}

// 2^x for x <= 0, within 2 ulp; 0 below the normal floats; NaN stays.
template <int kLanes>
WW_VECTORISED inline Floats<kLanes> exp2_nonpositive(const Floats<kLanes>& x) {
  using V = Floats<kLanes>;
  using I = Ints<kLanes>;
  constexpr float kLeast = -126.0f;
  constexpr float kRound = 0x1.8p23f;  // adding it leaves the nearest integer in the last bits
  const V clamped = x < kLeast ? V{} + kLeast : x;
  const V shifted = clamped + kRound;
  const V fraction = clamped - (shifted - kRound);
  // A polynomial of relative error 2e-9 within 1/2.
  V power = 0x1.41fbbcp-13f * fraction + 0x1.5f3e54p-10f;
  power = power * fraction + 0x1.3b2d4cp-7f;
  power = power * fraction + 0x1.c6aee8p-5f;
  power = power * fraction + 0x1.ebfbdcp-3f;
  power = power * fraction + 0x1.62e430p-1f;
  power = power * fraction + 1.0f;
  const I bits = reinterpret_cast<I>(power) + (reinterpret_cast<I>(shifted) << 23);
  return x < kLeast ? V{} : reinterpret_cast<V>(bits);
}

}  // namespace ww
