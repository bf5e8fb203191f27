// GELU forward: out = x * erfc(-x / sqrt(2)) / 2, or one of its approximations. x is read once and
// out is written once, 16 bytes at a time; how threads share the rows is elementwise_rows.cuh's.

#include "gelu.h"
#include "warpwright/elementwise_rows.cuh"

namespace ww {

cudaError_t gelu_fwd(const GeluParams& params, cudaStream_t stream) {
  return dispatch_gelu(params.approximate, [&](const auto& activation) {
    return elementwise_rows(params.rows, activation, stream);
  });
}

}  // namespace ww
