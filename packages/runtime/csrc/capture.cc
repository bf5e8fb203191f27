#include "capture.h"

#include <algorithm>
#include <utility>

#include "graph.h"
#include "host_copy.h"

namespace ww {
namespace {

thread_local std::shared_ptr<Capture> current_capture;

// One side stream a device, for good: what was allocated on it needs it as long as it lives.
cudaError_t side_stream(int device, cuda::Stream* stream) {
  static std::mutex mutex;
  static auto& streams = *new std::map<int, cuda::Stream>;
  const std::lock_guard lock(mutex);
  const auto found = streams.find(device);
  if (found != streams.end()) {
    *stream = found->second;
    return cudaSuccess;
  }
  StreamState* state = nullptr;
  if (const auto status = create_stream_state(device, 0, &state)) return status;
  *stream = streams[device] = state->stream;
  return cudaSuccess;
}

}  // namespace

const std::shared_ptr<Capture>& Capture::current() { return current_capture; }

cudaError_t Capture::begin(StreamState* origin) {
  const std::shared_ptr<Capture> capture(new Capture(origin->stream));
  if (const auto status = prepare_capture(origin)) return status;
  // It takes part before CUDA says so: nobody must free on it in between.
  capture->join(origin);
  const auto status = open_capture([&] { return cuda::begin_capture(origin->stream); });
  if (status == cudaSuccess) {
    current_capture = capture;
  } else {
    capture->unjoin(origin);
  }
  return status;
}

cudaError_t Capture::end(std::unique_ptr<Graph>* graph) {
  const std::shared_ptr<Capture> capture = std::exchange(current_capture, nullptr);
  const cudaError_t status = capture->finish(graph);
  if (status != cudaSuccess) capture->release_storages();
  return status;
}

void Capture::abandon() {
  const std::shared_ptr<Capture> capture = std::exchange(current_capture, nullptr);
  cuda::Graph graph = nullptr;
  if (cuda::end_capture(capture->origin_, &graph) == cudaSuccess)
    cuda::destroy_graph(capture->origin_.device, graph);
  capture->leave();
  capture->release_storages();
}

cudaError_t Capture::finish(std::unique_ptr<Graph>* result) {
  cuda::Graph recorded = nullptr;
  cudaError_t status = cuda::end_capture(origin_, &recorded);
  leave();
  if (status != cudaSuccess) return status;
  cuda::GraphExec exec = nullptr;
  status = synchronize_sides();
  if (status == cudaSuccess) status = cuda::instantiate(origin_.device, recorded, &exec);
  cuda::destroy_graph(origin_.device, recorded);
  if (status != cudaSuccess) return status;
  std::vector<Storage*> kept;  // their references are the graph's now
  for (const auto& [storage, use] : take_storages()) kept.push_back(storage);
  *result = std::make_unique<Graph>(origin_.device, exec, std::move(kept));
  return cudaSuccess;
}

// What was allocated and written there is ready before the first launch.
cudaError_t Capture::synchronize_sides() {
  for (const auto& [device, side] : sides_)
    if (const auto status = cuda::synchronize(side)) return status;
  return cudaSuccess;
}

void Capture::unjoin(StreamState* state) {
  std::erase(states_, state);
  set_capture(state, nullptr);
}

void Capture::leave() {
  for (StreamState* state : states_) set_capture(state, nullptr);
  states_.clear();
  close_capture();
}

void Capture::release_storages() {
  for (const auto& [storage, use] : take_storages()) release_storage(storage);
}

std::unordered_map<Storage*, Capture::Use> Capture::take_storages() {
  const std::lock_guard lock(mutex_);
  return std::exchange(storages_, {});
}

void Capture::join(StreamState* state) {
  if (std::ranges::find(states_, state) != states_.end()) return;
  states_.push_back(state);
  set_capture(state, shared_from_this());
}

void Capture::keep(Storage* storage, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  const auto [entry, added] = storages_.try_emplace(storage, Use{stream, false, false});
  if (added) {
    retain_storage(storage);
  } else if (entry->second.stream != stream) {
    entry->second.several = true;
  }
}

cudaError_t Capture::allocate(cuda::Stream stream, uint64_t bytes, bool zero, Storage** storage) {
  const std::lock_guard lock(mutex_);
  *storage = take_idle(stream.stream, bytes);
  if (*storage == nullptr) {
    cuda::Stream side{};
    if (const auto status = allocate_aside(stream.device, bytes, &side, storage)) return status;
    storages_[*storage] = {stream.stream, false, true};
  }
  if (zero && bytes > 0) {
    if (const auto status = cuda::zero(stream, (*storage)->data, bytes)) return status;
  }
  retain_storage(*storage);  // for the caller
  return cudaSuccess;
}

cudaError_t Capture::allocate_aside(int device, uint64_t bytes, cuda::Stream* side,
                                    Storage** storage) {
  if (const auto status = side_stream(device, side)) return status;
  sides_[device] = *side;
  return allocate_storage(device, bytes, side->stream, false, storage);
}

// The smallest that is large enough, and not much larger: the next tensor may want all of it.
Storage* Capture::take_idle(cudaStream_t stream, uint64_t bytes) {
  constexpr uint64_t kAlways = 4096;
  if (bytes == 0) return nullptr;
  Storage* best = nullptr;
  for (const auto& [storage, use] : storages_) {
    const bool fits = use.idle && use.stream == stream && storage->bytes >= bytes &&
                      storage->bytes / 2 <= std::max(bytes, kAlways);
    if (fits && (best == nullptr || storage->bytes < best->bytes)) best = storage;
  }
  if (best != nullptr) storages_.at(best).idle = false;
  return best;
}

void Capture::recycle(Storage* storage) {
  const std::lock_guard lock(mutex_);
  const auto found = storages_.find(storage);
  if (found == storages_.end() || !found->second.own || found->second.several) return;
  // Whoever else holds a reference may still hand its memory out, and a stream that takes no part
  // in the capture may be at work on it.
  const std::lock_guard users_lock(storage->mutex);
  found->second.idle =
      storage->references == 1 && storage->users.empty() && storage->unknown_users.empty();
}

cudaError_t Capture::write(cuda::Stream stream, void* dst, const void* src, size_t bytes) {
  Storage* copy = nullptr;
  cuda::Stream side{};
  {
    const std::lock_guard lock(mutex_);
    if (const auto status = allocate_aside(stream.device, bytes, &side, &copy)) return status;
    storages_[copy] = {stream.stream, true, true};
  }
  if (const auto status = upload(side, copy->data, src, bytes)) return status;
  return cuda::copy_on_device(stream, dst, copy->data, bytes);
}

std::shared_ptr<Capture> capturing_on(cudaStream_t stream) {
  return captures_under_way() ? capture_of(stream) : nullptr;
}

}  // namespace ww
