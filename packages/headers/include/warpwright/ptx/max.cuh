// Maxima and minima that keep NaN (PTX ISA, "max" and "min" with .NaN, of sm_80). +0 is above -0.
#pragma once

namespace ww {

// NaN if either is, unlike fmaxf, in one instruction as well.
__device__ inline float max_nan(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

// Likewise, unlike fminf.
__device__ inline float min_nan(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

}  // namespace ww
