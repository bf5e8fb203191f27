// Shared memory: bounds, races, a cluster's other blocks.

#include "planted.h"
#include "warpwright/launch.h"
#include "warpwright/reduce.cuh"

namespace planted {
namespace {

using ww::launch;

constexpr int kThreads = 128;

template <int kPast>
__global__ void static_kernel(float* out) {
  __shared__ float values[kThreads];
  __shared__ float others[kThreads];
  others[threadIdx.x] = values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  float* element = &values[0] + threadIdx.x + kPast;
  out[threadIdx.x] = *element + others[0];
}

template <int kPast>
__global__ void dynamic_kernel(float* out, int size) {
  auto* values = ww::dynamic_shared<float>();
  for (int i = threadIdx.x; i < size + kPast; i += kThreads) values[i] = i;
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x];
}

template <int kPast>
cudaError_t run_static(const Buffers& b) {
  return launch(static_kernel<kPast>, {.block = kThreads, .stream = b.stream}, b.out);
}
template <int kPast>
cudaError_t run_dynamic(const Buffers& b) {
  return launch(dynamic_kernel<kPast>, {.block = kThreads, .smem = 600, .stream = b.stream}, b.out,
                150);
}

// Each round every thread reads its neighbour in another warp.
template <bool kFirst, bool kSecond>
__global__ void exchange_kernel(float* out) {
  __shared__ float values[kThreads];
  float x = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    values[threadIdx.x] = x;
    if (kFirst || round == 0) __syncthreads();
    x += values[(threadIdx.x + 33) % kThreads];
    if (kSecond) __syncthreads();
  }
  out[threadIdx.x] = x;
}

template <bool kFirst, bool kSecond>
cudaError_t run_exchange(const Buffers& b) {
  return launch(exchange_kernel<kFirst, kSecond>, {.block = kThreads, .stream = b.stream}, b.out);
}

template <bool kSync>
__global__ void warp_kernel(float* out) {
  __shared__ float values[kThreads];
  const int warp = threadIdx.x / 32 * 32;
  values[threadIdx.x] = threadIdx.x;
  __syncwarp();
  float x = values[warp + (threadIdx.x + 1) % 32];
  if (kSync) __syncwarp();
  values[threadIdx.x] = x;
  __syncwarp();
  out[threadIdx.x] = values[warp + (threadIdx.x + 1) % 32];
}

template <bool kSync>
cudaError_t run_warp(const Buffers& b) {
  return launch(warp_kernel<kSync>, {.block = kThreads, .stream = b.stream}, b.out);
}

enum class Count { atomic, plain, mixed };

template <Count kCount>
__global__ void count_kernel(float* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (kCount == Count::plain || (kCount == Count::mixed && threadIdx.x == 64))
    count += 1;
  else
    atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}

template <Count kCount>
cudaError_t run_count(const Buffers& b) {
  return launch(count_kernel<kCount>, {.block = kThreads, .stream = b.stream}, b.out);
}

__global__ void uninitialised_kernel(float* out) {
  __shared__ float values[kThreads];
  if (threadIdx.x < kThreads - 1) values[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x];
}

cudaError_t uninitialised(const Buffers& b) {
  return launch(uninitialised_kernel, {.block = kThreads, .stream = b.stream}, b.out);
}

struct alignas(16) Four {
  float values[4];
};

__global__ void struct_kernel(const float* x, float* out) {
  __shared__ Four fours[32];
  fours[threadIdx.x] = reinterpret_cast<const Four*>(x)[threadIdx.x];
  __syncwarp();
  reinterpret_cast<Four*>(out)[threadIdx.x] = fours[31 - threadIdx.x];
}

cudaError_t struct_copies(const Buffers& b) {
  return launch(struct_kernel, {.block = 32, .stream = b.stream}, b.x, b.out);
}

// The second half of the block fills a buffer that the first half empties.
template <bool kEmptyBarrier>
__global__ void pipeline_kernel(float* out) {
  __shared__ float buffer[kThreads / 2];
  constexpr unsigned kFull = 1;
  constexpr unsigned kEmpty = 2;
  const bool produces = threadIdx.x >= kThreads / 2;
  const int i = threadIdx.x % (kThreads / 2);
  float sum = 0;
  for (int round = 0; round < 3; ++round) {
    if (produces) {
      if (kEmptyBarrier && round > 0) __barrier_sync_count(kEmpty, kThreads);
      buffer[i] = round;
      __barrier_sync_count(kFull, kThreads);
    } else {
      __barrier_sync_count(kFull, kThreads);
      sum += buffer[(i + 1) % (kThreads / 2)];
      if (kEmptyBarrier && round < 2) __barrier_sync_count(kEmpty, kThreads);
    }
  }
  if (!produces) out[i] = sum;
}

template <bool kEmptyBarrier>
cudaError_t run_pipeline(const Buffers& b) {
  return launch(pipeline_kernel<kEmptyBarrier>, {.block = kThreads, .stream = b.stream}, b.out);
}

template <bool kFirst, bool kLast>
__global__ void cluster_kernel(float* out) {
  __shared__ float total;
  if (threadIdx.x == 0) total = ww::cluster_rank();
  if (kFirst)
    ww::cluster_sync();
  else
    __syncthreads();
  const int peer = (ww::cluster_rank() + 1) % ww::cluster_size();
  if (threadIdx.x == 0) out[blockIdx.x] = *ww::cluster_peer(&total, peer);
  if (kLast) ww::cluster_sync();
}

template <bool kFirst, bool kLast>
cudaError_t run_cluster(const Buffers& b) {
  return launch(cluster_kernel<kFirst, kLast>,
                {.grid = 8, .block = 32, .cluster = 4, .stream = b.stream}, b.out);
}

__global__ void reduce_kernel(const float* x, float* out) {
  ww::BlockReduce<ww::Sum, kThreads> sum;
  ww::BlockReduce<ww::Max, kThreads> max;
  const float value = x[threadIdx.x];
  out[threadIdx.x] = sum(value) + max(value) + sum(1.0f);
}

cudaError_t reductions(const Buffers& b) {
  return launch(reduce_kernel, {.grid = 2, .block = kThreads, .stream = b.stream}, b.x, b.out);
}

constexpr Case kCases[] = {
    {"static_shared", run_static<0>},
    {"static_shared_past_the_end", run_static<1>},
    {"dynamic_shared", run_dynamic<0>},
    {"dynamic_shared_past_the_end", run_dynamic<1>},
    {"exchange", run_exchange<true, true>},
    {"missing_barrier", run_exchange<false, true>},
    {"missing_second_barrier", run_exchange<true, false>},
    {"warp_exchange", run_warp<true>},
    {"missing_syncwarp", run_warp<false>},
    {"atomic_count", run_count<Count::atomic>},
    {"increment_race", run_count<Count::plain>},
    {"atomic_and_plain", run_count<Count::mixed>},
    {"uninitialised_shared", uninitialised},
    {"struct_copies", struct_copies},
    {"pipeline", run_pipeline<true>},
    {"pipeline_without_empty_barrier", run_pipeline<false>},
    {"cluster", run_cluster<true, true>},
    {"missing_cluster_sync", run_cluster<false, true>},
    {"missing_last_cluster_sync", run_cluster<true, false>},
    {"reductions", reductions},
};

}  // namespace

std::span<const Case> shared_cases() { return kCases; }

}  // namespace planted
