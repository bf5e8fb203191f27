// What a capture allows, and what it is told otherwise. The statuses are those of an H200.

#include <initializer_list>

#include "planted.h"
#include "warpwright/launch.h"

namespace planted {
namespace {

using ww::launch;

__global__ void add_kernel(float* out) { out[threadIdx.x] += 1; }

cudaError_t add(const Buffers& b, cudaStream_t stream) {
  return launch(add_kernel, {.block = 32, .stream = stream}, b.out);
}

cudaError_t begin(cudaStream_t stream) {
  return cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
}

// The status of the capture's end, once it is clear that the streams work as before.
cudaError_t end(const Buffers& b) {
  cudaGraph_t graph = nullptr;
  const cudaError_t status = cudaStreamEndCapture(b.stream, &graph);
  if (graph != nullptr) cudaGraphDestroy(graph);
  if ((status == cudaSuccess) != (graph != nullptr)) return cudaErrorUnknown;
  for (const cudaStream_t stream : {b.stream, b.other}) {
    cudaStreamCaptureStatus capturing;
    cudaStreamIsCapturing(stream, &capturing);
    if (capturing != cudaStreamCaptureStatusNone || add(b, stream) != cudaSuccess ||
        cudaStreamSynchronize(stream) != cudaSuccess)
      return cudaErrorUnknown;
  }
  return status;
}

// `status`, if whatever returned it has made the capture invalid.
cudaError_t invalid_after(const Buffers& b, cudaError_t status) {
  cudaStreamCaptureStatus capturing;
  cudaStreamIsCapturing(b.stream, &capturing);
  const bool refused = add(b, b.stream) == cudaErrorStreamCaptureInvalidated;
  return refused && capturing == cudaStreamCaptureStatusInvalidated &&
                 end(b) == cudaErrorStreamCaptureInvalidated
             ? status
             : cudaErrorUnknown;
}

// `status`, if the capture goes on.
cudaError_t valid_after(const Buffers& b, cudaError_t status) {
  return end(b) == cudaSuccess ? status : cudaErrorUnknown;
}

cudaError_t fork_and_join(const Buffers& b) {
  begin(b.stream);
  add(b, b.stream);
  wait(b.other, b.stream);
  add(b, b.other);
  wait(b.stream, b.other);
  return end(b);
}

cudaError_t unjoined_fork(const Buffers& b) {
  begin(b.stream);
  add(b, b.stream);
  wait(b.other, b.stream);
  add(b, b.other);
  return end(b);
}

cudaError_t work_after_the_join(const Buffers& b) {
  begin(b.stream);
  wait(b.other, b.stream);
  add(b, b.other);
  wait(b.stream, b.other);
  add(b, b.other);
  return end(b);
}

cudaError_t fork_without_work(const Buffers& b) {
  begin(b.stream);
  add(b, b.stream);
  wait(b.other, b.stream);
  return end(b);
}

cudaError_t wait_for_ordinary_work(const Buffers& b) {
  begin(b.stream);
  add(b, b.other);
  return invalid_after(b, wait(b.stream, b.other));
}

cudaError_t wait_for_unrecorded_event(const Buffers& b) {
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  begin(b.stream);
  const cudaError_t status = cudaStreamWaitEvent(b.stream, event);
  cudaEventDestroy(event);
  return valid_after(b, status);
}

cudaError_t synchronise_in_capture(const Buffers& b) {
  begin(b.stream);
  return invalid_after(b, cudaStreamSynchronize(b.stream));
}

cudaError_t query_in_capture(const Buffers& b) {
  begin(b.stream);
  return invalid_after(b, cudaStreamQuery(b.stream));
}

cudaError_t device_synchronise_in_capture(const Buffers& b) {
  begin(b.stream);
  return invalid_after(b, cudaDeviceSynchronize());
}

cudaError_t other_stream_in_capture(const Buffers& b) {
  begin(b.stream);
  void* memory = nullptr;
  cudaMallocAsync(&memory, 64, b.other);
  cudaFreeAsync(memory, b.other);
  return valid_after(b, cudaStreamSynchronize(b.other));
}

// Of an event recorded in the capture, f's status; `ended`: only after that capture's end.
template <bool kEnded, typename F>
cudaError_t with_captured(const Buffers& b, F&& f) {
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  begin(b.stream);
  cudaEventRecord(event, b.stream);
  if (kEnded && end(b) != cudaSuccess) return cudaErrorUnknown;
  const cudaError_t status = f(event);
  cudaEventDestroy(event);
  return status;
}

cudaError_t query_captured_event(const Buffers& b) {
  return invalid_after(b, with_captured<false>(b, cudaEventQuery));
}

cudaError_t elapsed_of_captured_event(const Buffers& b) {
  float ms = 0;
  return valid_after(b, with_captured<false>(b, [&](cudaEvent_t event) {
                       return cudaEventElapsedTime(&ms, event, event);
                     }));
}

cudaError_t event_of_ended_capture(const Buffers& b) {
  return with_captured<true>(
      b, [&](cudaEvent_t event) { return cudaStreamWaitEvent(b.other, event); });
}

cudaError_t default_stream_in_capture(const Buffers& b) {
  return invalid_after(b, with_captured<false>(b, [](cudaEvent_t event) {
                         return cudaStreamWaitEvent(nullptr, event);
                       }));
}

cudaError_t capture_within_capture(const Buffers& b) {
  begin(b.stream);
  return valid_after(b, begin(b.stream));
}

cudaError_t end_without_begin(const Buffers& b) {
  cudaGraph_t graph = nullptr;
  return cudaStreamEndCapture(b.stream, &graph);
}

cudaError_t end_in_forked_stream(const Buffers& b) {
  cudaGraph_t graph = nullptr;
  begin(b.stream);
  wait(b.other, b.stream);
  return invalid_after(b, cudaStreamEndCapture(b.other, &graph));
}

cudaError_t two_captures_merged(const Buffers& b) {
  cudaGraph_t graph = nullptr;
  begin(b.stream);
  begin(b.other);
  const cudaError_t status = wait(b.other, b.stream);
  if (cudaStreamEndCapture(b.other, &graph) != cudaErrorStreamCaptureInvalidated)
    return cudaErrorUnknown;
  return invalid_after(b, status);
}

cudaError_t graph_launched_in_capture(const Buffers& b) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  begin(b.stream);
  cudaStreamEndCapture(b.stream, &graph);
  cudaGraphInstantiate(&exec, graph);
  begin(b.stream);
  const cudaError_t status = cudaGraphLaunch(exec, b.stream);
  cudaGraphDestroy(graph);
  cudaGraphExecDestroy(exec);
  return invalid_after(b, status);
}

cudaError_t destroyed_while_capturing(const Buffers& b) {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  begin(stream);
  add(b, stream);
  wait(b.other, stream);
  cudaStreamDestroy(stream);
  return cudaStreamSynchronize(b.other);
}

cudaError_t allocation_in_capture(const Buffers& b) {
  void* memory = nullptr;
  begin(b.stream);
  return cudaMallocAsync(&memory, 64, b.stream);
}

cudaError_t free_in_capture(const Buffers& b) {
  void* memory = nullptr;
  cudaMallocAsync(&memory, 64, b.stream);
  begin(b.stream);
  return cudaFreeAsync(memory, b.stream);
}

cudaError_t global_capture(const Buffers& b) {
  return cudaStreamBeginCapture(b.stream, cudaStreamCaptureModeGlobal);
}

cudaError_t capture_info(const Buffers& b) {
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  unsigned long long other_id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  size_t count = 0;
  begin(b.stream);
  add(b, b.stream);
  wait(b.other, b.stream);
  add(b, b.other);
  wait(b.stream, b.other);
  cudaStreamGetCaptureInfo(b.other, &status, &other_id);
  cudaStreamGetCaptureInfo(b.stream, &status, &id, &graph, &nodes, &edges, &count);
  cudaGraphNode_t all[3];
  size_t existing = 3;
  cudaGraphGetNodes(graph, all, &existing);
  const bool right = status == cudaStreamCaptureStatusActive && id == other_id && count == 2 &&
                     nodes[0] == all[0] && nodes[1] == all[1] && edges[1].type == 0 &&
                     existing == 2 && all[2] == nullptr;
  return valid_after(b, expect(right));
}

constexpr Case kCases[] = {
    {"fork_and_join", fork_and_join},
    {"unjoined_fork", unjoined_fork},
    {"work_after_the_join", work_after_the_join},
    {"fork_without_work", fork_without_work},
    {"wait_for_ordinary_work", wait_for_ordinary_work},
    {"wait_for_unrecorded_event", wait_for_unrecorded_event},
    {"synchronise_in_capture", synchronise_in_capture},
    {"query_in_capture", query_in_capture},
    {"device_synchronise_in_capture", device_synchronise_in_capture},
    {"other_stream_in_capture", other_stream_in_capture},
    {"query_captured_event", query_captured_event},
    {"elapsed_of_captured_event", elapsed_of_captured_event},
    {"event_of_ended_capture", event_of_ended_capture},
    {"default_stream_in_capture", default_stream_in_capture},
    {"capture_within_capture", capture_within_capture},
    {"end_without_begin", end_without_begin},
    {"end_in_forked_stream", end_in_forked_stream},
    {"two_captures_merged", two_captures_merged},
    {"graph_launched_in_capture", graph_launched_in_capture},
    {"destroyed_while_capturing", destroyed_while_capturing},
    {"allocation_in_capture", allocation_in_capture},
    {"free_in_capture", free_in_capture},
    {"global_capture", global_capture},
    {"capture_info", capture_info},
};

}  // namespace

std::span<const Case> capture_cases() { return kCases; }

}  // namespace planted
