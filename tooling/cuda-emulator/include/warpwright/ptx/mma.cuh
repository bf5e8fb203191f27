// The emulator's form of the headers' file of this name, found first by emulated builds.
#pragma once

#include <cuda_emulator/ptx.h>

#include <type_traits>

#include "warpwright/dtype.h"

namespace ww {

template <typename T>
inline void mma_m16n8k16(float (&acc)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                         cudaemu::Site site = cudaemu::Site::here()) {
  static_assert(std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>);
  constexpr bool kHalf = std::is_same_v<T, float16>;
  cudaemu_mma(kHalf ? cudaemu::MmaType::float16 : cudaemu::MmaType::bfloat16, acc, a, b0, b1, site);
}

inline uint32_t to_tf32(float x) {
  if (x != x) return 0x7fffffff;
  return (bits_of<uint32_t>(x) + 0x1000) & ~uint32_t{0x1fff};
}

inline void mma_m16n8k8_tf32(float (&acc)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                             cudaemu::Site site = cudaemu::Site::here()) {
  cudaemu_mma(cudaemu::MmaType::tf32, acc, a, b0, b1, site);
}

}  // namespace ww
