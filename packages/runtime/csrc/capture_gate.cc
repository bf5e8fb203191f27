#include "capture_gate.h"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace ww {
namespace {

struct Gate {
  std::shared_mutex mutex;  // shared by what runs outside captures
  std::atomic<int> under_way{0};
  std::vector<std::function<void()>> waiting;
};

// Never destroyed: storages are released while the process ends.
Gate& gate() {
  static auto& instance = *new Gate;
  return instance;
}

}  // namespace

bool captures_under_way() { return gate().under_way.load(std::memory_order_acquire) > 0; }

cudaError_t open_capture(const std::function<cudaError_t()>& begin) {
  const std::lock_guard lock(gate().mutex);
  const cudaError_t status = begin();
  if (status == cudaSuccess) ++gate().under_way;
  return status;
}

void close_capture() {
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard lock(gate().mutex);
    if (--gate().under_way == 0) waiting.swap(gate().waiting);
  }
  for (auto& f : waiting) outside_captures(std::move(f));
}

void outside_captures(std::function<void()> f) {
  // f may come here again, and a shared mutex must not be locked twice by one thread.
  static thread_local bool inside = false;
  struct Inside {
    Inside() { inside = true; }
    ~Inside() { inside = false; }
  };
  if (inside) return f();
  for (;;) {
    {
      const std::shared_lock lock(gate().mutex);
      if (gate().under_way == 0) {
        const Inside here;
        return f();
      }
    }
    const std::lock_guard lock(gate().mutex);
    if (gate().under_way > 0) return gate().waiting.push_back(std::move(f));
  }
}

bool unless_capturing(const std::function<void()>& f) {
  const std::shared_lock lock(gate().mutex);
  if (gate().under_way > 0) return false;
  f();
  return true;
}

}  // namespace ww
