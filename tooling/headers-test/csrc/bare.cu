// Launches of an empty kernel in a loop, timed until the last has been enqueued.

#include <chrono>

#include "bare.h"
#include "warpwright/launch.h"

namespace ww {
namespace {

// As large as a kernel's params usually are: they are copied at every launch.
struct BareParams {
  const void* pointers[4];
  int64_t sizes[12];
};

__global__ void bare_kernel(BareParams) {}

cudaError_t launch_bare(cudaStream_t stream) {
  return launch(bare_kernel, {.grid = 1, .block = 128, .stream = stream}, BareParams{});
}

template <typename F>
cudaError_t time_calls(int count, double* microseconds, F&& call) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i)
    if (const cudaError_t status = call()) return status;
  const std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - start;
  *microseconds = elapsed.count() / count;
  return cudaSuccess;
}

cudaError_t record(int nodes, cudaStream_t stream, cudaGraphExec_t* exec) {
  if (const cudaError_t status = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed))
    return status;
  cudaError_t launched = cudaSuccess;
  for (int i = 0; i < nodes && launched == cudaSuccess; ++i) launched = launch_bare(stream);
  cudaGraph_t graph = nullptr;
  cudaError_t status = cudaStreamEndCapture(stream, &graph);
  if (status != cudaSuccess) return launched != cudaSuccess ? launched : status;
  status = cudaGraphInstantiate(exec, graph, 0);
  cudaGraphDestroy(graph);
  return launched != cudaSuccess ? launched : status;
}

}  // namespace

cudaError_t time_launches(int count, cudaStream_t stream, double* microseconds) {
  return time_calls(count, microseconds, [&] { return launch_bare(stream); });
}

cudaError_t time_graph_launches(int nodes, int count, cudaStream_t stream, double* microseconds) {
  cudaGraphExec_t exec = nullptr;
  cudaError_t status = record(nodes, stream, &exec);
  if (status != cudaSuccess) return status;
  // The first launch also sends the graph to the device.
  status = cudaGraphLaunch(exec, stream);
  if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
  if (status == cudaSuccess)
    status = time_calls(count, microseconds, [&] { return cudaGraphLaunch(exec, stream); });
  cudaGraphExecDestroy(exec);
  return status;
}

}  // namespace ww
