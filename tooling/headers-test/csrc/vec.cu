// Each form of Vec's loads and stores, a thread for a vector.

#include "gpu_cases.h"
#include "warpwright/dispatch.h"
#include "warpwright/launch.h"
#include "warpwright/vec.cuh"

namespace ww {
namespace {

constexpr int kThreads = 128;

template <typename T>
__device__ Vec<T> load(const VecParams& params, const T* ptr) {
  switch (params.load) {
    case VecForm::aligned:
      return Vec<T>::load(ptr);
    case VecForm::misaligned:
      return Vec<T>::load_misaligned(ptr);
    case VecForm::tail:
      break;
  }
  return Vec<T>::load_tail(ptr, params.count, from_float<T>(params.fill));
}

template <typename T>
__device__ void store(const VecParams& params, const Vec<T>& vec, T* ptr) {
  switch (params.store) {
    case VecForm::aligned:
      return vec.store(ptr);
    case VecForm::misaligned:
      return vec.store_misaligned(ptr);
    case VecForm::tail:
      return vec.store_tail(ptr, params.count);
  }
}

template <typename T>
__global__ void vec_kernel(const VecParams params) {
  const int64_t index = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (index >= params.num_vecs) return;
  const int64_t offset = index * Vec<T>::kSize;
  float values[Vec<T>::kSize];
  load(params, static_cast<const T*>(params.src) + offset).to_floats(values);
  store(params, Vec<T>::from_floats(values), static_cast<T*>(params.dst) + offset);
}

}  // namespace

cudaError_t vec_fwd(const VecParams& params, cudaStream_t stream) {
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    return launch(vec_kernel<T>,
                  {.grid = static_cast<unsigned>(ceil_div<int64_t>(params.num_vecs, kThreads)),
                   .block = kThreads,
                   .stream = stream},
                  params);
  });
}

}  // namespace ww
