// The few CUDA names that host code needs, from the toolkit where there is one and declared here
// where there is not, so that <kernel>.h, binding.cc and <kernel>_cpu.cc compile without a toolkit.
#pragma once

#if WARPWRIGHT_WITH_CUDA
#include <cuda_runtime_api.h>
#else
struct CUstream_st;
using cudaStream_t = CUstream_st*;
// The values are the toolkit's.
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNoDevice = 100,
  cudaErrorNotSupported = 801,
  cudaErrorStreamCaptureIsolation = 905,
};
#endif

#if defined(__CUDACC__)
#define WW_HOST_DEVICE __host__ __device__
#else
#define WW_HOST_DEVICE
#endif

namespace ww {

// Whether this addon was built with its CUDA sources.
inline constexpr bool kWithCuda = WARPWRIGHT_WITH_CUDA;

}  // namespace ww
