#include "staging.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <mutex>
#include <ranges>
#include <thread>
#include <vector>

namespace ww {
namespace {

constexpr size_t kMinBytes = size_t{64} << 10;
constexpr size_t kMaxKeptBytes = size_t{128} << 20;

struct Cache {
  std::mutex mutex;
  std::vector<Staging*> buffers;  // the one given back last at the end
  size_t bytes = 0;
  std::atomic<size_t> taken_bytes{0};
};

// Never destroyed: the completion thread uses it until the process is gone.
Cache& cache() {
  static auto& instance = *new Cache;
  return instance;
}

bool is_idle(const Staging* staging) {
  bool done = false;
  return cuda::query_event(staging->device, staging->ready, done) == cudaSuccess && done;
}

// With the mutex held.
Staging* remove(std::vector<Staging*>::iterator at) {
  Staging* staging = *at;
  cache().buffers.erase(at);
  cache().bytes -= staging->bytes;
  return staging;
}

// Of those that are idle the one used last, which is the likeliest to be in a cache.
Staging* take_kept(int device, size_t bytes) {
  const std::lock_guard lock(cache().mutex);
  auto& buffers = cache().buffers;
  const auto found = std::ranges::find_if(buffers | std::views::reverse, [&](const Staging* each) {
    return each->device == device && each->bytes == bytes && is_idle(each);
  });
  return found == buffers.rend() ? nullptr : remove(std::prev(found.base()));
}

// The oldest of those that the stream used last, if there are `most`.
Staging* take_busy(cuda::Stream stream, size_t bytes, size_t most) {
  const std::lock_guard lock(cache().mutex);
  auto& buffers = cache().buffers;
  const auto is_ours = [&](const Staging* each) {
    return each->device == stream.device && each->stream == stream.stream && each->bytes == bytes;
  };
  if (static_cast<size_t>(std::ranges::count_if(buffers, is_ours)) < most) return nullptr;
  return remove(std::ranges::find_if(buffers, is_ours));
}

// Looks without pause for about as long as the link takes for a buffer, then lets others run.
cudaError_t wait_until_idle(const Staging* staging) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
  for (;;) {
    bool done = false;
    const cudaError_t status = cuda::query_event(staging->device, staging->ready, done);
    if (status != cudaSuccess || done) return status;
    if (std::chrono::steady_clock::now() > until)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

void destroy(Staging* staging) {
  if (staging->ready != nullptr) cuda::destroy_event(staging->device, staging->ready);
  if (staging->data != nullptr) cuda::unpin(staging->device, staging->data);
  delete staging;
}

cudaError_t create(int device, size_t bytes, Staging** result) {
  auto* staging = new Staging{device, bytes, nullptr, nullptr, nullptr};
  cudaError_t status = cuda::pin(device, bytes, &staging->data);
  if (status == cudaSuccess) status = cuda::create_event(device, &staging->ready);
  if (status == cudaSuccess) {
    *result = staging;
  } else {
    destroy(staging);
  }
  return status;
}

size_t size_class(size_t bytes) { return std::bit_ceil(std::max(bytes, kMinBytes)); }

cudaError_t taken(cudaError_t status, size_t bytes) {
  if (status == cudaSuccess) cache().taken_bytes += bytes;
  return status;
}

}  // namespace

cudaError_t take_staging(int device, size_t bytes, Staging** result) {
  const size_t size = size_class(bytes);
  *result = take_kept(device, size);
  return taken(*result != nullptr ? cudaSuccess : create(device, size, result), size);
}

cudaError_t take_ring_staging(cuda::Stream stream, size_t bytes, size_t most, Staging** result) {
  const size_t size = size_class(bytes);
  *result = take_kept(stream.device, size);
  if (*result != nullptr) return taken(cudaSuccess, size);
  *result = take_busy(stream, size, most);
  if (*result == nullptr) return taken(create(stream.device, size, result), size);
  const cudaError_t status = wait_until_idle(*result);
  if (status != cudaSuccess) destroy(*result);
  return taken(status, size);
}

cudaError_t record_staging(Staging* staging, cuda::Stream stream) {
  staging->stream = stream.stream;
  const cudaError_t status = cuda::record_event(staging->ready, stream);
  // The event would tell of an older copy, and the buffer look idle.
  if (status != cudaSuccess) cuda::synchronize(stream);
  return status;
}

void give_back_staging(Staging* staging) {
  std::vector<Staging*> evicted;
  {
    // The newest is always kept, and the oldest go: a cache that is full of what one large read
    // needed would have every small one allocate.
    const std::lock_guard lock(cache().mutex);
    auto& buffers = cache().buffers;
    cache().taken_bytes -= staging->bytes;
    buffers.push_back(staging);
    cache().bytes += staging->bytes;
    while (cache().bytes > kMaxKeptBytes && buffers.size() > 1)
      evicted.push_back(remove(buffers.begin()));
  }
  for (Staging* old : evicted) destroy(old);  // waits for a copy that may still be using it
}

void drop_kept_staging(int device) {
  std::vector<Staging*> kept;
  {
    const std::lock_guard lock(cache().mutex);
    auto& buffers = cache().buffers;
    for (auto at = buffers.begin(); at != buffers.end();) {
      if ((*at)->device == device) {
        kept.push_back(remove(at));  // leaves the next in its place
      } else {
        ++at;
      }
    }
  }
  for (Staging* staging : kept) destroy(staging);
}

size_t taken_staging_bytes() { return cache().taken_bytes; }

}  // namespace ww
