// CUDA graphs: beginCapture, endCapture, abandonCapture, launchGraph, disposeGraph.

#include "arguments.h"
#include "binding.h"
#include "capture.h"
#include "environment.h"
#include "graph.h"
#include "tagged_object.h"

namespace ww {
namespace {

constexpr uint64_t kGraphTag[2] = {0x94f0d27b3ae15c68, 0x1c8e6fa2d05b7349};

using GraphPointer = std::unique_ptr<Graph>;

void finalize(napi_env, void* data, void*) { delete static_cast<GraphPointer*>(data); }

GraphPointer& any_graph_arg(const Napi::Value& value, const char* op) {
  auto* graph = detail::tagged<GraphPointer>(value, kGraphTag);
  if (graph == nullptr) throw kind_error(value.Env(), expected(op) + "a graph handle");
  return *graph;
}

void check_capturing(Napi::Env env, const char* op) {
  if (Capture::current() == nullptr)
    throw capture_error(env, std::string(op) + ": this thread is not capturing");
}

// beginCapture(stream)
void begin_capture(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "capture";
  const StreamHandle& handle = unwrap_stream(info[0], kOp);
  if (Capture::current() != nullptr)
    throw capture_error(env, "capture: cannot begin during another capture");
  StreamState* state = find_stream_state(handle.stream);
  if (state == nullptr)
    throw kind_error(env,
                     "capture: the stream belongs to another copy of @warpwright/runtime in this "
                     "process");
  Environment::of(env);  // which abandons the capture if the thread is terminated meanwhile
  const cudaError_t status = Capture::begin(state);
  release_stream_state(state);
  check(env, status, kOp);
}

// endCapture()
Napi::Value end_capture(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  check_capturing(env, "endCapture");
  GraphPointer graph;
  check(env, Capture::end(&graph), "capture");
  return new_tagged(env, new GraphPointer(std::move(graph)), finalize, kGraphTag);
}

// abandonCapture()
void abandon_capture(const Napi::CallbackInfo& info) {
  check_capturing(info.Env(), "abandonCapture");
  Capture::abandon();
}

// launchGraph(graph, stream)
void launch_graph(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "launch";
  const GraphPointer& graph = any_graph_arg(info[0], kOp);
  if (graph == nullptr) throw disposed_error(env, "launch: the graph has been disposed");
  const cuda::Stream stream = stream_arg(info[1], kOp, graph->device());
  if (capturing_on(stream.stream) != nullptr)
    throw capture_error(env, "launch: cannot launch a graph into a capture");
  check(env, graph->launch(stream), kOp);
}

// disposeGraph(graph)
void dispose_graph(const Napi::CallbackInfo& info) {
  any_graph_arg(info[0], "disposeGraph") = nullptr;
}

}  // namespace

void export_graphs(Napi::Env env, Napi::Object exports) {
  exports.Set("beginCapture", Napi::Function::New<begin_capture>(env, "beginCapture"));
  exports.Set("endCapture", Napi::Function::New<end_capture>(env, "endCapture"));
  exports.Set("abandonCapture", Napi::Function::New<abandon_capture>(env, "abandonCapture"));
  exports.Set("launchGraph", Napi::Function::New<launch_graph>(env, "launchGraph"));
  exports.Set("disposeGraph", Napi::Function::New<dispose_graph>(env, "disposeGraph"));
}

}  // namespace ww
