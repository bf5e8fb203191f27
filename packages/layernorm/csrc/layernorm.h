#pragma once

#include "warpwright/cpu.h"
#include "warpwright/dtype.h"
#include "warpwright/rows.h"

namespace ww {

struct LayerNormParams {
  RowGrid grid;        // num_rows, shared by all Rows
  Rows x;              // (num_rows, hidden_size)
  Rows residual;       // (num_rows, hidden_size), or null: added to x before the norm
  Rows out;            // (num_rows, hidden_size)
  Rows residual_out;   // (num_rows, hidden_size), x + residual rounded; null exactly if residual is
  const void* weight;  // (hidden_size), or null
  const void* bias;    // (hidden_size), or null
  float* mean;         // (num_rows), or null
  float* rstd;         // (num_rows), or null
  int hidden_size;
  float eps;
  Dtype dtype;         // of x, residual, out and residual_out
  Dtype weight_dtype;  // dtype, or f32
  Dtype bias_dtype;    // dtype, or f32
};

// What both launchers require; they answer anything else with cudaErrorInvalidValue.
inline bool is_valid(const LayerNormParams& params) {
  return has_valid_rows(params) &&
         is_valid_param(params.weight, params.weight_dtype, params.dtype) &&
         is_valid_param(params.bias, params.bias_dtype, params.dtype);
}

cudaError_t layernorm_fwd(const LayerNormParams& params, cudaStream_t stream);
cudaError_t layernorm_fwd_cpu(const LayerNormParams& params, const ThreadPool& pool);

}  // namespace ww
