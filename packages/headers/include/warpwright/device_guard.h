// Makes a device the calling thread's current one for a scope.
#pragma once

#include "warpwright/cuda_types.h"

#if WARPWRIGHT_WITH_CUDA
namespace ww {

class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    status_ = cudaGetDevice(&previous_);
    if (status_ != cudaSuccess || previous_ == device) return;
    status_ = cudaSetDevice(device);
    changed_ = status_ == cudaSuccess;
  }
  ~DeviceGuard() {
    if (changed_) cudaSetDevice(previous_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  cudaError_t status() const { return status_; }

 private:
  int previous_ = 0;
  bool changed_ = false;
  cudaError_t status_;
};

}  // namespace ww
#endif
