#pragma once

#include "warpwright/cpu.h"
#include "warpwright/dtype.h"
#include "warpwright/rows.h"

namespace ww {

struct NewKernelParams {
  RowGrid grid;    // num_rows, shared by all Rows
  Rows x;          // (num_rows, hidden_size)
  Rows out;        // (num_rows, hidden_size)
  float* inverse;  // (num_rows), or null
  int hidden_size;
  float eps;
  Dtype dtype;  // of x and out
};

cudaError_t new_kernel_fwd(const NewKernelParams& params, cudaStream_t stream);
cudaError_t new_kernel_fwd_cpu(const NewKernelParams& params, const ThreadPool& pool);

}  // namespace ww
