// What the emulated forms of the headers' PTX wrappers (include/warpwright/ptx) ask of the library.
#pragma once

#include "device_api.h"

namespace cudaemu {

enum class MmaType { float16, bfloat16, tf32 };

}  // namespace cudaemu

// Asynchronous copies of the calling thread: performed by the wait, not before.
CUDAEMU_API void cudaemu_copy(void* shared, const void* global, int bytes, int source_bytes,
                              cudaemu::Site site);
CUDAEMU_API void cudaemu_commit_copies();
// For all committed groups but the newest ones.
CUDAEMU_API void cudaemu_wait_for_copies(int newest);

// Collectives of all 32 lanes.
CUDAEMU_API void cudaemu_ldmatrix(uint32_t* fragment, const void* row, int matrices,
                                  bool transposed, cudaemu::Site site);
CUDAEMU_API void cudaemu_mma(cudaemu::MmaType type, float* acc, const uint32_t* a, uint32_t b0,
                             uint32_t b1, cudaemu::Site site);
