// Makes a device the calling thread's current one for a scope.
#pragma once

#include "warpwright/cuda_types.h"

#if WARPWRIGHT_WITH_CUDA
#include <cuda.h>

#include <atomic>

namespace ww {

namespace detail {

// The driver's view of the current device, which is exact where the runtime's is not: a thread that
// never used CUDA has no context, but "device 0" to the runtime, and restoring that would create a
// context on a device that nobody asked for.
struct DriverContexts {
  CUresult (*get_current)(CUcontext*) = nullptr;
  CUresult (*set_current)(CUcontext) = nullptr;
  cudaError_t status = cudaSuccess;

  DriverContexts() {
    find("cuCtxGetCurrent", get_current);
    find("cuCtxSetCurrent", set_current);
  }

 private:
  template <typename Function>
  void find(const char* name, Function& function) {
    constexpr unsigned kSince = 4000;  // CUDA 4.0
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    if (status == cudaSuccess)
      status = cudaGetDriverEntryPointByVersion(name, &address, kSince, cudaEnableDefault, &found);
    if (status == cudaSuccess && found != cudaDriverEntryPointSuccess)
      status = cudaErrorInsufficientDriver;
    function = reinterpret_cast<Function>(address);
  }
};

// Each device's primary context, once it has been seen: comparing costs less than asking.
inline std::atomic<CUcontext>* primary_context(int device) {
  constexpr int kRemembered = 64;
  static std::atomic<CUcontext> contexts[kRemembered];
  return device < kRemembered ? &contexts[device] : nullptr;
}

}  // namespace detail

class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    static const detail::DriverContexts driver;
    status_ = driver.status;
    if (status_ != cudaSuccess) return;
    driver.get_current(&previous_);
    std::atomic<CUcontext>* primary = detail::primary_context(device);
    if (previous_ != nullptr && primary != nullptr && *primary == previous_) return;
    status_ = cudaSetDevice(device);
    if (status_ != cudaSuccess) return;
    // A thread without a context is on device 0 as far as the runtime goes, and stays there: taking
    // the context away and binding it again at the next call costs half a launch.
    if (previous_ != nullptr || device != 0) set_current_ = driver.set_current;
    CUcontext current = nullptr;
    if (primary != nullptr && driver.get_current(&current) == CUDA_SUCCESS) *primary = current;
  }
  ~DeviceGuard() {
    if (set_current_ != nullptr) set_current_(previous_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  cudaError_t status() const { return status_; }

 private:
  CUcontext previous_ = nullptr;
  CUresult (*set_current_)(CUcontext) = nullptr;  // null where nothing was changed
  cudaError_t status_ = cudaSuccess;
};

}  // namespace ww
#endif
