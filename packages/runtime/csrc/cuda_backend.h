// What the runtime needs of a GPU. cuda_backend.cc does it with the CUDA runtime; an addon built
// without a toolkit links cuda_backend_absent.cc instead, where everything fails.
//
// Every function acts on the devices it is given, whatever the calling thread's current one is, and
// restores that. A failure is returned once and does not linger as the thread's last error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "warpwright/cuda_types.h"

struct CUevent_st;

namespace ww::cuda {

using Event = CUevent_st*;

struct DeviceInfo {
  std::string name;
  int major;
  int minor;
  uint64_t total_memory;
  int multiprocessors;
};

struct Probe {
  int driver_version = 0;
  int runtime_version = 0;
  cudaError_t status = cudaSuccess;
  std::vector<DeviceInfo> devices;
};

struct Stream {
  int device;
  cudaStream_t stream;
};

const char* error_name(cudaError_t status);
const char* error_text(cudaError_t status);

// Creates no context on any device.
Probe probe();
cudaError_t device_count(int& count);

// Memory in stream order. Out of memory: the pool's unused memory goes back to the system, and the
// allocation is tried once more.
cudaError_t allocate(Stream stream, size_t bytes, void** data);
void free(Stream stream, void* data);
// The stream that memory is freed on whose own stream may be gone; made on first use, never
// destroyed.
cudaError_t reclaim_stream(int device, cudaStream_t* stream);

cudaError_t create_stream(int device, int priority, cudaStream_t* stream);
void destroy_stream(Stream stream);
// With the device `likely` current, so that no context is made on another.
cudaError_t stream_device(cudaStream_t stream, int likely, int* device);
cudaError_t synchronize_device(int device);
cudaError_t synchronize(Stream stream);
// What `waiter` is given from now on runs after all that `other` has been given so far.
cudaError_t wait_for_stream(Stream waiter, Stream other);
// The same for all streams of a device together, without naming one.
cudaError_t wait_for_device(Stream waiter, int device);

cudaError_t create_event(int device, Event* event);
void destroy_event(int device, Event event);
cudaError_t record_event(Event event, Stream stream);
// cudaSuccess and done = false while the work before it is running.
cudaError_t query_event(int device, Event event, bool& done);
cudaError_t synchronize_event(int device, Event event);

cudaError_t zero(Stream stream, void* data, size_t bytes);
cudaError_t copy_on_device(Stream stream, void* dst, const void* src, size_t bytes);
// From pageable memory, which the caller may change when this returns.
cudaError_t copy_from_host(Stream stream, void* dst, const void* src, size_t bytes);
// To pageable memory; has happened when this returns.
cudaError_t copy_to_host(Stream stream, void* dst, const void* src, size_t bytes);
// To pinned memory; happens in stream order.
cudaError_t copy_to_pinned(Stream stream, void* dst, const void* src, size_t bytes);
// From pinned memory, which is read in stream order.
cudaError_t copy_from_pinned(Stream stream, void* dst, const void* src, size_t bytes);
// `stream` is the destination device's.
cudaError_t copy_from_peer(Stream stream, void* dst, const void* src, int src_device, size_t bytes);

// Pinned host memory that every device can reach.
cudaError_t pin(int device, size_t bytes, void** data);
void unpin(int device, void* data);

}  // namespace ww::cuda
