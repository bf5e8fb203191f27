// Global and local memory, arithmetic, limits.

#include "planted.h"
#include "warpwright/launch.h"

namespace planted {
namespace {

using ww::launch;

__global__ void add_kernel(const float* x, float* out, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) out[i] = x[i] + 1.0f;
}

cudaError_t add(const Buffers& b, int size) {
  return launch(add_kernel, {.grid = 5, .block = 256, .stream = b.stream}, b.x, b.out, size);
}

cudaError_t in_bounds(const Buffers& b) { return add(b, kSize); }
cudaError_t one_past_the_end(const Buffers& b) { return add(b, kSize + 1); }

__global__ void before_kernel(float* out) { out[static_cast<int>(threadIdx.x) - 1] = 0; }

cudaError_t one_before_the_begin(const Buffers& b) {
  return launch(before_kernel, {.block = 32, .stream = b.stream}, b.out);
}

cudaError_t use_after_free(const Buffers& b) {
  float* freed = nullptr;
  cudaMallocAsync(&freed, kSize * sizeof(float), b.stream);
  cudaFreeAsync(freed, b.stream);
  return launch(add_kernel, {.grid = 4, .block = 256, .stream = b.stream},
                static_cast<const float*>(freed), b.out, kSize);
}

// Through a pointer in memory, which nothing sees at the launch.
__global__ void through_kernel(float** pointers, float* out) { out[0] = *pointers[0]; }

cudaError_t through_pointer(const Buffers& b, bool live) {
  float* target = nullptr;
  float** pointers = nullptr;
  cudaMallocAsync(&target, sizeof(float), b.stream);
  cudaMallocAsync(&pointers, sizeof(float*), b.stream);
  cudaMemsetAsync(target, 0, sizeof(float), b.stream);
  cudaMemcpyAsync(pointers, &target, sizeof(target), cudaMemcpyHostToDevice, b.stream);
  if (!live) cudaFreeAsync(target, b.stream);
  return launch(through_kernel, {.stream = b.stream}, pointers, b.out);
}

cudaError_t live_pointer_in_memory(const Buffers& b) { return through_pointer(b, true); }
cudaError_t freed_pointer_in_memory(const Buffers& b) { return through_pointer(b, false); }

cudaError_t host_pointer(const Buffers& b) {
  static float* host = new float[kSize]{};
  return launch(add_kernel, {.grid = 4, .block = 256, .stream = b.stream},
                static_cast<const float*>(host), b.out, kSize);
}

cudaError_t pinned_host_memory(const Buffers& b) {
  void* pinned = nullptr;
  cudaHostAlloc(&pinned, kSize * sizeof(float), cudaHostAllocPortable);
  const auto* x = static_cast<const float*>(pinned);
  return launch(add_kernel, {.grid = 4, .block = 256, .stream = b.stream}, x, b.out, kSize);
}

cudaError_t other_device(const Buffers& b) {
  float* there = nullptr;
  cudaStream_t stream = nullptr;
  cudaSetDevice(1);
  cudaStreamCreate(&stream);
  cudaMallocAsync(&there, kSize * sizeof(float), stream);
  cudaStreamSynchronize(stream);
  cudaSetDevice(0);
  return launch(add_kernel, {.grid = 4, .block = 256, .stream = b.stream},
                static_cast<const float*>(there), b.out, kSize);
}

__global__ void vector_kernel(const float* x, float* out, int offset) {
  const auto* vecs = reinterpret_cast<const float4*>(x + offset);
  reinterpret_cast<float4*>(out)[threadIdx.x] = vecs[threadIdx.x];
}

cudaError_t aligned_vectors(const Buffers& b) {
  return launch(vector_kernel, {.block = 32, .stream = b.stream}, b.x, b.out, 4);
}
cudaError_t misaligned_vectors(const Buffers& b) {
  return launch(vector_kernel, {.block = 32, .stream = b.stream}, b.x, b.out, 1);
}

__global__ void offset_kernel(float* out, int rows, int row_stride) {
  const int offset = (rows - 1) * row_stride;
  if (offset < 0) out[0] = offset;
}

cudaError_t offset_overflow(const Buffers& b) {
  return launch(offset_kernel, {.stream = b.stream}, b.out, 1 << 17, 1 << 15);
}

__global__ void local_kernel(float* out, int index) {
  float values[8];
  for (int i = 0; i < 8; ++i) values[i] = out[i];
  out[0] = values[index + threadIdx.x];
}

cudaError_t local_array(const Buffers& b) {
  return launch(local_kernel, {.block = 8, .stream = b.stream}, b.out, 0);
}
cudaError_t local_array_index(const Buffers& b) {
  return launch(local_kernel, {.block = 8, .stream = b.stream}, b.out, 1);
}

__attribute__((noinline)) float sum(const float* values, int count) {
  float total = 0;
  for (int i = 0; i < count; ++i) total += values[i];
  return total;
}

__global__ void local_pointer_kernel(float* out) {
  float values[8];
  for (int i = 0; i < 8; ++i) values[i] = out[i];
  out[0] = sum(values, 9);
}

cudaError_t local_array_by_pointer(const Buffers& b) {
  return launch(local_pointer_kernel, {.stream = b.stream}, b.out);
}

__attribute__((noinline)) int descend(volatile int* below, int depth) {
  volatile int frame[256];
  frame[0] = depth + *below;
  return depth == 0 ? frame[0] : descend(frame, depth - 1) + frame[0];
}

__global__ void deep_kernel(float* out, int depth) {
  volatile int bottom = 0;
  out[0] = descend(&bottom, depth);
}

cudaError_t deep_stack(const Buffers& b) {
  return launch(deep_kernel, {.stream = b.stream}, b.out, 10);
}
cudaError_t stack_overflow(const Buffers& b) {
  return launch(deep_kernel, {.stream = b.stream}, b.out, 1000);
}

cudaError_t grid_too_large(const Buffers& b) {
  return launch(add_kernel, {.grid = {1, 1, 70000}, .block = 32, .stream = b.stream}, b.x, b.out,
                kSize);
}

constexpr Case kCases[] = {
    {"in_bounds", in_bounds},
    {"one_past_the_end", one_past_the_end},
    {"one_before_the_begin", one_before_the_begin},
    {"use_after_free", use_after_free},
    {"live_pointer_in_memory", live_pointer_in_memory},
    {"freed_pointer_in_memory", freed_pointer_in_memory},
    {"host_pointer", host_pointer},
    {"pinned_host_memory", pinned_host_memory},
    {"other_device", other_device},
    {"aligned_vectors", aligned_vectors},
    {"misaligned_vectors", misaligned_vectors},
    {"offset_overflow", offset_overflow},
    {"local_array", local_array},
    {"local_array_index", local_array_index},
    {"local_array_by_pointer", local_array_by_pointer},
    {"deep_stack", deep_stack},
    {"stack_overflow", stack_overflow},
    {"grid_too_large", grid_too_large},
};

}  // namespace

std::span<const Case> memory_cases() { return kCases; }

}  // namespace planted
