// SwiGLU forward: out = gate * sigmoid(alpha * gate) * (up + up_offset), gate and up clamped
// before. gate and up are read once and out is written once, 16 bytes at a time; how threads share
// the rows is elementwise_rows.cuh's.

#include "swiglu.h"
#include "warpwright/elementwise_rows.cuh"

namespace ww {

cudaError_t swiglu_fwd(const SwigluParams& params, cudaStream_t stream) {
  return dispatch_swiglu(params,
                         [&](const auto& op) { return gated_rows(params.rows, op, stream); });
}

}  // namespace ww
