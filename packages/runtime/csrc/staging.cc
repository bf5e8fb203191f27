#include "staging.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <vector>

namespace ww {
namespace {

constexpr size_t kMinBytes = size_t{64} << 10;
constexpr size_t kMaxKeptBytes = size_t{128} << 20;

struct Cache {
  std::mutex mutex;
  std::vector<Staging*> buffers;
  size_t bytes = 0;
};

// Never destroyed: the completion thread uses it until the process is gone.
Cache& cache() {
  static auto& instance = *new Cache;
  return instance;
}

Staging* take_kept(int device, size_t bytes) {
  const std::lock_guard lock(cache().mutex);
  auto& buffers = cache().buffers;
  const auto found = std::ranges::find_if(buffers, [&](const Staging* staging) {
    bool done = false;
    return staging->device == device && staging->bytes == bytes &&
           cuda::query_event(device, staging->ready, done) == cudaSuccess && done;
  });
  if (found == buffers.end()) return nullptr;
  Staging* staging = *found;
  buffers.erase(found);
  cache().bytes -= bytes;
  return staging;
}

void destroy(Staging* staging) {
  if (staging->ready != nullptr) cuda::destroy_event(staging->device, staging->ready);
  if (staging->data != nullptr) cuda::unpin(staging->device, staging->data);
  delete staging;
}

}  // namespace

cudaError_t take_staging(int device, size_t bytes, Staging** result) {
  const size_t size = std::bit_ceil(std::max(bytes, kMinBytes));
  *result = take_kept(device, size);
  if (*result != nullptr) return cudaSuccess;
  auto* staging = new Staging{device, size, nullptr, nullptr};
  cudaError_t status = cuda::pin(device, size, &staging->data);
  if (status == cudaSuccess) status = cuda::create_event(device, &staging->ready);
  if (status == cudaSuccess) {
    *result = staging;
  } else {
    destroy(staging);
  }
  return status;
}

void give_back_staging(Staging* staging) {
  std::vector<Staging*> evicted;
  {
    // The newest is always kept, and the oldest go: a cache that is full of what one large read
    // needed would have every small one allocate.
    const std::lock_guard lock(cache().mutex);
    auto& buffers = cache().buffers;
    buffers.push_back(staging);
    cache().bytes += staging->bytes;
    while (cache().bytes > kMaxKeptBytes && buffers.size() > 1) {
      evicted.push_back(buffers.front());
      cache().bytes -= buffers.front()->bytes;
      buffers.erase(buffers.begin());
    }
  }
  for (Staging* old : evicted) destroy(old);  // waits for a copy that may still be filling it
}

void drop_idle_staging(int device) {
  std::vector<Staging*> idle;
  {
    const std::lock_guard lock(cache().mutex);
    std::erase_if(cache().buffers, [&](Staging* staging) {
      if (staging->device != device) return false;
      idle.push_back(staging);
      cache().bytes -= staging->bytes;
      return true;
    });
  }
  for (Staging* staging : idle) destroy(staging);
}

}  // namespace ww
