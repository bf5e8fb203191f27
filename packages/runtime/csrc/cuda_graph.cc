// Recording work and launching it again.
#include "cuda_backend.h"
#include "cuda_call.h"

namespace ww::cuda {

// Relaxed: other threads and libraries go on as if nothing was being recorded.
cudaError_t begin_capture(Stream stream) {
  return on_device(stream.device, [&] {
    return cudaStreamBeginCapture(stream.stream, cudaStreamCaptureModeRelaxed);
  });
}

cudaError_t end_capture(Stream stream, Graph* graph) {
  return on_device(stream.device, [&] { return cudaStreamEndCapture(stream.stream, graph); });
}

cudaError_t instantiate(int device, Graph graph, GraphExec* exec) {
  return on_device(device, [&] { return cudaGraphInstantiate(exec, graph, 0); });
}

void destroy_graph(int device, Graph graph) {
  on_device(device, [&] { return cudaGraphDestroy(graph); });
}

void destroy_graph_exec(int device, GraphExec exec) {
  on_device(device, [&] { return cudaGraphExecDestroy(exec); });
}

cudaError_t launch_graph(GraphExec exec, Stream stream) {
  return on_device(stream.device, [&] { return cudaGraphLaunch(exec, stream.stream); });
}

}  // namespace ww::cuda
