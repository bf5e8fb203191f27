// Stream capture in relaxed mode: what capturing streams are given becomes nodes of a graph.
//
// Where the documentation is silent, statuses and what invalidates a capture are those that a
// driver of CUDA 13 gave on an H200.
#pragma once

#include <memory>
#include <vector>

#include "event.h"
#include "graph.h"
#include "stream.h"

namespace cudaemu {

struct Capture {
  unsigned long long id;
  CUstream_st* origin;
  std::shared_ptr<CUgraph_st> graph = std::make_shared<CUgraph_st>();
  std::vector<CUstream_st*> streams{};  // the origin and those that joined it
  // Active until something invalidates it, none once it has ended.
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
};

cudaStreamCaptureStatus capture_status(const CUstream_st& stream);
cudaError_t begin_capture(CUstream_st& stream);
// `graph` stays null unless the capture was sound.
cudaError_t end_capture(CUstream_st& stream, std::shared_ptr<CUgraph_st>& graph);
// Of a stream that is being destroyed.
void leave_capture(CUstream_st& stream);
// All captures end, and nothing comes of them.
void drop_captures();

// Runs the work in stream order; of a capturing stream, makes it a node instead.
cudaError_t submit(CUstream_st& stream, Work work);

// For calls that a capture forbids: not cudaSuccess if the stream, or any of the device, captures,
// and then that capture is invalid.
cudaError_t forbid_capturing(CUstream_st& stream);
cudaError_t forbid_capturing_on(int device);
// The same for an event that was last recorded in a capture, which may have ended since.
cudaError_t forbid_captured(CUevent_st& event);

cudaError_t record_captured(CUevent_st& event, CUstream_st& stream);
// Of a captured event, in any stream; of any event, in a capturing stream.
cudaError_t wait_captured(CUstream_st& stream, const CUevent_st& event);

}  // namespace cudaemu
