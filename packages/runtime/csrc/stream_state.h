// CUDA streams that the runtime knows: those that it made, and those of other libraries that are
// wrapped at the moment.
//
// A stream exists as long as it has an owner: an object of JavaScript, a storage that was allocated
// on it, a capture that it takes part in. Storages that it has merely worked on only refer to it;
// without an owner it is retired, which leaves them an event to wait for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "block_cache.h"
#include "cuda_backend.h"

namespace ww {

class Capture;

struct StreamState {
  cuda::Stream stream;
  bool borrowed;  // another library's, which may destroy it when it has no owner here any more

  std::atomic<int32_t> capturing{0};  // not 0 while `capture` is set; stream handles point to it

  // Guarded by the registry's mutex.
  std::shared_ptr<Capture> capture{};
  int64_t owners = 1;
  int64_t references = 1;  // the owners' included

  std::atomic<bool> gone{false};  // borrowed, without an owner: it may have been destroyed

  std::mutex mutex{};        // of what follows
  BlockCache freed{stream};  // blocks that were allocated on the stream
  bool retired = false;
  // Behind all the stream's work of a retired one, or of one that is captured what was before the
  // capture; null: it has happened.
  cuda::Event last = nullptr;
};

// A new stream with one owner.
cudaError_t create_stream_state(int device, int priority, StreamState** state);

// A stream of another library, or one of ours, with an owner more.
StreamState* borrow_stream_state(cuda::Stream stream);

// The stream's state with a reference more; null if it is not known.
StreamState* find_stream_state(cudaStream_t stream);

// The stream's state with an owner more; null if it is not known.
StreamState* own_stream_state(cudaStream_t stream);

// The same for memory that is allocated on it, which owns no stream of another library.
StreamState* home_stream_state(cudaStream_t stream);
void release_home(StreamState* state);

void disown_stream_state(StreamState* state);
void release_stream_state(StreamState* state);

// What `waiter` is given from now on runs after all that the state's stream has been given so far.
cudaError_t wait_for_state(cuda::Stream waiter, StreamState* state);

// Waits until the stream is idle.
cudaError_t synchronize_state(StreamState* state);

// Frees the blocks that streams of the device keep for their next allocations.
void clear_block_caches(int device);

// Releases the states whose streams are retired and have done their work.
void forget_finished(std::vector<StreamState*>& states);

// The capture that the stream takes part in, or null.
std::shared_ptr<Capture> capture_of(cudaStream_t stream);

// Work that is no part of the capture can be ordered behind what the stream has been given, until
// set_capture() ends its part. To be called before the stream begins to take part.
cudaError_t prepare_capture(StreamState* state);

// The stream takes part in the capture from now on, which owns it meanwhile; null ends that.
void set_capture(StreamState* state, std::shared_ptr<Capture> capture);

}  // namespace ww
