#pragma once

#include "warpwright/cpu.h"
#include "warpwright/dtype.h"

namespace ww {

struct RandnParams {
  void* out;  // (count)
  int64_t count;
  uint64_t seed;
  Dtype dtype;  // float32, float16 or bfloat16
};

// Standard normal numbers; element i depends on the seed and i only.
void randn_cpu(const RandnParams& params, const ThreadPool& pool);

}  // namespace ww
