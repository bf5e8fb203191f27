// What stands between rows of float16 and loops over them: conversions a block at a time, by the
// processor's instructions, which the compiler does not find in a loop. Those of bfloat16 are a
// shift and an addition, which it vectorises with the rest.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpwright/cpu.h"
#include "warpwright/dtype.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ww {

// Small enough for some blocks to stay in the first-level cache.
inline constexpr int kBlockFloats = 1024;

struct alignas(64) FloatBlock {
  float values[kBlockFloats];
};

namespace detail {

#if defined(__x86_64__)
// Every processor of this level has the conversions of float16.
inline bool has_f16c() { return vector_lanes() >= 8; }

[[gnu::target("arch=x86-64-v3")]] inline void widen_f16c(const float16* x, int count, float* to) {
  for (int i = 0; i < count; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
  }
}

[[gnu::target("arch=x86-64-v3")]] inline void narrow_f16c(const float* x, int count, float16* to) {
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  for (int i = 0; i < count; i += 8) {
    __m256 value = _mm256_loadu_ps(x + i);
    value = _mm256_blendv_ps(value, nan, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    const __m128i bits = _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
}
#else
inline bool has_f16c() { return false; }
inline void widen_f16c(const float16*, int, float*) {}
inline void narrow_f16c(const float*, int, float16*) {}
#endif

}  // namespace detail

// to = x in float32.
template <typename T>
WW_VECTORISED inline void widen(const T* x, int count, float* to) {
  int i = 0;
  if constexpr (std::is_same_v<T, float16>) {
    if (detail::has_f16c()) {
      i = count / 8 * 8;
      detail::widen_f16c(x, i, to);
    }
  }
#pragma omp simd
  for (int at = i; at < count; ++at) to[at] = to_float(x[at]);
}

// to = x, each element rounded once.
template <typename T>
WW_VECTORISED inline void narrow(const float* x, int count, T* to) {
  int i = 0;
  if constexpr (std::is_same_v<T, float16>) {
    if (detail::has_f16c()) {
      i = count / 8 * 8;
      detail::narrow_f16c(x, i, to);
    }
  }
#pragma omp simd
  for (int at = i; at < count; ++at) to[at] = from_float<T>(x[at]);
}

// What a loop over rows of T has its elements in.
template <typename T>
using InLoop = std::conditional_t<std::is_same_v<T, float16>, float, T>;

// Up to kBlockFloats elements of x for a loop: where they are, or in `block`.
template <typename T>
WW_VECTORISED inline const InLoop<T>* read_block(const T* x, int count, FloatBlock& block) {
  if constexpr (std::is_same_v<T, InLoop<T>>) {
    return x;
  } else {
    widen(x, count, block.values);
    return block.values;
  }
}

// Where a loop writes what is to be `out`'s: there, or to `block`. write_block() ends it.
template <typename T>
WW_VECTORISED inline InLoop<T>* block_for(T* out, FloatBlock& block) {
  if constexpr (std::is_same_v<T, InLoop<T>>)
    return out;
  else
    return block.values;
}

template <typename T>
WW_VECTORISED inline void write_block(const InLoop<T>* values, int count, T* out) {
  if constexpr (!std::is_same_v<T, InLoop<T>>) narrow(values, count, out);
}

}  // namespace ww
