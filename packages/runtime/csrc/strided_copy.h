#pragma once

#include "convert.h"
#include "strided_layout.h"
#include "warpwright/cuda_types.h"

namespace ww {

class ThreadPool;

struct StridedCopyParams {
  void* dst;                // its element (0, 0, …)
  const void* src;          // likewise; must not overlap dst unless the two are the same elements
  StridedLayout<2> layout;  // dst, src; collapsed, not empty; dst's elements are distinct
  Dtype dst_dtype;
  Dtype src_dtype;  // kFloat64 too
};

cudaError_t strided_copy_fwd(const StridedCopyParams& params, cudaStream_t stream);
cudaError_t strided_copy_fwd_cpu(const StridedCopyParams& params, const ThreadPool& pool);

}  // namespace ww
