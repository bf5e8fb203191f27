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
struct CUgraph_st;
struct CUgraphExec_st;

namespace ww::cuda {

using Event = CUevent_st*;
using Graph = CUgraph_st*;
using GraphExec = CUgraphExec_st*;

inline constexpr int kMaxDevices = 64;

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

// Whether the status leaves its device unusable for the rest of the process.
bool is_sticky(cudaError_t status);
// Whether such a status leaves the other devices unusable too.
bool ends_all_devices(cudaError_t status);

// Creates no context on any device.
Probe probe();
cudaError_t device_count(int& count);

// Memory in stream order.
cudaError_t allocate(Stream stream, size_t bytes, void** data);
void free(Stream stream, void* data);
// The stream that memory is freed on whose own stream may be gone; made on first use, never
// destroyed.
cudaError_t reclaim_stream(int device, cudaStream_t* stream);

// Bytes.
struct MemoryStats {
  uint64_t allocated;  // of the pool, by tensors
  uint64_t peak;       // the most that it was
  uint64_t reserved;   // the pool's, with what it keeps for the next allocation
  uint64_t free;       // the device's, for all processes
  uint64_t total;
};
cudaError_t memory_stats(int device, MemoryStats& stats);
// Gives the pool's unused memory back to the system.
cudaError_t trim(int device);
// The device that the memory is on; -1 for the host's.
cudaError_t pointer_device(const void* data, int likely, int* device);

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

cudaError_t wait_for_event(Stream waiter, Event event);

cudaError_t create_event(int device, Event* event);
cudaError_t create_timed_event(int device, Event* event);
void destroy_event(int device, Event event);
cudaError_t record_event(Event event, Stream stream);
// After all that the device's streams have been given so far.
cudaError_t record_device_event(Event event, int device);
cudaError_t synchronize_event(int device, Event event);
// Between two events that have happened.
cudaError_t elapsed_time(int device, Event since, Event until, float* milliseconds);
// cudaSuccess and done = false while the work before it is running.
cudaError_t query_event(int device, Event event, bool& done);

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

// What the stream is given is recorded until the capture ends, and does not run.
cudaError_t begin_capture(Stream stream);
// On failure the stream can be used as before.
cudaError_t end_capture(Stream stream, Graph* graph);
cudaError_t instantiate(int device, Graph graph, GraphExec* exec);
void destroy_graph(int device, Graph graph);
void destroy_graph_exec(int device, GraphExec exec);
cudaError_t launch_graph(GraphExec exec, Stream stream);

// Pinned host memory that every device can reach.
cudaError_t pin(int device, size_t bytes, void** data);
void unpin(int device, void* data);

}  // namespace ww::cuda
