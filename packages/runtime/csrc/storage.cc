#include "storage.h"

#include <algorithm>

#include "cpu_memory.h"
#include "thread_pool.h"

namespace ww {
namespace {

cudaError_t allocate_on_cpu(Storage& storage, bool zero) {
  storage.data = cpu_allocate(storage.bytes, zero);
  return storage.data == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t allocate_on_cuda(Storage& storage, bool zero) {
  if (storage.bytes == 0) return cudaSuccess;
  const cuda::Stream stream{storage.device, storage.stream};
  const auto status = cuda::allocate(stream, storage.bytes, &storage.data);
  if (status != cudaSuccess || !zero) return status;
  return cuda::zero(stream, storage.data, storage.bytes);
}

// Waits until every stream that the storage was used on is idle. Whether that could be waited for.
bool finish_users(Storage& storage) {
  bool finished = cuda::synchronize_device(storage.device) == cudaSuccess;
  for (const StreamState* user : storage.users)
    finished &= cuda::synchronize(user->stream) == cudaSuccess;
  for (const int device : storage.foreign_users)
    finished &= cuda::synchronize_device(device) == cudaSuccess;
  return finished;
}

// On its home stream, after the other streams' work. Where another library's stream has had a part,
// that stream may be gone by now, with its work still running: then after all that its device has
// been given, on a stream kept for this, which stalls nobody.
void free_on_cuda(Storage& storage) {
  if (storage.data == nullptr) return;
  cuda::Stream stream{storage.device, storage.stream};
  const bool foreign = storage.home == nullptr || !storage.foreign_users.empty();
  if (foreign && cuda::reclaim_stream(storage.device, &stream.stream) != cudaSuccess) return;
  // A wait fails where another library is capturing, where memory is short or a device is lost.
  // Then by waiting here, or not at all: memory that may be in use is left to the end of the
  // process.
  if (wait_for_users(stream, &storage) == cudaSuccess || finish_users(storage))
    cuda::free(stream, storage.data);
}

}  // namespace

cudaError_t allocate_storage(int32_t device, uint64_t bytes, cudaStream_t stream, bool zero,
                             Storage** result) {
  auto* storage = new Storage;
  storage->device = device;
  storage->bytes = bytes;
  if (device != kCpu) {
    storage->stream = stream;
    storage->home = find_stream_state(stream);
  }
  const auto status =
      device == kCpu ? allocate_on_cpu(*storage, zero) : allocate_on_cuda(*storage, zero);
  *result = status == cudaSuccess ? storage : nullptr;
  if (status != cudaSuccess) release_storage(storage);
  return status;
}

void retain_storage(Storage* storage) {
  storage->references.fetch_add(1, std::memory_order_relaxed);
}

void release_storage(Storage* storage) {
  if (storage->references.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  if (storage->device != kCpu) {
    free_on_cuda(*storage);
  } else if (storage->data != nullptr) {
    cpu_free(storage->data, storage->bytes);
  }
  for (StreamState* user : storage->users) release_stream_state(user);
  if (storage->home != nullptr) release_stream_state(storage->home);
  delete storage;
}

cudaError_t record_use(Storage* storage, cudaStream_t stream) {
  if (storage->device == kCpu || stream == storage->stream || storage->data == nullptr)
    return cudaSuccess;
  StreamState* user = find_stream_state(stream);
  const std::lock_guard lock(storage->mutex);
  if (user != nullptr && std::ranges::find(storage->users, user) != storage->users.end()) {
    release_stream_state(user);
    return cudaSuccess;
  }
  cuda::Stream waiter{storage->device, stream};
  cudaError_t status = cudaSuccess;
  if (user != nullptr) {
    waiter = user->stream;
  } else {
    status = cuda::stream_device(stream, storage->device, &waiter.device);
  }
  if (status == cudaSuccess)
    status = storage->home != nullptr ? cuda::wait_for_stream(waiter, storage->home->stream)
                                      : cuda::wait_for_device(waiter, storage->device);
  if (status != cudaSuccess) {
    if (user != nullptr) release_stream_state(user);
    return status;
  }
  if (user != nullptr) {
    storage->users.push_back(user);
  } else if (std::ranges::find(storage->foreign_users, waiter.device) ==
             storage->foreign_users.end()) {
    storage->foreign_users.push_back(waiter.device);
  }
  return cudaSuccess;
}

cudaError_t wait_for_users(cuda::Stream waiter, Storage* storage) {
  const std::lock_guard lock(storage->mutex);
  cudaError_t status = cudaSuccess;
  // One that cannot be waited for does not keep the others from being.
  const auto note = [&](cudaError_t one) {
    if (status == cudaSuccess) status = one;
  };
  const auto wait = [&](const cuda::Stream& other) {
    if (other.stream != waiter.stream) note(cuda::wait_for_stream(waiter, other));
  };
  if (storage->home != nullptr) wait(storage->home->stream);
  for (const StreamState* user : storage->users) wait(user->stream);
  if (storage->home == nullptr) note(cuda::wait_for_device(waiter, storage->device));
  for (const int device : storage->foreign_users) note(cuda::wait_for_device(waiter, device));
  return status;
}

cudaError_t hold_users(cuda::Stream until, Storage* storage) {
  const std::lock_guard lock(storage->mutex);
  cudaError_t status = cudaSuccess;
  const auto hold = [&](const cuda::Stream& other) {
    if (other.stream == until.stream) return;
    const cudaError_t one = cuda::wait_for_stream(other, until);
    if (status == cudaSuccess) status = one;
  };
  if (storage->home != nullptr) hold(storage->home->stream);
  for (const StreamState* user : storage->users) hold(user->stream);
  return status;
}

namespace {

cudaError_t alloc(int32_t device, uint64_t size, cudaStream_t stream, Storage** storage,
                  void** data) {
  const auto status = allocate_storage(device, size, stream, false, storage);
  *data = *storage == nullptr ? nullptr : (*storage)->data;
  return status;
}

}  // namespace

const RuntimeApi kRuntimeApi{
    .bytes = sizeof(RuntimeApi),
    .retain = retain_storage,
    .release = release_storage,
    .record_use = record_use,
    .alloc = alloc,
    .parallel_for = parallel_for,
};

}  // namespace ww
