// What the CUDA calls have in common.
#pragma once

#include <mutex>

#include "../include/cuda_runtime_api.h"
#include "report.h"
#include "stream.h"

namespace cudaemu {

// One call at a time, and what it makes the streams run: kernels of one process never overlap.
std::mutex& api_mutex();

// Remembered for cudaGetLastError.
cudaError_t settle(cudaError_t status);

// The calling thread's device; the second form is -1 if it has not used one yet.
int current_device();
int context_device();
void set_context_device(int device);

// f() under the mutex, unless there has been a fault; f may bring one about.
template <typename F>
cudaError_t call(F&& f) {
  const std::lock_guard lock(api_mutex());
  if (fault_status() != cudaSuccess) return settle(fault_status());
  return settle(f());
}

// The same with a stream, the device's default one for null.
template <typename F>
cudaError_t with_stream(cudaStream_t handle, F&& f) {
  return call([&] {
    CUstream_st* stream = find_stream(handle, current_device());
    return stream == nullptr ? cudaErrorInvalidResourceHandle : f(*stream);
  });
}

}  // namespace cudaemu
