// Recording a stream's work into a graph.
//
// The graph keeps every storage that its kernels touch. Tensors made meanwhile live in memory that
// is allocated on a side stream, outside the recorded work: a recorded allocation would have the
// second launch fail if its tensor lives on.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "capture_gate.h"
#include "cuda_backend.h"
#include "storage.h"

namespace ww {

class Graph;

class Capture : public std::enable_shared_from_this<Capture> {
 public:
  // The one that the calling thread has begun and not ended, or null.
  static const std::shared_ptr<Capture>& current();

  // Begins the calling thread's capture with the stream that its work is recorded from.
  static cudaError_t begin(StreamState* origin);

  // Ends the calling thread's capture. Its streams can be used as before, whatever the status.
  static cudaError_t end(std::unique_ptr<Graph>* graph);
  static void abandon();

  // The stream is about to wait for an event of this capture, and so to take part in it.
  void join(StreamState* state);
  // It has not, after all.
  void unjoin(StreamState* state);

  // The graph keeps the storage, which work on the stream uses.
  void keep(Storage* storage, cudaStream_t stream);

  // Memory that the graph keeps: the same at every launch.
  cudaError_t allocate(cuda::Stream stream, uint64_t bytes, bool zero, Storage** storage);

  // JavaScript has no handle of the storage any more: if this capture allocated it and one stream
  // alone has used it, which takes part, what that stream allocates next may take it over.
  void recycle(Storage* storage);

  // Records that the host's bytes, as they are now, are written to `dst` at every launch.
  cudaError_t write(cuda::Stream stream, void* dst, const void* src, size_t bytes);

 private:
  struct Use {
    cudaStream_t stream;
    bool several;  // streams
    bool own;      // allocated by this capture
    bool idle = false;
  };

  explicit Capture(cuda::Stream origin) : origin_(origin) {}
  Storage* take_idle(cudaStream_t stream, uint64_t bytes);
  cudaError_t allocate_aside(int device, uint64_t bytes, cuda::Stream* side, Storage** storage);
  cudaError_t finish(std::unique_ptr<Graph>* graph);
  cudaError_t synchronize_sides();
  void leave();
  std::unordered_map<Storage*, Use> take_storages();
  void release_storages();

  cuda::Stream origin_;
  std::vector<StreamState*> states_;  // of the streams that take part, the origin first
  std::mutex mutex_;                  // of what follows: other threads may know the stream too
  std::unordered_map<Storage*, Use> storages_;
  std::map<int, cuda::Stream> sides_;  // by device
};

// The capture that the stream takes part in, or null.
std::shared_ptr<Capture> capturing_on(cudaStream_t stream);

}  // namespace ww
