// What compiled kernels ask of the emulator's library. Device code is compiled into each addon, and
// under instrumentation in the check build; whatever has to be fast or unseen is in the library.
#pragma once

#include "../cuda_runtime_api.h"

namespace cudaemu {

// Raised with every change to this file or ptx.h. An addon and the library have to agree.
inline constexpr int kAbi = 2;

// Where in the source something was called: default arguments, which inlining does not change.
struct Site {
  const char* file;
  int line;

  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

struct KernelCall {
  const void* kernel;
  void (*invoke)(const void* kernel, const void* arguments);
  const void* arguments;  // copied
  size_t argument_bytes;
  int architecture;  // that the kernel was compiled for: 90 for 9.0
  bool checked;      // compiled with the check build's instrumentation
};

enum class WarpOp {
  sync,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  any,
  all,
  ballot,
  ldmatrix,
  mma
};

}  // namespace cudaemu

CUDAEMU_API void cudaemu_require_abi(int abi);
CUDAEMU_API cudaError_t cudaemu_launch(const cudaLaunchConfig_t* config,
                                       const cudaemu::KernelCall* call);
CUDAEMU_API cudaError_t cudaemu_kernel_attributes(cudaFuncAttributes* attributes,
                                                  const void* kernel, int architecture);

// Static shared memory, by the address of something that the variable has to itself.
CUDAEMU_API void* cudaemu_shared(const void* key, const char* name, size_t bytes, size_t alignment);
CUDAEMU_API void* cudaemu_dynamic_shared();
CUDAEMU_API void* cudaemu_map_shared(const void* variable, unsigned rank);

// All threads of the block, or `threads` of them where that is not zero.
CUDAEMU_API void cudaemu_barrier(int id, unsigned threads, cudaemu::Site site);
CUDAEMU_API int cudaemu_barrier_reduce(cudaemu::WarpOp op, int predicate, cudaemu::Site site);
CUDAEMU_API void cudaemu_cluster_barrier(cudaemu::Site site);
CUDAEMU_API unsigned cudaemu_cluster_size();
CUDAEMU_API unsigned cudaemu_cluster_rank();

// A collective of the lanes in `mask`; `argument` is the source lane, distance or lane mask.
CUDAEMU_API uint64_t cudaemu_warp(cudaemu::WarpOp op, unsigned mask, uint64_t value, int argument,
                                  int width, cudaemu::Site site);
CUDAEMU_API unsigned cudaemu_active_mask();

// Checks an access that instrumentation does not see; does nothing outside the check build.
CUDAEMU_API void cudaemu_check_atomic(void* address, size_t bytes, cudaemu::Site site);
CUDAEMU_API void cudaemu_trap(const char* what, cudaemu::Site site);
