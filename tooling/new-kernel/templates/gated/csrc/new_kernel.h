#pragma once

#include <cmath>

#include "warpwright/cpu.h"
#include "warpwright/sigmoid.h"

namespace ww {

struct NewKernelParams {
  GatedRows rows;
};

// sigmoid(x), by the exponential that does not overflow, and of which a NaN would be 0.
struct Sigmoid {
  template <typename T>
  WW_OP float operator()(type_tag<T>, float x) const {
    const float power = exp2_negative(-std::fabs(kLog2E * x));
    const float share = divide(x < 0.0f ? power : 1.0f, 1.0f + power);
    return std::isnan(x) ? x : share;
  }
};

cudaError_t new_kernel_fwd(const NewKernelParams& params, cudaStream_t stream);
cudaError_t new_kernel_fwd_cpu(const NewKernelParams& params, const ThreadPool& pool);

}  // namespace ww
