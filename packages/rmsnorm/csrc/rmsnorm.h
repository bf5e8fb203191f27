#pragma once

#include "warpwright/cpu.h"
#include "warpwright/dtype.h"
#include "warpwright/rows.h"

namespace ww {

enum class RmsNormCasting : int { f32 = 0, llama = 1 };

struct RmsNormParams {
  RowGrid grid;        // num_rows, shared by all Rows
  Rows x;              // (num_rows, hidden_size)
  Rows residual;       // (num_rows, hidden_size), or null: added to x before the norm
  Rows out;            // (num_rows, hidden_size)
  Rows residual_out;   // (num_rows, hidden_size), x + residual rounded; null exactly if residual is
  const void* weight;  // (hidden_size), or null
  float* rstd;         // (num_rows), or null
  int hidden_size;
  float eps;
  float weight_offset;
  Dtype dtype;         // of x, residual, out and residual_out
  Dtype weight_dtype;  // dtype, or f32
  RmsNormCasting casting;
};

// What both launchers require; they answer anything else with cudaErrorInvalidValue.
inline bool is_valid(const RmsNormParams& params) {
  return has_valid_rows(params) && is_valid_param(params.weight, params.weight_dtype, params.dtype);
}

cudaError_t rmsnorm_fwd(const RmsNormParams& params, cudaStream_t stream);
cudaError_t rmsnorm_fwd_cpu(const RmsNormParams& params, const ThreadPool& pool);

}  // namespace ww
