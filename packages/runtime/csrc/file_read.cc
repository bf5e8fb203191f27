// A file is read in chunks by several threads at once: straight into a tensor's memory on the CPU,
// else into pinned buffers that the copy engine empties while others are filled. The copies run on
// a stream of the device's own, so that they overlap with what the caller's does and no capture
// sees them.

#include "file_read.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>

#include "arguments.h"
#include "completion.h"
#include "io_threads.h"
#include "staging.h"

namespace ww {
namespace {

constexpr char kOp[] = "readFile";
constexpr size_t kChunkBytes = kMaxStagingBytes;
// On the link at once. As many again are being filled on a large machine.
constexpr size_t kBuffers = 8;
constexpr int kEndOfFile = -1;

// 0, an errno, or kEndOfFile.
int read_fully(int fd, int64_t offset, char* into, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t count = pread(fd, into + done, bytes - done, offset + static_cast<int64_t>(done));
    if (count == 0) return kEndOfFile;
    if (count > 0) {
      done += count;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

Napi::Error file_error(Napi::Env env, int error) {
  const bool ended = error == kEndOfFile;
  const std::string reason = ended ? "the file is cut off" : "error " + std::to_string(error);
  auto result = detail::coded_error<Napi::Error>(env, "ERR_FILE", "readFile: " + reason);
  result.Set("errno", static_cast<double>(ended ? 0 : -error));
  return result;
}

// Made on first use, never destroyed.
cudaError_t copy_stream(int device, cudaStream_t* stream) {
  static auto& mutex = *new std::mutex;
  static auto& streams = *new std::unordered_map<int, cudaStream_t>;
  const std::lock_guard lock(mutex);
  const auto found = streams.find(device);
  if (found == streams.end()) {
    if (const auto status = cuda::create_stream(device, 0, stream)) return status;
    streams[device] = *stream;
  } else {
    *stream = found->second;
  }
  return cudaSuccess;
}

// Belongs to its chunks until the last of them is done, which hands it on.
class FileRead : public Job {
 public:
  FileRead(std::shared_ptr<Mailbox> mailbox, const FileSpan& file, const FileTarget& target)
      : Job(std::move(mailbox), kOp), file_(file), target_(target) {
    file_.fd = -1;
    retain_storage(target_.storage);
  }

  // The memory stays until no copy to it is under way, also if the environment has ended.
  ~FileRead() override {
    if (done_ != nullptr) {
      cuda::synchronize_event(stream_.device, done_);
      cuda::destroy_event(stream_.device, done_);
    }
    if (file_.fd >= 0) close(file_.fd);
    release_storage(target_.storage);
  }

  // 0 or an errno. A descriptor of our own: JavaScript's is closed when its environment ends.
  int open(int fd) {
    file_.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return file_.fd < 0 ? errno : 0;
  }

  cudaError_t prepare(cuda::Stream stream) {
    stream_.device = stream.device;
    if (const auto status = copy_stream(stream.device, &stream_.stream)) return status;
    if (const auto status = cuda::wait_for_stream(stream_, stream)) return status;
    return cuda::create_event(stream_.device, &done_);
  }

  // Afterwards the job is gone or somebody else's.
  void read_chunks() {
    const int64_t bytes = file_.bytes;
    remaining_ = (bytes - 1) / static_cast<int64_t>(kChunkBytes) + 1;
    for (int64_t begin = 0; begin < bytes; begin += kChunkBytes)
      run_on_io_thread([this, begin] { read_chunk(begin); });
  }

  cudaError_t poll(bool& reached) override {
    const auto status = static_cast<cudaError_t>(cuda_status_.load());
    if (status != cudaSuccess) return status;
    return cuda::query_event(stream_.device, done_, reached);
  }

 protected:
  bool advance(Napi::Env env) override {
    if (error_ != 0) throw file_error(env, error_);
    return true;
  }

 private:
  bool on_cpu() const { return done_ == nullptr; }

  void read_chunk(int64_t begin) {
    // After a failure, or for an environment that has ended, nobody wants the rest.
    if (error_ == 0 && cuda_status_ == cudaSuccess && !mailbox()->closed()) {
      const size_t size = std::min<int64_t>(kChunkBytes, file_.bytes - begin);
      if (on_cpu()) {
        fill(target_.data + begin, begin, size);
      } else {
        note(cuda_status_, load(begin, size));
      }
    }
    if (remaining_.fetch_sub(1) == 1) hand_on();
  }

  // The first failure counts.
  static void note(std::atomic<int>& kept, int status) {
    int none = 0;
    if (status != 0) kept.compare_exchange_strong(none, status);
  }

  bool fill(char* into, int64_t begin, size_t size) {
    const int error = read_fully(file_.fd, file_.offset + begin, into, size);
    note(error_, error);
    if (target_.as_bool) std::transform(into, into + size, into, [](char c) { return c != 0; });
    return error == 0;
  }

  cudaError_t load(int64_t begin, size_t size) {
    Staging* staging = nullptr;
    cudaError_t status =
        take_ring_staging(stream_, std::min<size_t>(file_.bytes, kChunkBytes), kBuffers, &staging);
    if (status == cudaErrorMemoryAllocation) return load_pageable(begin, size);
    if (status != cudaSuccess) return status;
    if (fill(static_cast<char*>(staging->data), begin, size)) {
      status = cuda::copy_from_pinned(stream_, target_.data + begin, staging->data, size);
      if (status == cudaSuccess) status = record_staging(staging, stream_);
    }
    give_back_staging(staging);
    return status;
  }

  // Where pinned memory is not to be had.
  cudaError_t load_pageable(int64_t begin, size_t size) {
    const std::unique_ptr<char[]> buffer(new (std::nothrow) char[size]);
    if (buffer == nullptr) return cudaErrorMemoryAllocation;
    if (!fill(buffer.get(), begin, size)) return cudaSuccess;
    return cuda::copy_from_host(stream_, target_.data + begin, buffer.get(), size);
  }

  // The copies of all chunks have been enqueued.
  void hand_on() {
    if (on_cpu()) {
      deliver(std::unique_ptr<Job>(this));
    } else {
      const cudaError_t status = cuda::record_event(done_, stream_);
      if (status != cudaSuccess) cuda::synchronize(stream_);
      note(cuda_status_, status);
      watch(std::unique_ptr<Job>(this));
    }
  }

  FileSpan file_;
  FileTarget target_;
  cuda::Stream stream_{};
  cuda::Event done_ = nullptr;  // null on the CPU
  std::atomic<int64_t> remaining_{0};
  std::atomic<int> error_{0};
  std::atomic<int> cuda_status_{cudaSuccess};
};

}  // namespace

Napi::Value read_file(Napi::Env env, const std::shared_ptr<Mailbox>& mailbox, const FileSpan& file,
                      const FileTarget& target, cuda::Stream stream) {
  if (file.bytes == 0) return resolved_promise(env);
  auto job = std::make_unique<FileRead>(mailbox, file, target);
  if (const int error = job->open(file.fd)) throw file_error(env, error);
  const bool on_cpu = target.storage->device == kCpu;
  if (!on_cpu) {
    check(env, job->prepare(stream), kOp);
    park_io_threads_before_cuda();
  }
  const Napi::Value promise = job->promise(env, /*watched=*/!on_cpu);
  job.release()->read_chunks();
  return promise;
}

}  // namespace ww
