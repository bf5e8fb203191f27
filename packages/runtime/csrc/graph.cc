#include "graph.h"

#include <algorithm>

namespace ww {

// CUDA lets launches that are under way finish. The memory is freed after them: every storage knows
// of the streams that they are on.
Graph::~Graph() {
  cuda::destroy_graph_exec(device_, exec_);
  for (Storage* storage : storages_) release_storage(storage);
  for (StreamState* state : launched_on_) release_stream_state(state);
}

cudaError_t Graph::launch(cuda::Stream stream) {
  if (const auto status = record_uses(stream)) return status;
  return cuda::launch_graph(exec_, stream);
}

// Once for each stream: a graph of a hundred kernels has hundreds of storages.
cudaError_t Graph::record_uses(cuda::Stream stream) {
  StreamState* state = find_stream_state(stream.stream);
  const bool known =
      state != nullptr && std::ranges::find(launched_on_, state) != launched_on_.end();
  cudaError_t status = cudaSuccess;
  for (auto storage = storages_.begin(); !known && storage != storages_.end(); ++storage)
    if (status == cudaSuccess) status = record_use(*storage, stream.stream);
  if (state == nullptr) return status;
  if (known || status != cudaSuccess) {
    release_stream_state(state);
  } else {
    forget_finished(launched_on_);
    launched_on_.push_back(state);
  }
  return status;
}

}  // namespace ww
