// Swish on the CPU: the operation of new_kernel.cu, in elementwise_cpu.h's loops.

#include "new_kernel.h"
#include "warpwright/elementwise_cpu.h"

namespace ww {

cudaError_t new_kernel_fwd_cpu(const NewKernelParams& params, const ThreadPool& pool) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  return elementwise_rows_cpu(params.rows, Swish(params.beta), pool);
}

}  // namespace ww
