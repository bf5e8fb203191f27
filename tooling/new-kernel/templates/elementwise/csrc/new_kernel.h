#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "warpwright/cpu.h"
#include "warpwright/sigmoid.h"

namespace ww {

struct NewKernelParams {
  ElementwiseRows rows;
  float beta;  // above 0
};

inline bool is_valid(const NewKernelParams& params) {
  return params.beta > 0.0f && std::isfinite(params.beta);
}

// x * sigmoid(beta * x). Without calls of libm and branches, so that the CPU's loop is vectorised.
struct Swish {
  float rate;   // beta in powers of two
  float faded;  // from here down the sigmoid is 0 in float32

  explicit Swish(float beta)
      : rate(beta * kLog2E),
        faded(std::max(kExpFaded / beta, -std::numeric_limits<float>::max())) {}

  template <typename T>
  WW_OP float operator()(type_tag<T>, float x) const {
    return times_sigmoid<T>(x, rate * x, faded);
  }
};

cudaError_t new_kernel_fwd(const NewKernelParams& params, cudaStream_t stream);
cudaError_t new_kernel_fwd_cpu(const NewKernelParams& params, const ThreadPool& pool);

}  // namespace ww
