#include "cuda_backend.h"

// An addon built without a CUDA toolkit. It never gets as far as owning a stream or device memory,
// so what would act on them has nothing to do.
namespace ww::cuda {

const char* error_name(cudaError_t status) {
  switch (status) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorNotSupported:
      return "cudaErrorNotSupported";
    case cudaErrorStreamCaptureIsolation:
      return "cudaErrorStreamCaptureIsolation";
  }
  return "cudaErrorUnknown";
}

const char* error_text(cudaError_t status) {
  return status == cudaSuccess ? "no error" : "this addon was built without CUDA";
}

bool is_sticky(cudaError_t) { return false; }

Probe probe() {
  Probe result;
  result.status = cudaErrorNotSupported;
  return result;
}

cudaError_t device_count(int& count) {
  count = 0;
  return cudaErrorNotSupported;
}

cudaError_t allocate(Stream, size_t, void**) { return cudaErrorNotSupported; }
void free(Stream, void*) {}
cudaError_t reclaim_stream(int, cudaStream_t*) { return cudaErrorNotSupported; }
cudaError_t memory_stats(int, MemoryStats&) { return cudaErrorNotSupported; }
cudaError_t trim(int) { return cudaErrorNotSupported; }
cudaError_t pointer_device(const void*, int, int*) { return cudaErrorNotSupported; }
cudaError_t create_stream(int, int, cudaStream_t*) { return cudaErrorNotSupported; }
void destroy_stream(Stream) {}
cudaError_t stream_device(cudaStream_t, int, int*) { return cudaErrorNotSupported; }

cudaError_t synchronize_device(int) { return cudaErrorNotSupported; }
cudaError_t synchronize(Stream) { return cudaErrorNotSupported; }
cudaError_t wait_for_stream(Stream, Stream) { return cudaErrorNotSupported; }
cudaError_t wait_for_device(Stream, int) { return cudaErrorNotSupported; }
cudaError_t wait_for_event(Stream, Event) { return cudaErrorNotSupported; }
cudaError_t create_event(int, Event*) { return cudaErrorNotSupported; }
cudaError_t create_timed_event(int, Event*) { return cudaErrorNotSupported; }
void destroy_event(int, Event) {}
cudaError_t record_event(Event, Stream) { return cudaErrorNotSupported; }
cudaError_t record_device_event(Event, int) { return cudaErrorNotSupported; }
cudaError_t synchronize_event(int, Event) { return cudaErrorNotSupported; }
cudaError_t elapsed_time(int, Event, Event, float*) { return cudaErrorNotSupported; }
cudaError_t query_event(int, Event, bool& done) {
  done = true;
  return cudaErrorNotSupported;
}
cudaError_t zero(Stream, void*, size_t) { return cudaErrorNotSupported; }
cudaError_t copy_on_device(Stream, void*, const void*, size_t) { return cudaErrorNotSupported; }
cudaError_t copy_from_host(Stream, void*, const void*, size_t) { return cudaErrorNotSupported; }
cudaError_t copy_to_host(Stream, void*, const void*, size_t) { return cudaErrorNotSupported; }
cudaError_t copy_to_pinned(Stream, void*, const void*, size_t) { return cudaErrorNotSupported; }
cudaError_t copy_from_pinned(Stream, void*, const void*, size_t) { return cudaErrorNotSupported; }
cudaError_t copy_from_peer(Stream, void*, const void*, int, size_t) {
  return cudaErrorNotSupported;
}
cudaError_t begin_capture(Stream) { return cudaErrorNotSupported; }
cudaError_t end_capture(Stream, Graph*) { return cudaErrorNotSupported; }
cudaError_t instantiate(int, Graph, GraphExec*) { return cudaErrorNotSupported; }
void destroy_graph(int, Graph) {}
void destroy_graph_exec(int, GraphExec) {}
cudaError_t launch_graph(GraphExec, Stream) { return cudaErrorNotSupported; }
cudaError_t pin(int, size_t, void**) { return cudaErrorNotSupported; }
void unpin(int, void*) {}

}  // namespace ww::cuda
