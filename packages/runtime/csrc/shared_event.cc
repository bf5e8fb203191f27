#include "shared_event.h"

#include <utility>

#include "arguments.h"
#include "capture.h"
#include "completion.h"

namespace ww {
namespace {

// Waits for one event, or for two.
class EventJob : public Job {
 public:
  EventJob(std::shared_ptr<Mailbox> mailbox, const char* op, EventPointer event)
      : Job(std::move(mailbox), op), event_(std::move(event)) {}

  cudaError_t poll(bool& reached) override {
    return cuda::query_event(event_->device, event_->event, reached);
  }

 protected:
  EventPointer event_;
};

constexpr char kElapsedOp[] = "elapsedMs";

class ElapsedJob : public EventJob {
 public:
  ElapsedJob(std::shared_ptr<Mailbox> mailbox, EventPointer since, EventPointer until)
      : EventJob(std::move(mailbox), kElapsedOp, std::move(until)), since_(std::move(since)) {}

  cudaError_t poll(bool& reached) override {
    const auto status = EventJob::poll(reached);
    if (status != cudaSuccess || !reached) return status;
    return cuda::query_event(since_->device, since_->event, reached);
  }

 protected:
  Napi::Value result(Napi::Env env) override {
    float milliseconds = 0;
    check(env, cuda::elapsed_time(event_->device, since_->event, event_->event, &milliseconds),
          kElapsedOp);
    return Napi::Number::New(env, milliseconds);
  }

 private:
  EventPointer since_;
};

}  // namespace

EventPointer record_shared_event(Napi::Env env, cuda::Stream stream, const char* op) {
  auto event = std::make_shared<SharedEvent>(SharedEvent{.device = stream.device});
  check(env, cuda::create_timed_event(stream.device, &event->event), op);
  check(env, cuda::record_event(event->event, stream), op);
  event->capture = capturing_on(stream.stream);
  event->captured = !event->capture.expired();
  return event;
}

Napi::Value wait_for_event_async(Napi::Env env, EventPointer event, const char* op) {
  return Job::start(env, std::make_unique<EventJob>(Mailbox::of(env), op, std::move(event)));
}

Napi::Value elapsed_time_async(Napi::Env env, EventPointer since, EventPointer until) {
  return Job::start(
      env, std::make_unique<ElapsedJob>(Mailbox::of(env), std::move(since), std::move(until)));
}

}  // namespace ww
