// Stand-in for the CUDA toolkit's header. The hardware's conversions agree with the GPU's but for
// NaN, which the GPU makes the canonical 0x7fff.
#pragma once

#include <immintrin.h>

#include "cuda_runtime_api.h"

struct __half {
  unsigned short bits;
};
struct alignas(4) __half2 {
  __half x, y;
};

inline __half __ushort_as_half(unsigned short bits) { return {bits}; }
inline unsigned short __half_as_ushort(__half x) { return x.bits; }
inline float __half2float(__half x) { return _cvtsh_ss(x.bits); }
inline __half __float2half_rn(float x) {
  return {x != x ? static_cast<unsigned short>(0x7fff)
                 : static_cast<unsigned short>(_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT))};
}
inline __half2 __floats2half2_rn(float x, float y) {
  return {__float2half_rn(x), __float2half_rn(y)};
}
inline float2 __half22float2(__half2 v) { return {__half2float(v.x), __half2float(v.y)}; }
