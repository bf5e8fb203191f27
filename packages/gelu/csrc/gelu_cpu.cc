// GELU on the CPU: the activations of gelu.cu, in elementwise_cpu.h's loops.

#include "gelu.h"
#include "warpwright/elementwise_cpu.h"

namespace ww {

cudaError_t gelu_fwd_cpu(const GeluParams& params, const ThreadPool& pool) {
  return dispatch_gelu(params.approximate, [&](const auto& activation) {
    return elementwise_rows_cpu(params.rows, activation, pool);
  });
}

}  // namespace ww
