// Element types and their conversions, for host and device code alike. Rounding is to nearest, ties
// to even; subnormals are kept; every NaN becomes the canonical 0x7fff, as the GPU's conversion
// instructions have it, so that both backends agree bit for bit.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warpwright/cuda_types.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace ww {

// The numbers are part of the interface between TypeScript and the addons.
enum class Dtype : int32_t { f32 = 0, f16 = 1, bf16 = 2, i32 = 3, i64 = 4, u8 = 5, boolean = 6 };

// Plain 16-bit storage: the same type on the host, where there may be no toolkit, and in a kernel.
struct float16 {
  uint16_t bits;
};
struct bfloat16 {
  uint16_t bits;
};

// Two neighbours in memory, for the packed conversion instructions.
template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T first;
  T second;
};

template <typename T>
struct type_tag {
  using type = T;
};

constexpr int64_t dtype_bytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
    case Dtype::i32:
      return 4;
    case Dtype::f16:
    case Dtype::bf16:
      return 2;
    case Dtype::i64:
      return 8;
    case Dtype::u8:
    case Dtype::boolean:
      return 1;
  }
  return 0;
}

template <typename To, typename From>
WW_HOST_DEVICE constexpr To bits_of(From from) {
  return __builtin_bit_cast(To, from);
}

// ---- to float: exact; a NaN stays one, but the GPU does not keep what else float16's bits say
// ----

WW_HOST_DEVICE constexpr float to_float(float x) { return x; }

WW_HOST_DEVICE constexpr float to_float(bfloat16 x) {
  return bits_of<float>(static_cast<uint32_t>(x.bits) << 16);
}

WW_HOST_DEVICE inline float to_float(float16 x) {
#if defined(__CUDA_ARCH__)
  return __half2float(__ushort_as_half(x.bits));
#else
  // The exponent is rebased by a multiplication, which also normalises subnormals. Branch-free, so
  // that a loop of it is vectorised.
  const uint32_t magnitude = static_cast<uint32_t>(x.bits & 0x7fff) << 13;
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000) << 16;
  const uint32_t rebased = bits_of<uint32_t>(bits_of<float>(magnitude) * 0x1p112f);
  const bool special = magnitude >= 0x0f800000;  // infinity or NaN
  return bits_of<float>((special ? magnitude | 0x7f800000 : rebased) | sign);
#endif
}

// ---- from float: one rounding to nearest, ties to even ----

namespace detail {

WW_HOST_DEVICE constexpr uint16_t bfloat16_bits(float x) {
  const uint32_t bits = bits_of<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const bool nan = (bits & 0x7fffffff) > 0x7f800000;
  return static_cast<uint16_t>(nan ? 0x7fff : rounded);
}

WW_HOST_DEVICE constexpr uint16_t float16_bits(float x) {
  const uint32_t bits = bits_of<uint32_t>(x);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  // Normal results: rebase the exponent and round in integers; a carry runs into the exponent.
  const uint32_t normal = (magnitude + 0xfff + ((magnitude >> 13) & 1) - 0x38000000) >> 13;
  // Subnormal results: adding 0.5 puts their last bit at the sum's last bit, so it rounds.
  const uint32_t subnormal = bits_of<uint32_t>(bits_of<float>(magnitude) + 0.5f) - 0x3f000000;
  uint32_t result = magnitude < 0x38800000 ? subnormal : normal;
  result = magnitude >= 0x477ff000 ? 0x7c00 : result;  // from 65520 on: infinity
  return static_cast<uint16_t>(magnitude > 0x7f800000 ? 0x7fff : result | sign);
}

}  // namespace detail

template <typename T>
WW_HOST_DEVICE T from_float(float x);

template <>
WW_HOST_DEVICE inline float from_float<float>(float x) {
  return x;
}

template <>
WW_HOST_DEVICE inline bfloat16 from_float<bfloat16>(float x) {
#if defined(__CUDA_ARCH__)
  return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
#else
  return {detail::bfloat16_bits(x)};
#endif
}

template <>
WW_HOST_DEVICE inline float16 from_float<float16>(float x) {
#if defined(__CUDA_ARCH__)
  return {__half_as_ushort(__float2half_rn(x))};
#else
  return {detail::float16_bits(x)};
#endif
}

// ---- pairs: one conversion instruction for two elements where the GPU has it ----

template <typename T>
WW_HOST_DEVICE inline Pair<T> pair_from_floats(float first, float second) {
#if defined(__CUDA_ARCH__)
  // memcpy, since the toolkit's pairs have constructors, which rules a bit cast out.
  Pair<T> pair;
  if constexpr (std::is_same_v<T, bfloat16>) {
    const __nv_bfloat162 packed = __floats2bfloat162_rn(first, second);
    memcpy(&pair, &packed, sizeof(pair));
    return pair;
  } else if constexpr (std::is_same_v<T, float16>) {
    const __half2 packed = __floats2half2_rn(first, second);
    memcpy(&pair, &packed, sizeof(pair));
    return pair;
  }
#endif
  return {from_float<T>(first), from_float<T>(second)};
}

template <typename T>
WW_HOST_DEVICE inline void pair_to_floats(Pair<T> pair, float& first, float& second) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float16>) {
    __half2 packed;
    memcpy(&packed, &pair, sizeof(packed));
    const float2 both = __half22float2(packed);
    first = both.x;
    second = both.y;
    return;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    // On the whole word: going through the halves would first move each to a register.
    const auto word = bits_of<uint32_t>(pair);
    first = bits_of<float>(word << 16);
    second = bits_of<float>(word & 0xffff0000);
    return;
  }
#endif
  first = to_float(pair.first);
  second = to_float(pair.second);
}

// ---- across the 16-bit types: through float, which holds both exactly; one rounding ----

template <typename To, typename From>
WW_HOST_DEVICE inline To convert(From x) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else
    return from_float<To>(to_float(x));
}

}  // namespace ww
