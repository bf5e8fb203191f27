#pragma once

#include "strided_layout.h"
#include "warpwright/cuda_types.h"

namespace ww {

class ThreadPool;

struct FillParams {
  void* dst;                // its element (0, 0, …)
  StridedLayout<1> layout;  // collapsed, not empty; elements are distinct
  int element_bytes;        // 1, 2, 4 or 8
  uint64_t pattern;         // the element's bits, in the lowest element_bytes
};

cudaError_t fill_fwd(const FillParams& params, cudaStream_t stream);
cudaError_t fill_fwd_cpu(const FillParams& params, const ThreadPool& pool);

}  // namespace ww
