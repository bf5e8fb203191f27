// CUDA streams that this runtime made. A stream is destroyed when neither JavaScript nor any
// storage that it has worked on needs it any more.
#pragma once

#include <cstdint>

#include "cuda_backend.h"

namespace ww {

struct StreamState {
  cuda::Stream stream;
  int64_t references;  // guarded by the registry's mutex
};

// A new stream with one reference.
cudaError_t create_stream_state(int device, int priority, StreamState** state);

// The stream's state with a reference added; null for a stream of another library.
StreamState* find_stream_state(cudaStream_t stream);

void release_stream_state(StreamState* state);

}  // namespace ww
