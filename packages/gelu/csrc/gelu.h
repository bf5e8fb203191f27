#pragma once

#include "warpwright/activations.h"
#include "warpwright/cpu.h"

namespace ww {

struct GeluParams {
  ElementwiseRows rows;
  GeluKind approximate;
};

cudaError_t gelu_fwd(const GeluParams& params, cudaStream_t stream);
cudaError_t gelu_fwd_cpu(const GeluParams& params, const ThreadPool& pool);

}  // namespace ww
