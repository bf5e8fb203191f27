// The Hadamard transform of 16 values that neighbouring lanes hold.
#pragma once

#include "warpwright/reduce.cuh"

namespace ww {

inline constexpr int kHadamardSize = 16;

// out[i] = the sum over j of (-1)^popcount(i & j) in[j], Sylvester's order, without a scale. Each
// lane has kSize consecutive values of the 16, the first of which are on a lane whose number 16 /
// kSize divides. All lanes of the warp take part. Sums are formed in pairs 1, 2, 4 and 8 apart,
// whatever kSize is.
template <int kSize>
__device__ inline void hadamard16(float (&values)[kSize]) {
  static_assert(kHadamardSize % kSize == 0);
#pragma unroll
  for (int stride = 1; stride < kSize; stride *= 2) {
#pragma unroll
    for (int j = 0; j < kSize; ++j) {
      if (j & stride) continue;
      const float low = values[j];
      const float high = values[j + stride];
      values[j] = low + high;
      values[j + stride] = low - high;
    }
  }
#pragma unroll
  for (int mask = 1; mask * kSize < kHadamardSize; mask *= 2) {
    const float sign = threadIdx.x & mask ? -1.0f : 1.0f;
#pragma unroll
    for (int j = 0; j < kSize; ++j) values[j] = fmaf(sign, values[j], shuffle_xor(values[j], mask));
  }
}

}  // namespace ww
