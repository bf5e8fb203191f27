// The way from other threads to the JavaScript thread of one environment, which may end at any
// time.
#pragma once

#include <napi.h>

#include <atomic>
#include <memory>
#include <mutex>

namespace ww {

class Job;

class Mailbox {
 public:
  // JavaScript thread: the environment's mailbox, and a new one for it. The event loop is kept
  // alive only while jobs are pending.
  static std::shared_ptr<Mailbox> of(Napi::Env env);
  static std::shared_ptr<Mailbox> open(Napi::Env env);

  // JavaScript thread: one more job is under way, or one less.
  void add_pending();
  void remove_pending();

  // Any thread: the job arrives on the JavaScript thread. False once the environment has
  // ended; the job is the caller's to delete then.
  bool post(Job* job);
  bool closed() const { return closed_; }

  // Jobs of this environment that the completion thread has.
  std::atomic<int> watched{0};

 private:
  void close();

  napi_env env_ = nullptr;
  napi_threadsafe_function function_ = nullptr;
  std::mutex mutex_;  // a post happens before the end or after it, never during it
  std::atomic<bool> closed_{false};
  int pending_ = 0;
};

}  // namespace ww
