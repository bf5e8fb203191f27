// GEGLU on the CPU: the operation of geglu.cu, in elementwise_cpu.h's loops.

#include "geglu.h"
#include "warpwright/elementwise_cpu.h"

namespace ww {

cudaError_t geglu_fwd_cpu(const GegluParams& params, const ThreadPool& pool) {
  return dispatch_gelu(params.approximate, [&](const auto& activation) {
    return gated_rows_cpu(params.rows, Gated{activation}, pool);
  });
}

}  // namespace ww
