// A recorded graph that can be launched, and what it keeps alive.
#pragma once

#include <vector>

#include "cuda_backend.h"
#include "storage.h"

namespace ww {

class Graph {
 public:
  // Takes over a reference to each storage.
  Graph(int device, cuda::GraphExec exec, std::vector<Storage*> storages)
      : device_(device), exec_(exec), storages_(std::move(storages)) {}
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  int device() const { return device_; }

  cudaError_t launch(cuda::Stream stream);

 private:
  cudaError_t record_uses(cuda::Stream stream);

  int device_;
  cuda::GraphExec exec_;
  std::vector<Storage*> storages_;
  std::vector<StreamState*> launched_on_;  // whose use every storage knows of
};

}  // namespace ww
