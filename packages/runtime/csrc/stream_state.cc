#include "stream_state.h"

#include <unordered_map>
#include <utility>

#include "capture_gate.h"

namespace ww {
namespace {

// By address. What is listed has an owner, so that the address means one stream.
struct Registry {
  std::mutex mutex;
  std::unordered_map<cudaStream_t, StreamState*> states;
};

// Never destroyed: storages are released while the process ends.
Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

// Registry's mutex held.
StreamState* listed(cudaStream_t stream) {
  const auto found = registry().states.find(stream);
  return found == registry().states.end() ? nullptr : found->second;
}

StreamState* with_owner(StreamState* state) {
  ++state->owners;
  ++state->references;
  return state;
}

void forget_last(StreamState& state) {
  if (state.last != nullptr) cuda::destroy_event(state.stream.device, state.last);
  state.last = nullptr;
}

// The owner of a borrowed stream may have destroyed it by the time that it is retired: its device
// stands for it then.
cudaError_t record_last(StreamState& state, bool exists) {
  if (const auto status = cuda::create_event(state.stream.device, &state.last)) return status;
  const auto status = exists ? cuda::record_event(state.last, state.stream)
                             : cuda::record_device_event(state.last, state.stream.device);
  if (status != cudaSuccess) forget_last(state);
  return status;
}

void retire(StreamState& state) {
  const std::lock_guard lock(state.mutex);
  state.freed.clear();
  forget_last(state);
  if (record_last(state, !state.borrowed) != cudaSuccess) {
    // Without an event nobody could wait for the stream later.
    if (state.borrowed) {
      cuda::synchronize_device(state.stream.device);
    } else {
      cuda::synchronize(state.stream);
    }
  }
  if (!state.borrowed) cuda::destroy_stream(state.stream);
  state.retired = true;
}

bool is_finished(StreamState* state) {
  const std::lock_guard lock(state->mutex);
  if (!state->retired) return false;
  if (state->last == nullptr) return true;
  bool done = false;
  return cuda::query_event(state->stream.device, state->last, done) == cudaSuccess && done;
}

}  // namespace

cudaError_t create_stream_state(int device, int priority, StreamState** state) {
  cudaStream_t stream = nullptr;
  if (const auto status = cuda::create_stream(device, priority, &stream)) return status;
  *state = new StreamState{.stream = {device, stream}, .borrowed = false};
  const std::lock_guard lock(registry().mutex);
  registry().states[stream] = *state;
  return cudaSuccess;
}

StreamState* borrow_stream_state(cuda::Stream stream) {
  const std::lock_guard lock(registry().mutex);
  if (StreamState* state = listed(stream.stream)) return with_owner(state);
  auto* state = new StreamState{.stream = stream, .borrowed = true};
  registry().states[stream.stream] = state;
  return state;
}

StreamState* find_stream_state(cudaStream_t stream) {
  const std::lock_guard lock(registry().mutex);
  StreamState* state = listed(stream);
  if (state != nullptr) ++state->references;
  return state;
}

StreamState* own_stream_state(cudaStream_t stream) {
  const std::lock_guard lock(registry().mutex);
  StreamState* state = listed(stream);
  return state == nullptr ? nullptr : with_owner(state);
}

StreamState* home_stream_state(cudaStream_t stream) {
  const std::lock_guard lock(registry().mutex);
  StreamState* state = listed(stream);
  if (state == nullptr || !state->borrowed) return state == nullptr ? nullptr : with_owner(state);
  ++state->references;
  return state;
}

void release_home(StreamState* state) {
  if (state->borrowed) {
    release_stream_state(state);
  } else {
    disown_stream_state(state);
  }
}

void disown_stream_state(StreamState* state) {
  bool last = false;
  {
    const std::lock_guard lock(registry().mutex);
    last = --state->owners == 0;
    if (last) registry().states.erase(state->stream.stream);
    if (last && state->borrowed) state->gone = true;
  }
  if (!last) return release_stream_state(state);
  // What a retirement asks of the device would break a capture on it.
  outside_captures([state] {
    retire(*state);
    release_stream_state(state);
  });
}

void release_stream_state(StreamState* state) {
  {
    const std::lock_guard lock(registry().mutex);
    if (--state->references > 0) return;
  }
  forget_last(*state);
  delete state;
}

cudaError_t wait_for_state(cuda::Stream waiter, StreamState* state) {
  const std::lock_guard lock(state->mutex);
  // Until a capture has ended that its retirement would break.
  if (state->gone && !state->retired) return cudaErrorStreamCaptureIsolation;
  // A new event of a captured stream would draw the waiter into the capture.
  if (!state->retired && !state->capturing) {
    return state->stream.stream == waiter.stream ? cudaSuccess
                                                 : cuda::wait_for_stream(waiter, state->stream);
  }
  return state->last == nullptr ? cudaSuccess : cuda::wait_for_event(waiter, state->last);
}

cudaError_t synchronize_state(StreamState* state) {
  const std::lock_guard lock(state->mutex);
  if (state->gone && !state->retired) return cuda::synchronize_device(state->stream.device);
  if (!state->retired) return cuda::synchronize(state->stream);
  return state->last == nullptr ? cudaSuccess
                                : cuda::synchronize_event(state->stream.device, state->last);
}

void clear_block_caches(int device) {
  const std::lock_guard lock(registry().mutex);
  for (const auto& [stream, state] : registry().states) {
    if (state->stream.device != device) continue;
    const std::lock_guard state_lock(state->mutex);
    // A free on a captured stream would become part of the graph.
    if (!state->capturing) state->freed.clear();
  }
}

void forget_finished(std::vector<StreamState*>& states) {
  std::erase_if(states, [](StreamState* state) {
    const bool finished = is_finished(state);
    if (finished) release_stream_state(state);
    return finished;
  });
}

std::shared_ptr<Capture> capture_of(cudaStream_t stream) {
  const std::lock_guard lock(registry().mutex);
  const StreamState* state = listed(stream);
  return state == nullptr ? nullptr : state->capture;
}

cudaError_t prepare_capture(StreamState* state) {
  const std::lock_guard lock(state->mutex);
  forget_last(*state);
  return record_last(*state, true);
}

void set_capture(StreamState* state, std::shared_ptr<Capture> capture) {
  const bool ends = capture == nullptr;
  {
    const std::lock_guard lock(registry().mutex);
    state->capturing = ends ? 0 : 1;
    std::swap(state->capture, capture);
    if (!ends) with_owner(state);
  }
  if (ends) disown_stream_state(state);
}

}  // namespace ww
