// The one thread that watches what GPUs are working on and settles promises when it is done.
#pragma once

#include <napi.h>

#include <memory>
#include <string>
#include <utility>

#include "cuda_backend.h"
#include "mailbox.h"

namespace ww {

// Something that a promise waits for, or that JavaScript's thread has to do later.
class Job {
 public:
  // `what` begins the message of a rejection.
  Job(std::shared_ptr<Mailbox> mailbox, std::string what)
      : mailbox_(std::move(mailbox)), what_(std::move(what)) {}
  // Any thread, and also when the environment has ended: must not touch Node-API.
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // JavaScript thread: the promise of a job that the completion thread watches from now on.
  static Napi::Value start(Napi::Env env, std::unique_ptr<Job> job);
  // The same of a job that others bring to an end first, by watch() if it is `watched`, else by
  // deliver(). Nothing is pending if it throws.
  Napi::Value promise(Napi::Env env, bool watched);
  // Any thread: has the completion thread watch the job. One without a promise keeps no event loop
  // alive.
  static void watch(std::unique_ptr<Job> job);
  // Any thread: the job's next step is reached, without the completion thread.
  static void deliver(std::unique_ptr<Job> job);

  // Completion thread. Whether the next step has been reached, or has failed.
  virtual cudaError_t poll(bool& reached) = 0;

  // JavaScript thread: takes the step that was reached, then settles the promise or waits on.
  // Throws when the environment is ending and runs no JavaScript any more.
  static void arrive(Napi::Env env, std::unique_ptr<Job> job);

  const std::shared_ptr<Mailbox>& mailbox() const { return mailbox_; }
  void set_status(cudaError_t status) { status_ = status; }

 protected:
  // JavaScript thread, when a step was reached without failure. Whether it was the last; throws to
  // reject.
  virtual bool advance(Napi::Env) { return true; }
  // JavaScript thread, before the promise is settled in whatever way.
  virtual void finish(Napi::Env) {}
  // JavaScript thread: what the promise resolves to. Throws to reject.
  virtual Napi::Value result(Napi::Env env) { return env.Undefined(); }

 private:
  void settle(Napi::Env env, napi_value value, bool rejected);

  std::shared_ptr<Mailbox> mailbox_;
  std::string what_;
  napi_deferred deferred_ = nullptr;
  cudaError_t status_ = cudaSuccess;
};

// Any thread: starts the completion thread, if it is not there. Throws std::system_error if the
// system has no thread left.
void start_completion();

// Makes the thread look at once whether environments have ended.
void wake_completion();

}  // namespace ww
