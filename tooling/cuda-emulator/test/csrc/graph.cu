// Graphs that are launched again and again, and their memory.

#include <cuda_emulator/control.h>

#include "planted.h"
#include "warpwright/launch.h"

namespace planted {
namespace {

using ww::launch;

__global__ void scale_kernel(const float* x, float* out, float factor) {
  out[threadIdx.x] = x[threadIdx.x] * factor;
}

__global__ void step_kernel(float* out, float addend) {
  out[threadIdx.x] = 2 * out[threadIdx.x] + addend;
}

__global__ void through_kernel(float** pointers, float* out) { out[0] = *pointers[0]; }

cudaError_t scale(const float* x, float* out, float factor, cudaStream_t stream) {
  return launch(scale_kernel, {.block = 256, .stream = stream}, x, out, factor);
}

cudaError_t step(float* out, float addend, cudaStream_t stream) {
  return launch(step_kernel, {.block = 256, .stream = stream}, out, addend);
}

// The graph of what f gives b.stream.
template <typename F>
cudaGraphExec_t capture(const Buffers& b, F&& f) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamBeginCapture(b.stream, cudaStreamCaptureModeRelaxed);
  f();
  cudaStreamEndCapture(b.stream, &graph);
  cudaGraphInstantiate(&exec, graph);
  if (graph != nullptr) cudaGraphDestroy(graph);
  return exec;
}

// The status of the launch, which may still be running when this returns.
template <typename F>
cudaError_t capture_and_launch(const Buffers& b, cudaStream_t stream, F&& f) {
  const cudaGraphExec_t exec = capture(b, f);
  const cudaError_t status = cudaGraphLaunch(exec, stream);
  cudaGraphExecDestroy(exec);
  return status;
}

float first_value(const float* data, cudaStream_t stream) {
  float value = -1;
  cudaMemcpyAsync(&value, data, sizeof(value), cudaMemcpyDeviceToHost, stream);
  return value;
}

void set_input(const Buffers& b, float value) {
  cudaMemcpyAsync(b.x, &value, sizeof(value), cudaMemcpyHostToDevice, b.stream);
}

cudaError_t replay_equals_eager(const Buffers& b) {
  const auto work = [&] {
    cudaMemsetAsync(b.out, 0, kSize * sizeof(float), b.stream);
    scale(b.x, b.out, 3, b.stream);
    cudaMemcpyAsync(b.out + 256, b.out, 256 * sizeof(float), cudaMemcpyDeviceToDevice, b.stream);
    step(b.out + 256, 1, b.stream);
  };
  const cudaGraphExec_t exec = capture(b, work);
  cudaGraphUpload(exec, b.stream);
  bool right = true;
  for (const float input : {5.0f, 7.0f}) {
    set_input(b, input);
    cudaGraphLaunch(exec, b.stream);
    const float replayed = first_value(b.out + 256, b.stream);
    work();
    right = right && replayed == 6 * input + 1 && first_value(b.out + 256, b.stream) == replayed;
  }
  cudaGraphExecDestroy(exec);
  return expect(right);
}

cudaError_t capture_runs_nothing(const Buffers& b) {
  float* memory = nullptr;
  cudaMallocAsync(&memory, 256 * sizeof(float), b.stream);
  const cudaGraphExec_t exec = capture(b, [&] { scale(b.x + 1, memory, 100, b.stream); });
  const float before = first_value(memory, b.stream);
  cudaGraphLaunch(exec, b.stream);
  cudaGraphExecDestroy(exec);
  const float after = first_value(memory, b.stream);
  cudaFreeAsync(memory, b.stream);
  return expect(before != before && after == 100);  // NaN, as memory is when it is new
}

// 7 in the one order and 10 in the other, each of them for some seed.
cudaError_t independent_nodes(const Buffers& b) {
  const float one = 1;
  const cudaGraphExec_t exec = capture(b, [&] {
    wait(b.other, b.stream);
    step(b.out, 0, b.stream);
    step(b.out, 3, b.other);
    wait(b.stream, b.other);
  });
  int first[2] = {0, 0};
  for (int seed = 0; seed < 16; ++seed) {
    cudaemu_set_seed(seed);
    cudaMemcpyAsync(b.out, &one, sizeof(one), cudaMemcpyHostToDevice, b.stream);
    cudaGraphLaunch(exec, b.stream);
    const float value = first_value(b.out, b.stream);
    first[0] += value == 7;
    first[1] += value == 10;
  }
  cudaGraphExecDestroy(exec);
  return expect(first[0] > 0 && first[1] > 0 && first[0] + first[1] == 16);
}

// Two long branches: each in order, whatever runs between.
cudaError_t branches_in_order(const Buffers& b) {
  constexpr int kSteps = 8;
  const cudaGraphExec_t exec = capture(b, [&] {
    cudaMemsetAsync(b.out, 0, kSize * sizeof(float), b.stream);
    wait(b.other, b.stream);
    for (int i = 0; i < kSteps; ++i) {
      step(b.out, i % 2, b.stream);
      step(b.out + 256, i % 3, b.other);
    }
    wait(b.stream, b.other);
    scale(b.out + 256, b.out + 512, 1, b.stream);
  });
  float wanted[2] = {0, 0};
  for (int i = 0; i < kSteps; ++i) {
    wanted[0] = 2 * wanted[0] + static_cast<float>(i % 2);
    wanted[1] = 2 * wanted[1] + static_cast<float>(i % 3);
  }
  cudaGraphLaunch(exec, b.other);
  cudaGraphExecDestroy(exec);
  const float joined = first_value(b.out + 512, b.other);
  return expect(first_value(b.out, b.other) == wanted[0] && joined == wanted[1]);
}

// One launch waits for the one before, on whatever stream that was.
cudaError_t launches_in_order(const Buffers& b) {
  float* memory = nullptr;
  cudaMallocAsync(&memory, 256 * sizeof(float), b.stream);
  cudaMemsetAsync(memory, 0, 256 * sizeof(float), b.stream);
  const cudaGraphExec_t exec = capture(b, [&] { step(memory, 1, b.stream); });
  for (int i = 0; i < 3; ++i)
    for (const cudaStream_t stream : {b.stream, b.other}) cudaGraphLaunch(exec, stream);
  cudaGraphExecDestroy(exec);
  const float value = first_value(memory, b.other);
  cudaFreeAsync(memory, b.other);
  return expect(value == 63);
}

cudaError_t pageable_memory_in_graph(const Buffers& b) {
  float in = 1;
  float out = 0;
  const cudaGraphExec_t exec = capture(b, [&] {
    cudaMemcpyAsync(b.out, &in, sizeof(in), cudaMemcpyHostToDevice, b.stream);
    cudaMemcpyAsync(&out, b.out, sizeof(out), cudaMemcpyDeviceToHost, b.stream);
  });
  in = 5;
  cudaGraphLaunch(exec, b.stream);
  cudaGraphExecDestroy(exec);
  cudaStreamSynchronize(b.stream);
  return expect(out == 5);
}

cudaError_t peer_copy_in_graph(const Buffers& b) {
  float* there = nullptr;
  cudaSetDevice(1);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaMallocAsync(&there, sizeof(float), stream);
  cudaMemsetAsync(there, 0, sizeof(float), stream);
  cudaStreamSynchronize(stream);
  cudaSetDevice(0);
  capture_and_launch(b, b.stream,
                     [&] { cudaMemcpyPeerAsync(b.out + 9, 0, there, 1, sizeof(float), b.stream); });
  return expect(first_value(b.out + 9, b.stream) == 0);
}

cudaError_t graph_past_the_end(const Buffers& b) {
  return capture_and_launch(b, b.stream, [&] { step(b.out + kSize - 255, 1, b.stream); });
}

// Memory that a graph uses is freed between its capture and its launch.
template <typename F>
cudaError_t freed_before_launch(const Buffers& b, F&& f) {
  float* memory = nullptr;
  cudaMallocAsync(&memory, 256 * sizeof(float), b.stream);
  const cudaGraphExec_t exec = capture(b, [&] { f(memory); });
  cudaFreeAsync(memory, b.stream);
  const cudaError_t status = cudaGraphLaunch(exec, b.stream);
  cudaGraphExecDestroy(exec);
  return status;
}

cudaError_t graph_after_free(const Buffers& b) {
  return freed_before_launch(b, [&](float* memory) { step(memory, 1, b.stream); });
}

cudaError_t graph_copy_after_free(const Buffers& b) {
  return freed_before_launch(b, [&](float* memory) {
    cudaMemcpyAsync(memory, b.x, 64, cudaMemcpyDeviceToDevice, b.stream);
  });
}

cudaError_t graph_after_free_in_memory(const Buffers& b) {
  float* memory = nullptr;
  float** pointers = nullptr;
  cudaMallocAsync(&memory, sizeof(float), b.stream);
  cudaMallocAsync(&pointers, sizeof(float*), b.stream);
  cudaMemcpyAsync(pointers, &memory, sizeof(memory), cudaMemcpyHostToDevice, b.stream);
  const cudaGraphExec_t exec =
      capture(b, [&] { launch(through_kernel, {.stream = b.stream}, pointers, b.out); });
  cudaFreeAsync(memory, b.stream);
  const cudaError_t status = cudaGraphLaunch(exec, b.stream);
  cudaGraphExecDestroy(exec);
  return status;
}

cudaError_t graph_after_pinned_free(const Buffers& b) {
  void* pinned = nullptr;
  cudaHostAlloc(&pinned, 64, cudaHostAllocPortable);
  const cudaGraphExec_t exec =
      capture(b, [&] { cudaMemcpyAsync(b.out, pinned, 64, cudaMemcpyHostToDevice, b.stream); });
  cudaFreeHost(pinned);
  const cudaError_t status = cudaGraphLaunch(exec, b.stream);
  cudaGraphExecDestroy(exec);
  return status;
}

template <bool kWaitForAllocation, bool kWaitForUse>
cudaError_t graph_on_other(const Buffers& b) {
  float* memory = nullptr;
  cudaMallocAsync(&memory, 256 * sizeof(float), b.stream);
  const cudaGraphExec_t exec = capture(b, [&] { step(memory, 1, b.stream); });
  if (kWaitForAllocation) wait(b.other, b.stream);
  cudaGraphLaunch(exec, b.other);
  cudaGraphExecDestroy(exec);
  if (kWaitForUse) wait(b.stream, b.other);
  return cudaFreeAsync(memory, b.stream);
}

constexpr Case kCases[] = {
    {"replay_equals_eager", replay_equals_eager},
    {"capture_runs_nothing", capture_runs_nothing},
    {"independent_nodes", independent_nodes},
    {"branches_in_order", branches_in_order},
    {"launches_in_order", launches_in_order},
    {"pageable_memory_in_graph", pageable_memory_in_graph},
    {"peer_copy_in_graph", peer_copy_in_graph},
    {"graph_past_the_end", graph_past_the_end},
    {"graph_after_free", graph_after_free},
    {"graph_copy_after_free", graph_copy_after_free},
    {"graph_after_free_in_memory", graph_after_free_in_memory},
    {"graph_after_pinned_free", graph_after_pinned_free},
    {"graph_on_ordered_stream", graph_on_other<true, true>},
    {"graph_before_allocation", graph_on_other<false, true>},
    {"graph_freed_while_used", graph_on_other<true, false>},
};

}  // namespace

std::span<const Case> graph_cases() { return kCases; }

}  // namespace planted
