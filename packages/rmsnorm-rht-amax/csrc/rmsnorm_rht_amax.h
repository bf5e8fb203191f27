#pragma once

#include "warpwright/cpu.h"
#include "warpwright/dtype.h"
#include "warpwright/rows.h"

namespace ww {

// Columns that are transformed together, each row's first ones from its start.
inline constexpr int kRhtBlock = 16;

struct RmsnormRhtAmaxParams {
  RowGrid grid;          // num_rows, shared by all Rows
  Rows x;                // (num_rows, hidden_size)
  Rows out;              // (num_rows, hidden_size)
  const void* weight;    // (hidden_size)
  float* amax;           // (num_rows / rows_per_cta)
  int64_t rows_per_cta;  // divides num_rows
  int hidden_size;       // a multiple of kRhtBlock
  int num_threads;       // at least so many share a row that a block holds, 0 for any number
  float eps;
  uint32_t signs;  // bit i negates column i of each block
  bool ignore_nan;
  Dtype dtype;          // of x and out
  Dtype weight_dtype;   // dtype, or f32
  int group_warps = 1;  // that share the rows of one amax where a row is a warp's: the launcher's

  WW_HOST_DEVICE int64_t num_groups() const { return grid.num_rows() / rows_per_cta; }
};

// What both launchers require; they answer anything else with cudaErrorInvalidValue.
inline bool is_valid(const RmsnormRhtAmaxParams& params) {
  return has_valid_rows(params) && params.hidden_size % kRhtBlock == 0 && params.rows_per_cta > 0 &&
         params.grid.num_rows() % params.rows_per_cta == 0 && params.weight != nullptr &&
         is_valid_param(params.weight, params.weight_dtype, params.dtype);
}

cudaError_t rmsnorm_rht_amax_fwd(const RmsnormRhtAmaxParams& params, cudaStream_t stream);
cudaError_t rmsnorm_rht_amax_fwd_cpu(const RmsnormRhtAmaxParams& params, const ThreadPool& pool);

}  // namespace ww
