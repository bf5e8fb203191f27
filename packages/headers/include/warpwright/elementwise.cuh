// out[i] = op(x[i]) over a flat array of any length and alignment. op maps float to float.
#pragma once

#include <algorithm>

#include "warpwright/dispatch.h"
#include "warpwright/launch.h"
#include "warpwright/vec.cuh"

namespace ww {

inline constexpr int kElementwiseThreads = 256;
// Four 16-byte loads in flight per thread: 2048 resident threads then keep 128 KiB under way on a
// multiprocessor, several times what the memory's latency asks for.
inline constexpr int kElementwiseUnroll = 4;

// `head` elements come before the first 16-byte boundary (x and out have it in common); the first
// `head + tail` threads of the grid take those around the vectors.
template <typename T, typename Op>
__global__ void __launch_bounds__(kElementwiseThreads)
    elementwise_vec_kernel(const T* x, T* out, int64_t size, int head, Op op) {
  using V = Vec<T>;
  const int64_t num_vecs = (size - head) / V::kSize;
  const int64_t tile = int64_t{kElementwiseThreads} * kElementwiseUnroll;
  const T* x_body = x + head;
  T* out_body = out + head;

  for (int64_t first = blockIdx.x * tile + threadIdx.x; first < num_vecs;
       first += gridDim.x * tile) {
    V vecs[kElementwiseUnroll];
#pragma unroll
    for (int i = 0; i < kElementwiseUnroll; ++i) {
      const int64_t vec = first + i * kElementwiseThreads;
      if (vec < num_vecs) vecs[i] = V::load(x_body + vec * V::kSize);
    }
#pragma unroll
    for (int i = 0; i < kElementwiseUnroll; ++i) {
      const int64_t vec = first + i * kElementwiseThreads;
      if (vec >= num_vecs) break;
      float values[V::kSize];
      vecs[i].to_floats(values);
#pragma unroll
      for (int j = 0; j < V::kSize; ++j) values[j] = op(values[j]);
      V::from_floats(values).store(out_body + vec * V::kSize);
    }
  }

  const int64_t thread = int64_t{blockIdx.x} * kElementwiseThreads + threadIdx.x;
  const int64_t tail_begin = head + num_vecs * V::kSize;
  const int64_t edge = thread < head ? thread : tail_begin + thread - head;
  if (edge < size && (thread < head || edge >= tail_begin))
    out[edge] = from_float<T>(op(to_float(x[edge])));
}

// For x and out at different distances from a 16-byte boundary.
template <typename T, typename Op>
__global__ void __launch_bounds__(kElementwiseThreads)
    elementwise_scalar_kernel(const T* x, T* out, int64_t size, Op op) {
  const int64_t stride = int64_t{gridDim.x} * kElementwiseThreads;
  for (int64_t i = int64_t{blockIdx.x} * kElementwiseThreads + threadIdx.x; i < size; i += stride)
    out[i] = from_float<T>(op(to_float(x[i])));
}

template <typename T, typename Op>
cudaError_t elementwise(const T* x, T* out, int64_t size, Op op, cudaStream_t stream) {
  if (size == 0) return cudaSuccess;
  const auto x_phase = reinterpret_cast<uintptr_t>(x) % kVecBytes;
  const auto out_phase = reinterpret_cast<uintptr_t>(out) % kVecBytes;
  if (x_phase != out_phase) {
    const int64_t blocks = std::min(ceil_div<int64_t>(size, kElementwiseThreads), kMaxGridBlocks);
    return launch(
        elementwise_scalar_kernel<T, Op>,
        {.grid = static_cast<unsigned>(blocks), .block = kElementwiseThreads, .stream = stream}, x,
        out, size, op);
  }
  const int64_t to_boundary = (kVecBytes - x_phase) % kVecBytes / sizeof(T);
  const int head = static_cast<int>(std::min<int64_t>(to_boundary, size));
  const int64_t per_block = int64_t{kElementwiseThreads} * kElementwiseUnroll * Vec<T>::kSize;
  const int64_t blocks = std::clamp<int64_t>(ceil_div(size - head, per_block), 1, kMaxGridBlocks);
  return launch(
      elementwise_vec_kernel<T, Op>,
      {.grid = static_cast<unsigned>(blocks), .block = kElementwiseThreads, .stream = stream}, x,
      out, size, head, op);
}

}  // namespace ww
