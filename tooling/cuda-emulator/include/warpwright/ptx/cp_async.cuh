// The emulator's form of the headers' file of this name, found first by emulated builds.
#pragma once

#include <cuda_emulator/ptx.h>

namespace ww {

template <int kBytes>
inline void cp_async(void* shared, const void* global, int source_bytes = kBytes,
                     cudaemu::Site site = cudaemu::Site::here()) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  cudaemu_copy(shared, global, kBytes, source_bytes, site);
}

inline void cp_async_commit() { cudaemu_commit_copies(); }

template <int kNewest>
inline void cp_async_wait() {
  static_assert(kNewest >= 0);
  cudaemu_wait_for_copies(kNewest);
}

inline void cp_async_wait_all() {
  cudaemu_commit_copies();
  cudaemu_wait_for_copies(0);
}

}  // namespace ww
