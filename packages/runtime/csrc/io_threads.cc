#include "io_threads.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "thread_pool.h"

namespace ww {
namespace {

// One copies 5 to 10 GB/s out of the page cache; more than this leave nothing for the others.
constexpr int kMaxThreads = 16;
// So that a read begins while another one waits.
constexpr int kMinThreads = 2;

void park_at_exit();

class IoThreads {
 public:
  // False if there is no thread.
  bool add(std::function<void()>& work) {
    {
      const std::lock_guard lock(mutex_);
      if (queue_.size() >= idle_) start_thread();
      if (threads_ == 0) return false;
      queue_.push_back(std::move(work));
    }
    wake_.notify_one();
    return true;
  }

  // Bounded, in case a disk or the driver hangs.
  void park() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    stopped_.wait_for(lock, std::chrono::seconds(1), [this] { return working_ == 0; });
  }

 private:
  void start_thread() {
    if (threads_ >= std::clamp(num_threads(), kMinThreads, kMaxThreads)) return;
    if (threads_ == 0) park_at_exit();
    try {
      std::thread([this] { run(); }).detach();
      ++threads_;
    } catch (const std::system_error&) {
      return;  // those there are do the work
    }
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      wake_.wait(lock, [this] { return !queue_.empty() && !stopping_; });
      --idle_;
      auto work = std::move(queue_.front());
      queue_.pop_front();
      ++working_;
      lock.unlock();
      work();
      lock.lock();
      if (--working_ == 0) stopped_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable stopped_;
  std::deque<std::function<void()>> queue_;
  int threads_ = 0;
  size_t idle_ = 0;
  int working_ = 0;
  bool stopping_ = false;
};

// Never destroyed: the threads run until the process is gone.
IoThreads& io_threads() {
  static auto& instance = *new IoThreads;
  return instance;
}

// The process frees what its threads use while it ends.
void park_at_exit() {
  std::atexit([] { io_threads().park(); });
}

}  // namespace

void run_on_io_thread(std::function<void()> work) {
  if (!io_threads().add(work)) work();
}

void park_io_threads_before_cuda() {
  static std::once_flag registered;
  std::call_once(registered, park_at_exit);
}

}  // namespace ww
