// Stream capture.

#include "api.h"
#include "capture.h"

using namespace cudaemu;

CUDAEMU_API cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return with_stream(handle, [&](CUstream_st& stream) {
    if (mode != cudaStreamCaptureModeRelaxed) {
      const bool global = mode == cudaStreamCaptureModeGlobal;
      set_fault(cudaErrorNotSupported,
                format("cudaStreamBeginCapture: cudaStreamCaptureMode%s is not emulated, only "
                       "cudaStreamCaptureModeRelaxed is",
                       global ? "Global" : "ThreadLocal")
                    .c_str());
      return fault_status();
    }
    return begin_capture(stream);
  });
}

CUDAEMU_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return with_stream(handle, [&](CUstream_st& stream) {
    *graph = nullptr;
    std::shared_ptr<CUgraph_st> captured;
    const cudaError_t status = end_capture(stream, captured);
    if (status == cudaSuccess) *graph = publish(std::move(captured));
    return status;
  });
}

CUDAEMU_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                              cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status);
}

// The graph's and the nodes' handles are for looking at; only cudaStreamEndCapture gives a graph.
CUDAEMU_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle,
                                                 cudaStreamCaptureStatus* status,
                                                 unsigned long long* id, cudaGraph_t* graph,
                                                 const cudaGraphNode_t** dependencies,
                                                 const cudaGraphEdgeData** edges, size_t* count) {
  return with_stream(handle, [&](CUstream_st& stream) {
    if (status == nullptr) return cudaErrorInvalidValue;
    *status = capture_status(stream);
    if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
    static auto& plain_edges = *new std::vector<cudaGraphEdgeData>;
    plain_edges.resize(stream.dependencies.size());
    if (id != nullptr) *id = stream.capture->id;
    if (graph != nullptr) *graph = stream.capture->graph.get();
    if (dependencies != nullptr) *dependencies = stream.dependencies.data();
    if (edges != nullptr) *edges = plain_edges.data();
    if (count != nullptr) *count = stream.dependencies.size();
    return cudaSuccess;
  });
}
