// A point in a stream's work that CudaEvent, and promises that wait for it, share.
#pragma once

#include <napi.h>

#include <memory>
#include <vector>

#include "cuda_backend.h"

namespace ww {

class Capture;

struct SharedEvent {
  int device;
  cuda::Event event = nullptr;
  bool captured = false;             // recorded in a capture, so that it never happens by itself
  std::weak_ptr<Capture> capture{};  // that capture, while it goes on

  ~SharedEvent() {
    if (event != nullptr) cuda::destroy_event(device, event);
  }
};

using EventPointer = std::shared_ptr<SharedEvent>;

// After all that the stream has been given so far.
EventPointer record_shared_event(Napi::Env env, cuda::Stream stream, const char* op);

// A promise that resolves when the event has happened.
Napi::Value wait_for_event_async(Napi::Env env, EventPointer event, const char* op);

// A promise of the milliseconds between two events.
Napi::Value elapsed_time_async(Napi::Env env, EventPointer since, EventPointer until);

}  // namespace ww
