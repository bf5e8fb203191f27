#include "capture.h"

#include <algorithm>

namespace cudaemu {
namespace {

// Those that have not ended.
std::vector<std::shared_ptr<Capture>>& captures() {
  static auto& instance = *new std::vector<std::shared_ptr<Capture>>;
  return instance;
}

void invalidate(Capture& capture) {
  if (capture.status == cudaStreamCaptureStatusActive)
    capture.status = cudaStreamCaptureStatusInvalidated;
}

cudaError_t invalidate(Capture& capture, cudaError_t status) {
  invalidate(capture);
  return status;
}

bool is_invalidated(const CUstream_st& stream) {
  return capture_status(stream) == cudaStreamCaptureStatusInvalidated;
}

void join(CUstream_st& stream, const std::shared_ptr<Capture>& capture) {
  stream.capture = capture;
  capture->streams.push_back(&stream);
}

// Nothing keeps the streams from being used as before.
void end(const std::shared_ptr<Capture> capture) {
  for (CUstream_st* stream : capture->streams) {
    stream->capture = nullptr;
    stream->dependencies.clear();
  }
  capture->streams.clear();
  capture->status = cudaStreamCaptureStatusNone;
  std::erase(captures(), capture);
}

// Whether every node comes before what the origin is given next.
bool is_joined(const Capture& capture) {
  std::vector<bool> reached(capture.graph->nodes.size());
  std::vector<cudaGraphNode_t> left = capture.origin->dependencies;
  while (!left.empty()) {
    const cudaGraphNode_t node = left.back();
    left.pop_back();
    if (reached[node->index]) continue;
    reached[node->index] = true;
    left.insert(left.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return std::ranges::count(reached, false) == 0;
}

void add_dependencies(CUstream_st& stream, const std::vector<cudaGraphNode_t>& nodes) {
  for (const cudaGraphNode_t node : nodes)
    if (std::ranges::find(stream.dependencies, node) == stream.dependencies.end())
      stream.dependencies.push_back(node);
}

}  // namespace

cudaStreamCaptureStatus capture_status(const CUstream_st& stream) {
  return stream.capture == nullptr ? cudaStreamCaptureStatusNone : stream.capture->status;
}

cudaError_t begin_capture(CUstream_st& stream) {
  static unsigned long long ids = 0;
  if (is_default(stream)) return cudaErrorStreamCaptureUnsupported;
  if (stream.capture != nullptr) return cudaErrorIllegalState;
  join(stream, captures().emplace_back(std::make_shared<Capture>(++ids, &stream)));
  return cudaSuccess;
}

cudaError_t end_capture(CUstream_st& stream, std::shared_ptr<CUgraph_st>& graph) {
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) return cudaErrorIllegalState;
  if (capture->origin != &stream) return invalidate(*capture, cudaErrorStreamCaptureUnmatched);
  cudaError_t status = cudaSuccess;
  if (is_invalidated(stream))
    status = cudaErrorStreamCaptureInvalidated;
  else if (!is_joined(*capture))
    status = cudaErrorStreamCaptureUnjoined;
  else
    graph = capture->graph;
  end(capture);
  return status;
}

void leave_capture(CUstream_st& stream) {
  if (stream.capture == nullptr) return;
  if (stream.capture->origin == &stream) return end(stream.capture);
  std::erase(stream.capture->streams, &stream);
  stream.capture = nullptr;
}

void drop_captures() {
  while (!captures().empty()) end(captures().back());
}

cudaError_t submit(CUstream_st& stream, Work work) {
  if (stream.capture == nullptr) {
    enqueue(stream, std::move(work));
    return cudaSuccess;
  }
  if (is_invalidated(stream)) return cudaErrorStreamCaptureInvalidated;
  auto& nodes = stream.capture->graph->nodes;
  nodes.push_back({nodes.size(), std::move(work), std::move(stream.dependencies)});
  stream.dependencies = {&nodes.back()};
  return cudaSuccess;
}

cudaError_t forbid_capturing(CUstream_st& stream) {
  if (stream.capture == nullptr) return cudaSuccess;
  return invalidate(*stream.capture, cudaErrorStreamCaptureUnsupported);
}

cudaError_t forbid_capturing_on(int device) {
  cudaError_t status = cudaSuccess;
  for (const auto& capture : captures())
    for (const CUstream_st* stream : capture->streams)
      if (stream->device == device)
        status = invalidate(*capture, cudaErrorStreamCaptureUnsupported);
  return status;
}

cudaError_t forbid_captured(CUevent_st& event) {
  if (event.capture == nullptr) return cudaSuccess;
  if (event.capture->status != cudaStreamCaptureStatusActive) return cudaErrorInvalidValue;
  return invalidate(*event.capture, cudaErrorCapturedEvent);
}

cudaError_t record_captured(CUevent_st& event, CUstream_st& stream) {
  if (is_invalidated(stream)) return cudaErrorStreamCaptureInvalidated;
  event.point = nullptr;
  event.capture = stream.capture;
  event.dependencies = stream.dependencies;
  return cudaSuccess;
}

cudaError_t wait_captured(CUstream_st& stream, const CUevent_st& event) {
  if (is_invalidated(stream)) return cudaErrorStreamCaptureInvalidated;
  if (event.capture == nullptr) {
    if (event.point == nullptr) return cudaSuccess;
    return invalidate(*stream.capture, cudaErrorStreamCaptureIsolation);
  }
  if (event.capture->status != cudaStreamCaptureStatusActive) {
    if (stream.capture != nullptr) invalidate(*stream.capture);
    return cudaErrorInvalidValue;
  }
  if (stream.capture == nullptr) {
    if (is_default(stream)) return invalidate(*event.capture, cudaErrorStreamCaptureImplicit);
    join(stream, event.capture);
  } else if (stream.capture != event.capture) {
    invalidate(*stream.capture);
    return invalidate(*event.capture, cudaErrorStreamCaptureMerge);
  }
  add_dependencies(stream, event.dependencies);
  return cudaSuccess;
}

}  // namespace cudaemu
