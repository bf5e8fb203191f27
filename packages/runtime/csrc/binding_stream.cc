// CUDA streams: createStream, wrapStream, streamAddress, synchronizeSync, synchronize,
// disposeStream.

#include <mutex>
#include <unordered_map>

#include "arguments.h"
#include "binding.h"
#include "lost_device.h"
#include "shared_event.h"
#include "stream_state.h"
#include "tagged_object.h"

namespace ww {
namespace {

// Handles that this copy of the runtime made, and the state that each is an owner of. Another
// copy's handles look the same but are not ours to dispose.
struct OwnHandles {
  std::mutex mutex;
  std::unordered_map<const StreamHandle*, StreamState*> states;
};

OwnHandles& own_handles() {
  static auto& instance = *new OwnHandles;
  return instance;
}

// Whether the handle is ours and was not disposed; gives its reference back.
bool drop(StreamHandle& handle) {
  StreamState* state = nullptr;
  {
    const std::lock_guard lock(own_handles().mutex);
    const auto found = own_handles().states.find(&handle);
    if (found == own_handles().states.end()) return false;
    state = found->second;
    own_handles().states.erase(found);
  }
  handle.disposed = 1;
  handle.stream = nullptr;
  disown_stream_state(state);
  return true;
}

void finalize(napi_env, void* data, void*) {
  auto* handle = static_cast<StreamHandle*>(data);
  drop(*handle);
  delete handle;
}

// Takes over an owner's part in the state.
Napi::Value make_handle(Napi::Env env, StreamState* state) {
  auto* handle = new StreamHandle{
      .magic = kHandleMagic,
      .major = kHandleMajor,
      .minor = kHandleMinor,
      .device = state->stream.device,
      .disposed = 0,
      .stream = state->stream.stream,
      .capturing = &state->capturing,
      .lost = &lost_cause(state->stream.device),
  };
  {
    const std::lock_guard lock(own_handles().mutex);
    own_handles().states[handle] = state;
  }
  return new_tagged(env, handle, finalize, kStreamTag);
}

cuda::Stream any_stream_arg(const Napi::Value& value, const char* op) {
  return usable_stream(value.Env(), unwrap_stream(value, op), op);
}

// createStream(device, priority)
Napi::Value create_stream(const Napi::CallbackInfo& info) {
  constexpr char kOp[] = "createStream";
  const int32_t device = cuda_device_arg(info[0], kOp);
  const int priority = integer_arg(info[1], kOp, "priority", INT32_MIN, INT32_MAX);
  StreamState* state = nullptr;
  check(info.Env(), create_stream_state(device, priority, &state), kOp);
  return make_handle(info.Env(), state);
}

// wrapStream(address, device)
Napi::Value wrap_stream(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "wrapStream";
  const uint64_t address = uint64_arg(info[0], kOp, "address");
  const int32_t device = cuda_device_arg(info[1], kOp);
  // The names of the default streams: null stands for "no stream" here, the legacy one waits for
  // all the others, and the per-thread one is another stream on every thread.
  constexpr uint64_t kLastDefaultStream = 2;
  if (address <= kLastDefaultStream)
    throw value_error(env, expected(kOp) + "the address of a stream that is no default stream");
  const auto stream = reinterpret_cast<cudaStream_t>(address);
  StreamState* state = own_stream_state(stream);
  int actual = state == nullptr ? 0 : state->stream.device;
  if (state == nullptr) check(env, cuda::stream_device(stream, device, &actual), kOp);
  if (actual != device) {
    if (state != nullptr) disown_stream_state(state);
    throw device_error(env, expected(kOp) + "a stream of cuda:" + std::to_string(device) +
                                ", got one of cuda:" + std::to_string(actual));
  }
  return make_handle(env, state == nullptr ? borrow_stream_state({device, stream}) : state);
}

// streamAddress(stream)
Napi::Value stream_address(const Napi::CallbackInfo& info) {
  const cuda::Stream stream = any_stream_arg(info[0], "streamAddress");
  return Napi::BigInt::New(info.Env(), reinterpret_cast<uint64_t>(stream.stream));
}

// synchronizeSync(stream)
void synchronize_sync(const Napi::CallbackInfo& info) {
  constexpr char kOp[] = "synchronizeSync";
  refuse_in_capture(info.Env(), kOp);
  check(info.Env(), cuda::synchronize(any_stream_arg(info[0], kOp)), kOp);
}

// synchronize(stream)
Napi::Value synchronize(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "synchronize";
  refuse_in_capture(env, kOp);
  const cuda::Stream stream = any_stream_arg(info[0], kOp);
  return wait_for_event_async(env, record_shared_event(env, stream, kOp), kOp);
}

// disposeStream(stream)
void dispose_stream(const Napi::CallbackInfo& info) {
  constexpr char kOp[] = "disposeStream";
  auto* handle = detail::tagged<StreamHandle>(info[0], kStreamTag);
  if (handle == nullptr) throw kind_error(info.Env(), expected(kOp) + "a stream handle");
  detail::check_version(info.Env(), *handle, kOp);
  if (!handle->disposed && *handle->capturing)
    throw capture_error(info.Env(), "disposeStream: the stream is being captured");
  if (!drop(*handle) && !handle->disposed)
    throw kind_error(info.Env(),
                     "disposeStream: the stream belongs to another copy of @warpwright/runtime in "
                     "this process");
}

}  // namespace

void export_streams(Napi::Env env, Napi::Object exports) {
  exports.Set("createStream", Napi::Function::New<create_stream>(env, "createStream"));
  exports.Set("wrapStream", Napi::Function::New<wrap_stream>(env, "wrapStream"));
  exports.Set("streamAddress", Napi::Function::New<stream_address>(env, "streamAddress"));
  exports.Set("synchronizeSync", Napi::Function::New<synchronize_sync>(env, "synchronizeSync"));
  exports.Set("synchronize", Napi::Function::New<synchronize>(env, "synchronize"));
  exports.Set("disposeStream", Napi::Function::New<dispose_stream>(env, "disposeStream"));
}

}  // namespace ww
