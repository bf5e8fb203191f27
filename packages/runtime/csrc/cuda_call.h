// How the parts of the CUDA backend call CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "lost_device.h"
#include "warpwright/device_guard.h"

namespace ww::cuda {

// Passes the status on and takes it off the thread's record of the last error.
inline cudaError_t settled(int device, cudaError_t status) {
  if (status == cudaSuccess) return status;
  cudaGetLastError();
  report_status(device, status);
  return status;
}

// f() with `device` current.
template <typename F>
cudaError_t on_device(int device, F&& f) {
  const DeviceGuard guard(device);
  if (guard.status() != cudaSuccess) return settled(device, guard.status());
  return settled(device, std::forward<F>(f)());
}

// A driver function that the runtime has no twin of; the addon is not linked against the driver.
template <typename Function>
cudaError_t driver_function(const char* name, unsigned version, Function& function) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (const auto status =
          cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &found))
    return status;
  if (address == nullptr || found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  function = reinterpret_cast<Function>(address);
  return cudaSuccess;
}

// Whether the device reads the host's pageable memory itself, after a copy call has returned.
cudaError_t reads_host_pages(int device, bool& reads);

// Lets `reader` copy from the owner's memory directly, where the two can. Without it a peer copy is
// staged through the host: memory pools have their own access rights.
cudaError_t let_read(int owner, int reader);

}  // namespace ww::cuda
