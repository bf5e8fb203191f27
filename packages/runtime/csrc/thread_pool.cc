// Each call publishes a Task; idle workers join it, and everyone takes chunks off its counter until
// none is left. The caller takes part, so that progress never depends on a worker.

#include "thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace ww {
namespace {

// How long an idle worker looks for the next task before it sleeps: longer than the gap between
// two operations of a model, much shorter than a time slice.
constexpr auto kSpin = std::chrono::microseconds(30);
// Threads until somebody sets how many.
constexpr int kUnsetSize = 1;
// Chunks per thread: enough to even out unequal speeds, few enough to keep the counter cool.
constexpr int64_t kChunksPerThread = 4;

struct alignas(64) Task {
  void (*body)(void*, int64_t, int64_t);
  void* context;
  int64_t count;
  int64_t chunk;
  std::atomic<int64_t> next{0};
  std::atomic<int> workers{0};  // inside the task now
};

thread_local bool inside_task = false;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void work_on(Task& task) {
  inside_task = true;
  for (;;) {
    const int64_t begin = task.next.fetch_add(task.chunk, std::memory_order_relaxed);
    if (begin >= task.count) break;
    task.body(task.context, begin, std::min(begin + task.chunk, task.count));
  }
  inside_task = false;
}

class Pool {
 public:
  void set_size(int size) {
    size_.store(size);
    wake(started_);  // all of them: some may be too many now
  }

  void init_size(int size) {
    int unset = 0;
    size_.compare_exchange_strong(unset, size);
  }

  int size() const {
    const int size = size_.load(std::memory_order_relaxed);
    return size > 0 ? size : kUnsetSize;
  }

  void run(void (*body)(void*, int64_t, int64_t), void* context, int64_t count, int64_t chunk) {
    const int64_t num_chunks = (count - 1) / chunk + 1;
    const int helpers = static_cast<int>(std::min<int64_t>(num_chunks, size()) - 1);
    Task* task = publish(body, context, count, chunk, helpers);
    wake(helpers);
    work_on(*task);
    retract(task);
  }

 private:
  Task* publish(void (*body)(void*, int64_t, int64_t), void* context, int64_t count, int64_t chunk,
                int helpers) {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) spare_.push_back(new Task);
    Task* task = spare_.back();
    spare_.pop_back();
    task->body = body;
    task->context = context;
    task->count = count;
    task->chunk = chunk;
    task->next.store(0, std::memory_order_relaxed);
    open_.push_back(task);
    num_open_.store(open_.size());
    while (started_ < helpers && start_worker()) ++started_;
    return task;
  }

  bool start_worker() {
    try {
      std::thread([this] { worker(); }).detach();
      return true;
    } catch (const std::system_error&) {
      return false;  // the system has no thread left for us: those there are do the work
    }
  }

  // Nobody may join any more; those inside finish their last chunk.
  void retract(Task* task) {
    {
      const std::lock_guard lock(mutex_);
      open_.erase(std::find(open_.begin(), open_.end(), task));
      num_open_.store(open_.size());
    }
    for (int spins = 0; task->workers.load(std::memory_order_acquire) != 0; ++spins) {
      relax();
      if (spins > 1000) std::this_thread::yield();
    }
    const std::lock_guard lock(mutex_);
    spare_.push_back(task);
  }

  void wake(int count) {
    epoch_.fetch_add(1);
    const int sleeping = sleepers_.load();
    if (count >= sleeping) {
      if (sleeping > 0) epoch_.notify_all();
      return;
    }
    for (int i = 0; i < count; ++i) epoch_.notify_one();
  }

  Task* join() {
    if (num_open_.load() == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    for (Task* task : open_) {
      if (task->next.load(std::memory_order_relaxed) >= task->count) continue;
      task->workers.fetch_add(1, std::memory_order_relaxed);
      return task;
    }
    return nullptr;
  }

  bool retire() {
    if (size() > started_.load()) return false;
    const std::lock_guard lock(mutex_);
    if (size() - 1 >= started_) return false;
    --started_;
    return true;
  }

  void worker() {
    while (!retire()) {
      const uint32_t seen = epoch_.load();  // before looking, so that no task slips through
      if (Task* task = join()) {
        work_on(*task);
        task->workers.fetch_sub(1, std::memory_order_release);
      } else {
        await_change(seen);
      }
    }
  }

  void await_change(uint32_t seen) {
    const auto until = std::chrono::steady_clock::now() + kSpin;
    do {
      for (int i = 0; i < 16; ++i) {
        if (epoch_.load(std::memory_order_relaxed) != seen) return;
        relax();
      }
    } while (std::chrono::steady_clock::now() < until);
    sleepers_.fetch_add(1);
    epoch_.wait(seen);
    sleepers_.fetch_sub(1);
  }

  std::mutex mutex_;
  std::vector<Task*> open_;
  std::vector<Task*> spare_;  // reused, never freed
  std::atomic<size_t> num_open_{0};
  std::atomic<int> size_{0};     // 0 until somebody sets it
  std::atomic<int> started_{0};  // changed under the mutex
  std::atomic<uint32_t> epoch_{0};
  std::atomic<int> sleepers_{0};
};

// Never destroyed: workers use it until the process is gone.
Pool& pool() {
  static auto& instance = *new Pool;
  return instance;
}

}  // namespace

void parallel_for(int64_t count, int64_t grain,
                  void (*body)(void* context, int64_t begin, int64_t end), void* context) {
  if (count <= 0) return;
  const int threads = pool().size();
  const int64_t share = (count - 1) / (threads * kChunksPerThread) + 1;
  const int64_t chunk = std::max({share, grain, int64_t{1}});
  if (inside_task || threads == 1 || chunk >= count) return body(context, 0, count);
  pool().run(body, context, count, chunk);
}

void set_num_threads(int count) { pool().set_size(std::max(count, 1)); }

void init_num_threads(int count) { pool().init_size(std::max(count, 1)); }

int num_threads() { return pool().size(); }

}  // namespace ww
