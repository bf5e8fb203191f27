// Small reads go through one pinned buffer, filled in order on the caller's stream. Large ones take
// a copy on the device first, which then leaves chunk by chunk through a ring of pinned buffers on
// a stream of its own, while the caller's stream goes on.
//
// The array is written in turns of the JavaScript thread alone, by all threads of the pool: between
// two turns a program may detach or shrink any ArrayBuffer, and nothing in Node-API can prevent
// that.

#include "read_job.h"

#include <algorithm>
#include <vector>

#include "arguments.h"
#include "completion.h"
#include "host_sink.h"
#include "staging.h"

namespace ww {
namespace {

constexpr char kOp[] = "read";
constexpr size_t kSmallBytes = size_t{4} << 20;
constexpr size_t kChunkBytes = kMaxStagingBytes;
// 600 us of the link's work at 55 GB/s: until a turn comes, and while it makes a fresh array's
// pages.
constexpr size_t kChunksInFlight = 8;
// With fewer the link would wait for every turn.
constexpr size_t kMinChunksInFlight = 2;
// Many reads at once share the link, which needs no more than this from all of them together.
constexpr size_t kPlentyBytes = size_t{64} << 20;

class ReadJob : public Job {
 public:
  ReadJob(std::shared_ptr<Mailbox> mailbox, size_t bytes)
      : Job(std::move(mailbox), kOp), bytes_(bytes) {}

  ~ReadJob() override {
    for (Staging* staging : ring_) give_back_staging(staging);
    if (snapshot_ != nullptr) cuda::free(stream_, snapshot_);
    if (own_stream_) cuda::destroy_stream(stream_);
  }

  // The first copies; the rest follow as buffers become free.
  cudaError_t enqueue(cuda::Stream stream, const void* src) {
    stream_ = stream;
    src_ = static_cast<const char*>(src);
    if (bytes_ > kSmallBytes) {
      if (const auto status = take_snapshot()) return status;
    }
    while (enqueued_ < bytes_ && wants_buffer()) {
      Staging* staging = nullptr;
      const size_t size = std::min(bytes_, kChunkBytes);
      const auto status = take_staging(stream_.device, size, &staging);
      if (status == cudaErrorMemoryAllocation && !ring_.empty()) break;
      if (status != cudaSuccess) return status;
      ring_.push_back(staging);
      if (const auto copied = enqueue_chunk(staging)) return copied;
    }
    return cudaSuccess;
  }

  void keep(Napi::Env env, const Napi::Value& into) {
    if (napi_create_reference(env, into, 1, &into_) != napi_ok) throw Napi::Error::New(env);
  }

  cudaError_t poll(bool& reached) override {
    return cuda::query_event(stream_.device, current()->ready, reached);
  }

 protected:
  bool advance(Napi::Env env) override {
    napi_value into = nullptr;
    napi_get_reference_value(env, into_, &into);
    const HostBytes target = bytes_arg(Napi::Value(env, into), kOp, "into");
    if (target.size < bytes_)
      throw value_error(env, "read: into was detached or shrunk before it was filled");
    // What has arrived meanwhile too, but no more than one round: others want the turn as well.
    for (size_t i = 0; i < ring_.size() && done_ < bytes_; ++i) {
      bool arrived = true;
      if (i > 0) check(env, poll(arrived), kOp);
      if (!arrived) break;
      Staging* staging = current();
      const size_t size = std::min(kChunkBytes, bytes_ - done_);
      sink_.write(target.data, bytes_, done_, staging->data, size);
      done_ += size;
      if (enqueued_ < bytes_) check(env, enqueue_chunk(staging), kOp);
    }
    return done_ == bytes_;
  }

  void finish(Napi::Env env) override { napi_delete_reference(env, into_); }

 private:
  Staging* current() { return ring_[done_ / kChunkBytes % ring_.size()]; }

  bool wants_buffer() const {
    if (ring_.size() < kMinChunksInFlight) return true;
    return ring_.size() < kChunksInFlight && taken_staging_bytes() < kPlentyBytes;
  }

  // Afterwards stream_ is a stream of our own, ordered behind the copy.
  cudaError_t take_snapshot() {
    void* snapshot = nullptr;
    if (const auto status = cuda::allocate(stream_, bytes_, &snapshot)) return status;
    cuda::Stream own{stream_.device, nullptr};
    cudaError_t status = cuda::copy_on_device(stream_, snapshot, src_, bytes_);
    if (status == cudaSuccess) status = cuda::create_stream(own.device, 0, &own.stream);
    if (status != cudaSuccess) {
      cuda::free(stream_, snapshot);
      return status;
    }
    status = cuda::wait_for_stream(own, stream_);
    if (status != cudaSuccess) {
      cuda::free(stream_, snapshot);  // the two streams are not ordered: the copy is on the first
      cuda::destroy_stream(own);
      return status;
    }
    snapshot_ = snapshot;
    src_ = static_cast<const char*>(snapshot);
    stream_ = own;
    own_stream_ = true;
    return cudaSuccess;
  }

  cudaError_t enqueue_chunk(Staging* staging) {
    const size_t size = std::min(kChunkBytes, bytes_ - enqueued_);
    if (const auto status = cuda::copy_to_pinned(stream_, staging->data, src_ + enqueued_, size))
      return status;
    enqueued_ += size;
    return record_staging(staging, stream_);
  }

  size_t bytes_;
  size_t enqueued_ = 0;
  size_t done_ = 0;
  cuda::Stream stream_{};
  bool own_stream_ = false;
  void* snapshot_ = nullptr;
  const char* src_ = nullptr;
  std::vector<Staging*> ring_;
  HostSink sink_;
  napi_ref into_ = nullptr;
};

}  // namespace

Napi::Value read_async(Napi::Env env, const std::shared_ptr<Mailbox>& mailbox, cuda::Stream stream,
                       const void* src, const Napi::Value& into, size_t bytes) {
  if (bytes == 0) return resolved_promise(env);
  auto job = std::make_unique<ReadJob>(mailbox, bytes);
  const cudaError_t status = job->enqueue(stream, src);
  if (status == cudaErrorMemoryAllocation) {
    // No room for a snapshot or a pinned buffer: slower, but it needs none.
    job.reset();
    check(env, cuda::copy_to_host(stream, bytes_arg(into, kOp, "into").data, src, bytes), kOp);
    return resolved_promise(env);
  }
  check(env, status, kOp);
  job->keep(env, into);
  return Job::start(env, std::move(job));
}

}  // namespace ww
