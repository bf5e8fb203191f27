// Large copies go through a ring of pinned buffers: while the device's copy engine works on some,
// all threads copy between the next one and the caller's memory. One thread copies about 10 GB/s,
// the link moves 55. The driver's own way, for the rest, stages on one thread.
//
// The copying to a buffer uses ordinary stores: the ring fits in the last-level cache, where the
// copy engine reads it.

#include "host_copy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>

#include "cpu_memory.h"
#include "host_sink.h"
#include "staging.h"

namespace ww {
namespace {

// The driver takes about 15 us for this much, two threads and an event no more.
constexpr size_t kStagedBytes = size_t{256} << 10;
// Small copies in two or more parts, so that the second is staged while the first is under way.
constexpr size_t kMinChunkBytes = size_t{512} << 10;
// One buffer being filled, one on the link, and two that bridge a late wake-up of the threads.
constexpr size_t kUploadBuffers = 4;
// What the link moves while the threads make the pages of a fresh target.
constexpr size_t kDownloadBuffers = 8;

size_t chunk_bytes(size_t bytes) {
  return std::clamp(std::bit_ceil(bytes) / 4, kMinChunkBytes, kMaxStagingBytes);
}

// The copies to host memory that are under way, oldest first.
class Download {
 public:
  Download(cuda::Stream stream, void* dst, const void* src, size_t bytes)
      : stream_(stream),
        dst_(dst),
        src_(static_cast<const char*>(src)),
        bytes_(bytes),
        chunk_(chunk_bytes(bytes)) {}

  ~Download() {
    for (size_t i = 0; i < taken_; ++i) give_back_staging(ring_[i]);
  }

  // As many buffers as there are, at least one.
  cudaError_t start() {
    while (taken_ < kDownloadBuffers && enqueued_ < bytes_) {
      const auto status = take_staging(stream_.device, chunk_, &ring_[taken_]);
      if (status != cudaSuccess) return taken_ > 0 ? cudaSuccess : status;
      if (const auto copied = enqueue(ring_[taken_++])) return copied;
    }
    return cudaSuccess;
  }

  cudaError_t finish() {
    for (size_t i = 0, done = 0; done < bytes_; i = (i + 1) % taken_) {
      if (const auto status = cuda::synchronize_event(stream_.device, ring_[i]->ready))
        return status;
      const size_t size = std::min(chunk_, bytes_ - done);
      sink_.write(dst_, bytes_, done, ring_[i]->data, size);
      done += size;
      if (enqueued_ == bytes_) continue;
      if (const auto status = enqueue(ring_[i])) return status;
    }
    return cudaSuccess;
  }

 private:
  cudaError_t enqueue(Staging* staging) {
    const size_t size = std::min(chunk_, bytes_ - enqueued_);
    if (const auto status = cuda::copy_to_pinned(stream_, staging->data, src_ + enqueued_, size))
      return status;
    enqueued_ += size;
    return record_staging(staging, stream_);
  }

  cuda::Stream stream_;
  void* dst_;
  const char* src_;
  size_t bytes_;
  size_t chunk_;
  size_t enqueued_ = 0;
  size_t taken_ = 0;
  std::array<Staging*, kDownloadBuffers> ring_{};
  HostSink sink_;
};

}  // namespace

cudaError_t upload(cuda::Stream stream, void* dst, const void* src, size_t bytes) {
  auto* to = static_cast<char*>(dst);
  const auto* from = static_cast<const char*>(src);
  const size_t chunk = chunk_bytes(bytes);
  for (size_t done = 0; done < bytes;) {
    Staging* staging = nullptr;
    auto status = cudaErrorMemoryAllocation;
    if (bytes >= kStagedBytes) status = take_ring_staging(stream, chunk, kUploadBuffers, &staging);
    if (status == cudaErrorMemoryAllocation)
      return cuda::copy_from_host(stream, to + done, from + done, bytes - done);
    if (status != cudaSuccess) return status;
    const size_t size = std::min(chunk, bytes - done);
    cpu_copy(staging->data, from + done, size);
    status = cuda::copy_from_pinned(stream, to + done, staging->data, size);
    if (status == cudaSuccess) status = record_staging(staging, stream);
    give_back_staging(staging);
    if (status != cudaSuccess) return status;
    done += size;
  }
  return cudaSuccess;
}

cudaError_t download(cuda::Stream stream, void* dst, const void* src, size_t bytes) {
  if (bytes < kStagedBytes) return cuda::copy_to_host(stream, dst, src, bytes);
  Download download(stream, dst, src, bytes);
  const cudaError_t status = download.start();
  if (status == cudaErrorMemoryAllocation) return cuda::copy_to_host(stream, dst, src, bytes);
  return status == cudaSuccess ? download.finish() : status;
}

cudaError_t measure_link(int device, size_t bytes, bool to_device, double* microseconds) {
  Staging* staging = nullptr;
  if (const auto status = take_staging(device, kMaxStagingBytes, &staging)) return status;
  cuda::Stream stream{device, nullptr};
  void* data = nullptr;
  cudaError_t status = cuda::create_stream(device, 0, &stream.stream);
  if (status == cudaSuccess) status = cuda::allocate(stream, kMaxStagingBytes, &data);
  if (status == cudaSuccess) status = cuda::zero(stream, data, kMaxStagingBytes);
  if (status == cudaSuccess) status = cuda::synchronize(stream);
  const auto start = std::chrono::steady_clock::now();
  for (size_t done = 0; done < bytes && status == cudaSuccess; done += kMaxStagingBytes) {
    const size_t size = std::min(kMaxStagingBytes, bytes - done);
    status = to_device ? cuda::copy_from_pinned(stream, data, staging->data, size)
                       : cuda::copy_to_pinned(stream, staging->data, data, size);
  }
  if (status == cudaSuccess) status = cuda::synchronize(stream);
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
  *microseconds = taken.count();
  if (data != nullptr) cuda::free(stream, data);
  if (stream.stream != nullptr) {
    record_staging(staging, stream);
    cuda::destroy_stream(stream);
  }
  give_back_staging(staging);
  return status;
}

}  // namespace ww
