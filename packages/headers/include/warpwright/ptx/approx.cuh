// The special function unit's approximations: one instruction each, where the C functions of the
// same meaning add range reductions and subnormals (PTX ISA, "ex2" and "rcp").
#pragma once

namespace ww {

// 2^x within 2 ulp; 0 where that is subnormal, and for -infinity. NaN stays NaN.
__device__ inline float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 1 / x within 1 ulp; of a subnormal x it is infinite, and it is 0 where it were subnormal.
__device__ inline float reciprocal_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace ww
