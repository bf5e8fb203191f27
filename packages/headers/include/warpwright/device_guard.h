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
    std::atomic<CUcontext>* known = detail::primary_context(device);
    const CUcontext primary = known == nullptr ? nullptr : known->load();
    if (previous_ != nullptr && previous_ == primary) return;
    // The driver's way, at a third of what cudaSetDevice costs; the runtime goes by what is current.
    if (primary != nullptr && driver.set_current(primary) == CUDA_SUCCESS) {
      set_current_ = driver.set_current;
      return;
    }
    status_ = cudaSetDevice(device);
    if (status_ != cudaSuccess) return;
    set_current_ = driver.set_current;
    CUcontext current = nullptr;
    if (known != nullptr && driver.get_current(&current) == CUDA_SUCCESS) *known = current;
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
