// The emulator's form of the headers' file of this name, found first by emulated builds.
#pragma once

#include <cuda_emulator/ptx.h>

namespace ww {

template <int kMatrices>
inline void ldmatrix(uint32_t (&fragment)[kMatrices], const void* row,
                     cudaemu::Site site = cudaemu::Site::here()) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  cudaemu_ldmatrix(fragment, row, kMatrices, false, site);
}

template <int kMatrices>
inline void ldmatrix_trans(uint32_t (&fragment)[kMatrices], const void* row,
                           cudaemu::Site site = cudaemu::Site::here()) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  cudaemu_ldmatrix(fragment, row, kMatrices, true, site);
}

}  // namespace ww
