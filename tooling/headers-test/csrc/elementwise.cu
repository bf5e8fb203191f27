#include "gpu_cases.h"
#include "warpwright/elementwise.cuh"

namespace ww {
namespace {

struct DoublePlusOne {
  __device__ float operator()(float x) const { return 2.0f * x + 1.0f; }
};

}  // namespace

cudaError_t elementwise_fwd(const ElementwiseParams& params, cudaStream_t stream) {
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    return elementwise(static_cast<const T*>(params.x), static_cast<T*>(params.out), params.size,
                       DoublePlusOne{}, stream);
  });
}

}  // namespace ww
