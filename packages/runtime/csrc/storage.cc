#include "storage.h"

#include <algorithm>

#include "capture.h"
#include "cpu_memory.h"
#include "lost_device.h"
#include "memory_owner.h"
#include "thread_pool.h"

namespace ww {
namespace {

cudaError_t allocate_on_cpu(Storage& storage, bool zero) {
  storage.data = cpu_allocate(storage.bytes, zero);
  return storage.data == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

// Only a stream of our own keeps blocks: another library's may be gone by the time they are freed.
bool take_kept(Storage& storage) {
  if (storage.stream() == nullptr) return false;
  const std::lock_guard lock(storage.home->mutex);
  storage.data = storage.home->freed.take(storage.bytes);
  return storage.data != nullptr;
}

// Whether the home stream keeps the block: where no other has used it, what is allocated there next
// comes after all that was done with it.
bool keep_for_next(Storage& storage) {
  if (storage.stream() == nullptr || !storage.users.empty() || !storage.unknown_users.empty())
    return false;
  const std::lock_guard lock(storage.home->mutex);
  return storage.home->freed.keep(storage.data, storage.bytes);
}

cudaError_t allocate_on_cuda(Storage& storage, cudaStream_t address, bool zero) {
  storage.home = home_stream_state(address);
  storage.unknown_home = storage.home == nullptr;
  if (storage.bytes == 0) return cudaSuccess;
  const cuda::Stream stream{storage.device, address};
  const uint64_t bytes = BlockCache::block_bytes(storage.bytes);
  auto status = take_kept(storage) ? cudaSuccess : cuda::allocate(stream, bytes, &storage.data);
  if (status == cudaErrorMemoryAllocation) {
    clear_block_caches(storage.device);
    // What is free already may be in pieces, or wait for work to end. A wait would break a capture.
    unless_capturing([&] { cuda::synchronize_device(storage.device); });
    cuda::trim(storage.device);
    status = cuda::allocate(stream, bytes, &storage.data);
  }
  if (status != cudaSuccess || !zero) return status;
  return cuda::zero(stream, storage.data, storage.bytes);
}

// One that cannot be waited for does not keep the others from being.
class FirstFailure {
 public:
  void note(cudaError_t status) {
    if (status_ == cudaSuccess) status_ = status;
  }
  cudaError_t status() const { return status_; }

 private:
  cudaError_t status_ = cudaSuccess;
};

// Makes `waiter` wait for everything that the storage's streams have been given so far.
cudaError_t wait_for_users(cuda::Stream waiter, Storage& storage) {
  const std::lock_guard lock(storage.mutex);
  FirstFailure failure;
  if (storage.home != nullptr) failure.note(wait_for_state(waiter, storage.home));
  for (StreamState* user : storage.users) failure.note(wait_for_state(waiter, user));
  if (storage.unknown_home) failure.note(cuda::wait_for_device(waiter, storage.device));
  for (const int device : storage.unknown_users)
    failure.note(cuda::wait_for_device(waiter, device));
  return failure.status();
}

// Waits until every stream that the storage was used on is idle. Whether that could be waited for.
bool finish_users(Storage& storage) {
  FirstFailure failure;
  failure.note(cuda::synchronize_device(storage.device));
  for (StreamState* user : storage.users) failure.note(synchronize_state(user));
  for (const int device : storage.unknown_users) failure.note(cuda::synchronize_device(device));
  return failure.status() == cudaSuccess;
}

// On its home stream, after the other streams' work. Where that is not the runtime's, its owner may
// have destroyed it since: then on a stream kept for this, which stalls nobody.
void free_on_cuda(Storage& storage) {
  if (storage.data == nullptr || keep_for_next(storage)) return;
  cuda::Stream stream{storage.device, storage.stream()};
  if (stream.stream == nullptr &&
      cuda::reclaim_stream(storage.device, &stream.stream) != cudaSuccess)
    return;
  // A wait fails where another library is capturing, where memory is short or a device is lost.
  // Then by waiting here, or not at all: memory that may be in use is left to the end of the
  // process.
  if (wait_for_users(stream, storage) == cudaSuccess || finish_users(storage))
    cuda::free(stream, storage.data);
}

// Its owner may free the memory once it is let go, so that is after all the work.
void let_owner_go(Storage& storage) {
  if (storage.users.empty() && storage.unknown_users.empty())
    return MemoryOwner::let_go(std::move(storage.owner));
  cuda::Stream stream{storage.device, nullptr};
  cuda::Event event = nullptr;
  FirstFailure failure;
  failure.note(cuda::reclaim_stream(stream.device, &stream.stream));
  if (stream.stream != nullptr) failure.note(wait_for_users(stream, storage));
  failure.note(cuda::create_event(stream.device, &event));
  if (failure.status() == cudaSuccess) failure.note(cuda::record_event(event, stream));
  if (failure.status() == cudaSuccess)
    return MemoryOwner::let_go_after(std::move(storage.owner), stream.device, event);
  if (event != nullptr) cuda::destroy_event(stream.device, event);
  finish_users(storage);
  MemoryOwner::let_go(std::move(storage.owner));
}

// Streams that are not known, by way of their device; an event behind all of its streams would
// break a capture on one of them.
cudaError_t wait_for_unknown(cuda::Stream waiter, int device) {
  cudaError_t status = cudaErrorStreamCaptureIsolation;
  unless_capturing([&] { status = cuda::wait_for_device(waiter, device); });
  return status;
}

void destroy(Storage* storage) {
  if (storage->owner != nullptr) {
    let_owner_go(*storage);
  } else if (storage->device != kCpu) {
    free_on_cuda(*storage);
  } else if (storage->data != nullptr) {
    cpu_free(storage->data, storage->bytes);
  }
  for (StreamState* user : storage->users) release_stream_state(user);
  if (storage->home != nullptr) release_home(storage->home);
  delete storage;
}

}  // namespace

cudaError_t allocate_storage(int32_t device, uint64_t bytes, cudaStream_t stream, bool zero,
                             Storage** result) {
  if (device != kCpu) {
    if (const auto capture = capturing_on(stream))
      return capture->allocate({device, stream}, bytes, zero, result);
  }
  auto* storage = new Storage{.device = device, .bytes = bytes};
  const auto status =
      device == kCpu ? allocate_on_cpu(*storage, zero) : allocate_on_cuda(*storage, stream, zero);
  *result = status == cudaSuccess ? storage : nullptr;
  if (status != cudaSuccess) release_storage(storage);
  return status;
}

Storage* wrap_memory(int32_t device, uint64_t bytes, void* data,
                     std::unique_ptr<MemoryOwner> owner) {
  return new Storage{.device = device, .bytes = bytes, .data = data, .owner = std::move(owner)};
}

void retain_storage(Storage* storage) {
  storage->references.fetch_add(1, std::memory_order_relaxed);
}

void release_storage(Storage* storage) {
  if (storage->references.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  if (storage->device == kCpu) {
    destroy(storage);
  } else {
    outside_captures([storage] { destroy(storage); });
  }
}

cudaError_t record_use(Storage* storage, cudaStream_t stream) {
  if (storage->device == kCpu || storage->data == nullptr) return cudaSuccess;
  if (const auto capture = capturing_on(stream)) {
    capture->keep(storage, stream);
    return cudaSuccess;
  }
  if (stream == storage->stream()) return cudaSuccess;
  StreamState* user = find_stream_state(stream);
  const std::lock_guard lock(storage->mutex);
  const bool known =
      user != nullptr &&
      (user == storage->home || std::ranges::find(storage->users, user) != storage->users.end());
  if (known) {
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
  if (status == cudaSuccess && storage->home != nullptr)
    status = wait_for_state(waiter, storage->home);
  if (status == cudaSuccess && storage->unknown_home)
    status = wait_for_unknown(waiter, storage->device);
  if (status != cudaSuccess) {
    if (user != nullptr) release_stream_state(user);
    return status;
  }
  if (user != nullptr) {
    // A stream for every request would make the list of long-lived weights grow for ever.
    forget_finished(storage->users);
    storage->users.push_back(user);
  } else if (std::ranges::find(storage->unknown_users, waiter.device) ==
             storage->unknown_users.end()) {
    storage->unknown_users.push_back(waiter.device);
  }
  return cudaSuccess;
}

cudaError_t wait_for_writers(cuda::Stream waiter, Storage* storage) {
  const std::lock_guard lock(storage->mutex);
  FirstFailure failure;
  if (storage->home != nullptr) failure.note(wait_for_state(waiter, storage->home));
  for (StreamState* user : storage->users)
    if (user->stream.device == storage->device) failure.note(wait_for_state(waiter, user));
  if (storage->unknown_home || !storage->unknown_users.empty())
    failure.note(wait_for_unknown(waiter, storage->device));
  return failure.status();
}

cudaError_t hold_writers(cuda::Stream until, Storage* storage) {
  const std::lock_guard lock(storage->mutex);
  FirstFailure failure;
  const auto hold = [&](StreamState* state) {
    const std::lock_guard state_lock(state->mutex);
    const bool other = !state->retired && !state->gone && state->stream.stream != until.stream;
    if (!other || state->stream.device != storage->device) return;
    failure.note(state->capturing ? cudaErrorStreamCaptureIsolation
                                  : cuda::wait_for_stream(state->stream, until));
  };
  if (storage->home != nullptr) hold(storage->home);
  for (StreamState* user : storage->users) hold(user);
  return failure.status();
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
    .report = report_status,
};

}  // namespace ww
