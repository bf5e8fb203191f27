// Kernels with one planted fault each, and correct ones that look alike.
#pragma once

#include <cuda_runtime_api.h>

#include <span>

namespace planted {

struct Buffers {
  float* x;    // kSize floats: 0, 1, 2, …
  float* out;  // kSize floats
  cudaStream_t stream;
  cudaStream_t other;  // of the same device
};
inline constexpr int kSize = 1024;

struct Case {
  const char* name;
  cudaError_t (*run)(const Buffers& buffers);
};

std::span<const Case> memory_cases();
std::span<const Case> shared_cases();
std::span<const Case> collective_cases();
std::span<const Case> stream_cases();
std::span<const Case> capture_cases();
std::span<const Case> graph_cases();
std::span<const Case> query_cases();
std::span<const Case> ptx_cases();
std::span<const Case> tile_cases();

// What `waiter` is given from now on comes after what `other` has been given.
cudaError_t wait(cudaStream_t waiter, cudaStream_t other);

// The status of a case that looks at results itself.
inline cudaError_t expect(bool holds) { return holds ? cudaSuccess : cudaErrorUnknown; }

}  // namespace planted
