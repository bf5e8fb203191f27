#pragma once

#include "warpwright/activations.h"
#include "warpwright/cpu.h"

namespace ww {

struct GegluParams {
  GatedRows rows;
  GeluKind approximate;
};

cudaError_t geglu_fwd(const GegluParams& params, cudaStream_t stream);
cudaError_t geglu_fwd_cpu(const GegluParams& params, const ThreadPool& pool);

}  // namespace ww
