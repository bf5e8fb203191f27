// GEGLU forward: out = gelu(gate) * up. gate and up are read once and out is written once, 16 bytes
// at a time; how threads share the rows is elementwise_rows.cuh's.

#include "geglu.h"
#include "warpwright/elementwise_rows.cuh"

namespace ww {

cudaError_t geglu_fwd(const GegluParams& params, cudaStream_t stream) {
  return dispatch_gelu(params.approximate, [&](const auto& activation) {
    return gated_rows(params.rows, Gated{activation}, stream);
  });
}

}  // namespace ww
