#pragma once

#include "warpwright/cpu.h"
#include "warpwright/dtype.h"
#include "warpwright/rows.h"

namespace ww {

// Squares of floats beyond 1.8e19 overflow, those of floats below 1e-19 fade. A row whose mean
// square comes out so is computed again with a scaling: of h * scaling^2 the squares are summed,
// and out is (h * scaling) * (rstd * scaling), so that neither factor leaves float. The largest
// float times kShrink^2, squared, times any hidden_size, is finite.
inline constexpr float kShrink = 0x1p-40f;
inline constexpr float kGrow = 0x1p48f;

// 1, or the scaling for a row whose mean square, with eps, was found to be mean_sq.
WW_HOST_DEVICE inline float rescaling(float mean_sq) {
  constexpr float kLargest = 0x1.fffffep127f;
  constexpr float kFaded = 0x1p-100f;
  if (mean_sq > kLargest) return kShrink;
  return mean_sq < kFaded ? kGrow : 1.0f;
}

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
