#pragma once

#include "warpwright/cuda_types.h"
#include "warpwright/dtype.h"

namespace ww {

class ThreadPool;

// Standard normal numbers; element i depends on the seed and i alone: normal.h says how.
struct RandnParams {
  void* out;  // (count)
  int64_t count;
  uint64_t seed;
  Dtype dtype;  // float32, float16 or bfloat16
};

cudaError_t randn_fwd(const RandnParams& params, cudaStream_t stream);
cudaError_t randn_fwd_cpu(const RandnParams& params, const ThreadPool& pool);

}  // namespace ww
