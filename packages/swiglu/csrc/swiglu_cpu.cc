// SwiGLU on the CPU: the operation of swiglu.cu, in elementwise_cpu.h's loops.

#include "swiglu.h"
#include "warpwright/elementwise_cpu.h"

namespace ww {

cudaError_t swiglu_fwd_cpu(const SwigluParams& params, const ThreadPool& pool) {
  return dispatch_swiglu(params,
                         [&](const auto& op) { return gated_rows_cpu(params.rows, op, pool); });
}

}  // namespace ww
