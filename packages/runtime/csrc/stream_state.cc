#include "stream_state.h"

#include <mutex>
#include <unordered_map>

namespace ww {
namespace {

// By address. A foreign stream may take the address of one that was destroyed, and the other way
// round; what is listed here exists.
struct Registry {
  std::mutex mutex;
  std::unordered_map<cudaStream_t, StreamState*> states;
};

// Never destroyed: storages are released while the process ends.
Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

}  // namespace

cudaError_t create_stream_state(int device, int priority, StreamState** state) {
  cudaStream_t stream = nullptr;
  if (const auto status = cuda::create_stream(device, priority, &stream)) return status;
  *state = new StreamState{{device, stream}, 1};
  const std::lock_guard lock(registry().mutex);
  registry().states[stream] = *state;
  return cudaSuccess;
}

StreamState* find_stream_state(cudaStream_t stream) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().states.find(stream);
  if (found == registry().states.end()) return nullptr;
  ++found->second->references;
  return found->second;
}

void release_stream_state(StreamState* state) {
  {
    const std::lock_guard lock(registry().mutex);
    if (--state->references > 0) return;
    registry().states.erase(state->stream.stream);
  }
  cuda::destroy_stream(state->stream);
  delete state;
}

}  // namespace ww
