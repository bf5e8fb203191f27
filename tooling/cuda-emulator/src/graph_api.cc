// Graphs and their launches.

#include <algorithm>
#include <set>

#include "api.h"
#include "capture.h"

using namespace cudaemu;

namespace {

template <typename T>
using Handles = std::vector<std::shared_ptr<T>>;

Handles<CUgraph_st>& graphs() {
  static auto& instance = *new Handles<CUgraph_st>;
  return instance;
}

Handles<CUgraphExec_st>& execs() {
  static auto& instance = *new Handles<CUgraphExec_st>;
  return instance;
}

// Null if there is no such handle.
template <typename T>
std::shared_ptr<T> find(const Handles<T>& handles, const T* handle) {
  const auto found =
      std::ranges::find(handles, handle, [](const auto& each) { return each.get(); });
  return found == handles.end() ? nullptr : *found;
}

template <typename T>
cudaError_t destroy(Handles<T>& handles, const T* handle) {
  return call([&] {
    const bool found = std::erase(handles, find(handles, handle)) > 0;
    return found ? cudaSuccess : cudaErrorInvalidValue;
  });
}

// Any order that the dependencies allow is right; the seed chooses one.
void enqueue_nodes(const CUgraph_st& graph, CUstream_st& stream) {
  std::vector<size_t> unmet;
  std::vector<std::vector<size_t>> dependents(graph.nodes.size());
  std::set<size_t> ready;
  for (const CUgraphNode_st& node : graph.nodes) {
    unmet.push_back(node.dependencies.size());
    if (node.dependencies.empty()) ready.insert(node.index);
    for (const cudaGraphNode_t before : node.dependencies)
      dependents[before->index].push_back(node.index);
  }
  while (!ready.empty()) {
    const auto chosen = std::next(ready.begin(), choose(ready.size()));
    const size_t index = *chosen;
    ready.erase(chosen);
    enqueue(stream, graph.nodes[index].work);
    for (const size_t dependent : dependents[index])
      if (--unmet[dependent] == 0) ready.insert(dependent);
  }
}

// f(stream), unless the handles are invalid or the stream captures.
template <typename F>
cudaError_t in_stream(cudaGraphExec_t exec, cudaStream_t handle, F&& f) {
  return with_stream(handle, [&](CUstream_st& stream) {
    if (find(execs(), exec) == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t status = forbid_capturing(stream)) return status;
    f(stream);
    return cudaSuccess;
  });
}

}  // namespace

cudaGraph_t cudaemu::publish(std::shared_ptr<CUgraph_st> graph) {
  return graphs().emplace_back(std::move(graph)).get();
}

// The nodes of a graph that is still being captured can be asked for as well.
CUDAEMU_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                                          size_t* count) {
  return call([&] {
    if (graph == nullptr || count == nullptr) return cudaErrorInvalidValue;
    const size_t existing = graph->nodes.size();
    const size_t room = nodes == nullptr ? 0 : *count;
    for (size_t i = 0; i < room; ++i) nodes[i] = i < existing ? &graph->nodes[i] : nullptr;
    *count = nodes == nullptr ? existing : std::min(existing, room);
    return cudaSuccess;
  });
}

CUDAEMU_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t handle,
                                             unsigned long long flags) {
  return call([&] {
    if (flags != 0) return cudaErrorNotSupported;
    std::shared_ptr<CUgraph_st> graph = find(graphs(), handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    *exec = execs().emplace_back(std::make_shared<CUgraphExec_st>(std::move(graph))).get();
    return cudaSuccess;
  });
}

// There is nothing to upload; the order among launches is as if there were.
CUDAEMU_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t handle) {
  return in_stream(exec, handle, [&](CUstream_st& stream) {
    if (exec->launched != nullptr) enqueue_wait(stream, exec->launched);
  });
}

CUDAEMU_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  return in_stream(exec, handle, [&](CUstream_st& stream) {
    if (exec->launched != nullptr) enqueue_wait(stream, exec->launched);
    enqueue_nodes(*exec->graph, stream);
    exec->launched = record(stream);
  });
}

CUDAEMU_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return destroy(graphs(), graph); }

// Launches that have not run yet keep their nodes' work.
CUDAEMU_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return destroy(execs(), exec);
}
