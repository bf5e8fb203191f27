// Built-in variables and functions of device code.
#pragma once

#include <math.h>

#include "device_api.h"

// Variables rather than macros: cudaLaunchConfig_t has a gridDim, and gdb can use them in
// conditions (break rmsnorm.cu:40 if threadIdx.x == 37). constinit spares the call that would look
// for a dynamic initialiser.
#define CUDAEMU_BUILTIN \
  extern "C"            \
      __attribute__((visibility("default"), tls_model("initial-exec"))) constinit thread_local
CUDAEMU_BUILTIN uint3 threadIdx;
CUDAEMU_BUILTIN uint3 blockIdx;
CUDAEMU_BUILTIN dim3 blockDim;
CUDAEMU_BUILTIN dim3 gridDim;
#undef CUDAEMU_BUILTIN
constexpr int warpSize = 32;

inline void __syncthreads(cudaemu::Site site = cudaemu::Site::here()) {
  cudaemu_barrier(0, 0, site);
}
inline int __syncthreads_or(int predicate, cudaemu::Site site = cudaemu::Site::here()) {
  return cudaemu_barrier_reduce(cudaemu::WarpOp::any, predicate, site);
}
inline int __syncthreads_and(int predicate, cudaemu::Site site = cudaemu::Site::here()) {
  return cudaemu_barrier_reduce(cudaemu::WarpOp::all, predicate, site);
}
inline int __syncthreads_count(int predicate, cudaemu::Site site = cudaemu::Site::here()) {
  return cudaemu_barrier_reduce(cudaemu::WarpOp::ballot, predicate, site);
}
inline void __barrier_sync_count(unsigned id, unsigned threads,
                                 cudaemu::Site site = cudaemu::Site::here()) {
  cudaemu_barrier(static_cast<int>(id), threads, site);
}

// Every access is performed at once and in order, so fences have nothing to do. They order nothing
// for the race check either: what the repository exchanges goes through barriers.
inline void __threadfence_block() {}
inline void __threadfence() {}

[[noreturn]] inline void __trap(cudaemu::Site site = cudaemu::Site::here()) {
  cudaemu_trap("__trap()", site);
  __builtin_unreachable();
}

inline int min(int a, int b) { return b < a ? b : a; }
inline int max(int a, int b) { return a < b ? b : a; }

inline float rsqrtf(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
// The GPU's is an approximation, at most 2 ulp off.
inline float __fdividef(float x, float y) { return x / y; }
