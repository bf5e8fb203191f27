#include "completion.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "warpwright/errors.h"

namespace ww {
namespace {

using Clock = std::chrono::steady_clock;

// After something happened, the next thing is likely near: look without pause for a while, then
// with growing pauses.
constexpr auto kSpin = std::chrono::microseconds(50);
constexpr auto kFirstPause = std::chrono::microseconds(20);
constexpr auto kLastPause = std::chrono::microseconds(100);

class Completion;
Completion& completion();

class Completion {
 public:
  // Throws std::system_error if the system has no thread left.
  void start_thread() {
    const std::lock_guard lock(mutex_);
    if (started_) return;
    std::thread([this] { run(); }).detach();
    started_ = true;
    // Environments' hooks do not run at process.exit() or after an uncaught exception. This handler
    // does, and before CUDA's own, which were registered earlier.
    std::atexit([] { completion().park(); });
  }

  // Keeps the thread out of CUDA for good; bounded, in case the driver hangs.
  void park() {
    std::unique_lock lock(mutex_);
    stopping_ = woken_ = true;
    wake_.notify_one();
    parked_signal_.wait_for(lock, std::chrono::seconds(1), [this] { return parked_; });
  }

  void watch(Job* job) {
    job->mailbox()->watched.fetch_add(1);
    {
      const std::lock_guard lock(mutex_);
      incoming_.push_back(job);
      woken_ = true;
    }
    wake_.notify_one();
  }

  void wake() {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    wake_.notify_one();
  }

 private:
  void run() {
    auto last_progress = Clock::now();
    auto pause = kFirstPause;
    while (!stop()) {
      const bool received = receive(last_progress, pause);
      const bool reached = look();
      if (received || reached) {
        last_progress = Clock::now();
        pause = kFirstPause;
      }
    }
  }

  // Whether the process is ending; the thread then has nothing more to do.
  bool stop() {
    const std::lock_guard lock(mutex_);
    if (!stopping_) return false;
    parked_ = true;
    parked_signal_.notify_all();
    return true;
  }

  // Takes over new jobs, after a pause if nothing has happened for a while. Whether there are any.
  bool receive(Clock::time_point last_progress, std::chrono::microseconds& pause) {
    std::unique_lock lock(mutex_);
    if (jobs_.empty()) {
      wake_.wait(lock, [this] { return woken_; });
    } else if (Clock::now() - last_progress > kSpin) {
      wake_.wait_for(lock, pause, [this] { return woken_; });
      pause = std::min(2 * pause, std::chrono::microseconds(kLastPause));
    }
    woken_ = false;
    if (incoming_.empty()) return false;
    jobs_.insert(jobs_.end(), incoming_.begin(), incoming_.end());
    incoming_.clear();
    return true;
  }

  // Asks every job, so that none waits behind a slower one. Whether any could go.
  bool look() {
    return std::erase_if(jobs_, [](Job* job) { return let_go(job); }) > 0;
  }

  static bool let_go(Job* job) {
    // Keeps the mailbox beyond the job.
    const std::shared_ptr<Mailbox> mailbox = job->mailbox();
    bool gone = mailbox->closed();
    if (!gone) {
      bool reached = false;
      const cudaError_t status = job->poll(reached);
      if (status == cudaSuccess && !reached) return false;
      job->set_status(status);
      gone = !mailbox->post(job);
    }
    if (gone) delete job;
    mailbox->watched.fetch_sub(1);
    return true;
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Job*> incoming_;
  bool woken_ = false;
  bool started_ = false;
  bool stopping_ = false;
  bool parked_ = false;
  std::condition_variable parked_signal_;
  std::vector<Job*> jobs_;  // the thread's own
};

// Never destroyed: the thread runs until the process is gone.
Completion& completion() {
  static auto& instance = *new Completion;
  return instance;
}

}  // namespace

Napi::Value Job::start(Napi::Env env, std::unique_ptr<Job> job) {
  const Napi::Value promise = job->promise(env, true);
  watch(std::move(job));
  return promise;
}

Napi::Value Job::promise(Napi::Env env, bool watched) {
  napi_value promise = nullptr;
  try {
    if (watched) completion().start_thread();
    if (napi_create_promise(env, &deferred_, &promise) != napi_ok) throw Napi::Error::New(env);
  } catch (...) {
    finish(env);  // lets go of what the job keeps alive
    throw;
  }
  mailbox_->add_pending();
  return Napi::Value(env, promise);
}

void Job::watch(std::unique_ptr<Job> job) {
  completion().start_thread();
  completion().watch(job.release());
}

void Job::deliver(std::unique_ptr<Job> job) {
  // Keeps the mailbox beyond the job.
  const std::shared_ptr<Mailbox> mailbox = job->mailbox();
  if (mailbox->post(job.get())) job.release();
}

void Job::arrive(Napi::Env env, std::unique_ptr<Job> job) {
  const Napi::HandleScope scope(env);
  napi_value value = nullptr;
  bool rejected = true;
  try {
    if (job->status_ != cudaSuccess)
      throw cuda_error(env, cuda::error_name(job->status_),
                       job->what_ + ": " + cuda::error_text(job->status_));
    if (!job->advance(env)) return watch(std::move(job));
    value = job->result(env);
    rejected = false;
  } catch (const Napi::Error& error) {
    value = error.Value();
  } catch (const std::exception& error) {
    value = Napi::Error::New(env, error.what()).Value();
  }
  job->settle(env, value, rejected);
}

void Job::settle(Napi::Env env, napi_value value, bool rejected) {
  finish(env);
  if (deferred_ == nullptr) return;
  mailbox_->remove_pending();
  if (rejected) {
    napi_reject_deferred(env, deferred_, value);
  } else {
    napi_resolve_deferred(env, deferred_, value);
  }
}

void start_completion() { completion().start_thread(); }

void wake_completion() { completion().wake(); }

}  // namespace ww
