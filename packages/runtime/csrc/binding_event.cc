// CUDA events: recordEvent, waitForEvent, queryEvent, synchronizeEvent, elapsedMs, disposeEvent.

#include "arguments.h"
#include "binding.h"
#include "capture.h"
#include "shared_event.h"
#include "tagged_object.h"

namespace ww {
namespace {

constexpr uint64_t kEventTag[2] = {0x2b64c19e70fd4a85, 0xe37a15d8429c6b0f};

void finalize(napi_env, void* data, void*) { delete static_cast<EventPointer*>(data); }

EventPointer& any_event_arg(const Napi::Value& value, const char* op) {
  auto* event = detail::tagged<EventPointer>(value, kEventTag);
  if (event == nullptr) throw kind_error(value.Env(), expected(op) + "an event handle");
  return *event;
}

const EventPointer& event_arg(const Napi::Value& value, const char* op) {
  const EventPointer& event = any_event_arg(value, op);
  if (event == nullptr)
    throw disposed_error(value.Env(), std::string(op) + ": the event has been disposed");
  refuse_lost(value.Env(), event->device, op);
  return event;
}

// One that happens by itself.
const EventPointer& real_event_arg(const Napi::Value& value, const char* op) {
  const EventPointer& event = event_arg(value, op);
  if (event->captured)
    throw capture_error(value.Env(),
                        std::string(op) + ": the event was recorded in a capture, in its graph");
  return event;
}

// recordEvent(stream)
Napi::Value record_event(const Napi::CallbackInfo& info) {
  constexpr char kOp[] = "record";
  const StreamHandle& handle = unwrap_stream(info[0], kOp);
  EventPointer event = record_shared_event(info.Env(), usable_stream(info.Env(), handle, kOp), kOp);
  return new_tagged(info.Env(), new EventPointer(std::move(event)), finalize, kEventTag);
}

// waitForEvent(stream, event)
void wait_for_event(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "wait";
  const StreamHandle& handle = unwrap_stream(info[0], kOp);
  const cuda::Stream stream = usable_stream(env, handle, kOp);
  const EventPointer& event = event_arg(info[1], kOp);
  const auto capture = event->capture.lock();
  const bool goes_on = capture != nullptr && capture == Capture::current();
  if (event->captured && !goes_on)
    throw capture_error(env, "wait: the event was recorded in a capture that has ended");
  const auto own = capturing_on(stream.stream);
  if (own != nullptr && own != capture)
    throw capture_error(
        env, "wait: expected an event of the capture that the stream takes part in, got another");
  StreamState* joins = nullptr;
  if (event->captured && own == nullptr) joins = find_stream_state(stream.stream);
  cudaError_t status = joins == nullptr ? cudaSuccess : prepare_capture(joins);
  if (joins != nullptr && status == cudaSuccess) capture->join(joins);
  if (status == cudaSuccess) {
    status = cuda::wait_for_event(stream, event->event);
    if (joins != nullptr && status != cudaSuccess) capture->unjoin(joins);
  }
  if (joins != nullptr) release_stream_state(joins);
  check(env, status, kOp);
}

// queryEvent(event)
Napi::Value query_event(const Napi::CallbackInfo& info) {
  constexpr char kOp[] = "query";
  const EventPointer& event = real_event_arg(info[0], kOp);
  bool done = false;
  check(info.Env(), cuda::query_event(event->device, event->event, done), kOp);
  return Napi::Boolean::New(info.Env(), done);
}

// synchronizeEvent(event)
Napi::Value synchronize_event(const Napi::CallbackInfo& info) {
  constexpr char kOp[] = "synchronize";
  refuse_in_capture(info.Env(), kOp);
  return wait_for_event_async(info.Env(), real_event_arg(info[0], kOp), kOp);
}

// elapsedMs(event, since)
Napi::Value elapsed_ms(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "elapsedMs";
  refuse_in_capture(env, kOp);
  const EventPointer& event = real_event_arg(info[0], kOp);
  const EventPointer& since = real_event_arg(info[1], kOp);
  if (event->device != since->device)
    throw device_error(env, expected(kOp) +
                                "since to be an event of cuda:" + std::to_string(event->device) +
                                ", got one of cuda:" + std::to_string(since->device));
  return elapsed_time_async(env, since, event);
}

// disposeEvent(event)
void dispose_event(const Napi::CallbackInfo& info) {
  any_event_arg(info[0], "disposeEvent") = nullptr;
}

}  // namespace

void export_events(Napi::Env env, Napi::Object exports) {
  exports.Set("recordEvent", Napi::Function::New<record_event>(env, "recordEvent"));
  exports.Set("waitForEvent", Napi::Function::New<wait_for_event>(env, "waitForEvent"));
  exports.Set("queryEvent", Napi::Function::New<query_event>(env, "queryEvent"));
  exports.Set("synchronizeEvent", Napi::Function::New<synchronize_event>(env, "synchronizeEvent"));
  exports.Set("elapsedMs", Napi::Function::New<elapsed_ms>(env, "elapsedMs"));
  exports.Set("disposeEvent", Napi::Function::New<dispose_event>(env, "disposeEvent"));
}

}  // namespace ww
