#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "warpwright/activations.h"
#include "warpwright/cpu.h"
#include "warpwright/sigmoid.h"

namespace ww {

struct SwigluParams {
  GatedRows rows;
  float limit;      // gate is clamped to at most it, up to within it of 0; infinity: neither
  float alpha;      // of sigmoid(alpha * gate), above 0
  float up_offset;  // added to up, after the clamp
};

// gate * sigmoid(alpha * gate) * (up + up_offset) of clamped gate and up. A NaN stays one.
struct ClampedSwiglu {
  float limit;
  float rate;   // alpha in powers of two
  float faded;  // from here down the sigmoid is 0 in float32
  float up_offset;

  explicit ClampedSwiglu(const SwigluParams& params)
      : limit(params.limit),
        rate(params.alpha * kLog2E),
        faded(std::max(kExpFaded / params.alpha, -std::numeric_limits<float>::max())),
        up_offset(params.up_offset) {}

  template <typename T>
  WW_OP float operator()(type_tag<T>, float gate, float up) const {
    const float g = at_most(limit, gate);
    const float capped = at_most(limit, up);
    const float u = at_least(-limit, capped);
    return times_sigmoid<T>(g, rate * g, faded) * (u + up_offset);
  }
};

// f(op) for what the parameters ask: most models clamp nothing.
template <typename F>
cudaError_t dispatch_swiglu(const SwigluParams& params, F&& f) {
  const bool valid = params.limit > 0.0f && params.alpha > 0.0f && std::isfinite(params.alpha) &&
                     std::isfinite(params.up_offset);
  if (!valid) return cudaErrorInvalidValue;
  if (std::isinf(params.limit) && params.alpha == 1.0f && params.up_offset == 0.0f)
    return f(Gated<Silu>{});
  return f(ClampedSwiglu(params));
}

cudaError_t swiglu_fwd(const SwigluParams& params, cudaStream_t stream);
cudaError_t swiglu_fwd_cpu(const SwigluParams& params, const ThreadPool& pool);

}  // namespace ww
