// Graphs: what a capture collected, and running it in a stream.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "../include/cuda_runtime_api.h"

namespace cudaemu {

struct RecordPoint;
using Work = std::function<void(CUstream_st&)>;

}  // namespace cudaemu

struct CUgraphNode_st {
  size_t index;  // in its graph
  cudaemu::Work work;
  std::vector<cudaGraphNode_t> dependencies;
};

struct CUgraph_st {
  std::deque<CUgraphNode_st> nodes;  // each behind its dependencies
};

// Outlives its graph: nothing changes a graph once its capture has ended, so they share it.
struct CUgraphExec_st {
  std::shared_ptr<const CUgraph_st> graph;
  std::shared_ptr<cudaemu::RecordPoint> launched;  // the last launch; null before the first
};

namespace cudaemu {

// Gives the graph a handle that is valid until it is destroyed.
cudaGraph_t publish(std::shared_ptr<CUgraph_st> graph);

}  // namespace cudaemu
