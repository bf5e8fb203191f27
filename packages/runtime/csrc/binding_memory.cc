// Bytes of storages: write, readSync, read, transfer.

#include "arguments.h"
#include "binding.h"
#include "capture.h"
#include "cpu_memory.h"
#include "host_copy.h"
#include "host_sink.h"
#include "mailbox.h"
#include "read_job.h"
#include "storage.h"

namespace ww {
namespace {

// Orders the memory's free behind what the stream is about to be given.
void use(Napi::Env env, const TensorHandle& handle, cuda::Stream stream, const char* op) {
  check(env, record_use(handle.storage, stream.stream), op);
}

// The arguments that write, readSync and read have in common, bounds checked.
struct HostTransfer {
  // `waits` for the device: refused in a capture, before the graph gets to know of the memory.
  HostTransfer(const Napi::CallbackInfo& info, const char* op, const char* array_name, bool waits)
      : handle(tensor_arg(info[0], op, "handle")),
        host(bytes_arg(info[2], op, array_name)),
        device_data(byte_range(info.Env(), handle, count_arg(info[1], op, "byteOffset"), host.size,
                               op, "handle")),
        stream(stream_arg(info[3], op, handle.device)) {
    if (handle.device == kCpu) return;
    if (waits) refuse_in_capture(info.Env(), op);
    if (host.size > 0) use(info.Env(), handle, stream, op);
  }

  const TensorHandle& handle;
  HostBytes host;
  void* device_data;
  cuda::Stream stream;
};

// write(handle, byteOffset, source, stream)
void write(const Napi::CallbackInfo& info) {
  const HostTransfer to(info, "write", "source", false);
  if (to.host.size == 0) return;
  if (to.handle.device == kCpu) {
    cpu_copy(to.device_data, to.host.data, to.host.size);
  } else if (const auto capture = capturing_on(to.stream.stream)) {
    check(info.Env(), capture->write(to.stream, to.device_data, to.host.data, to.host.size),
          "write");
  } else {
    check(info.Env(), upload(to.stream, to.device_data, to.host.data, to.host.size), "write");
  }
}

void read_now(const Napi::CallbackInfo& info, const HostTransfer& from, const char* op) {
  if (from.host.size == 0) return;
  if (from.handle.device == kCpu) {
    fill_host(from.host.data, from.device_data, from.host.size);
  } else {
    check(info.Env(), download(from.stream, from.host.data, from.device_data, from.host.size), op);
  }
}

// readSync(handle, byteOffset, into, stream)
void read_sync(const Napi::CallbackInfo& info) {
  read_now(info, HostTransfer(info, "readSync", "into", true), "readSync");
}

// read(handle, byteOffset, into, stream)
Napi::Value read(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const HostTransfer from(info, "read", "into", true);
  if (from.handle.device != kCpu && from.host.size > 0)
    return read_async(env, Mailbox::of(env), from.stream, from.device_data, info[2],
                      from.host.size);
  read_now(info, from, "read");
  return resolved_promise(env);
}

cudaError_t transfer_bytes(const TensorHandle& dst, void* to, const TensorHandle& src,
                           const void* from, size_t bytes, cuda::Stream stream) {
  if (src.device == kCpu) {
    const auto capture = capturing_on(stream.stream);
    return capture == nullptr ? upload(stream, to, from, bytes)
                              : capture->write(stream, to, from, bytes);
  }
  if (dst.device == kCpu) return download(stream, to, from, bytes);
  // The source's values come from streams of its own device, which nothing has ordered with ours.
  if (const auto status = wait_for_writers(stream, src.storage)) return status;
  if (const auto status = cuda::copy_from_peer(stream, to, from, src.device, bytes)) return status;
  // And what they do with it next, such as overwriting it, comes after the copy.
  return hold_writers(stream, src.storage);
}

// transfer(dst, dstByteOffset, src, srcByteOffset, bytes, stream)
void transfer(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "transfer";
  const TensorHandle& dst = tensor_arg(info[0], kOp, "dst");
  const TensorHandle& src = tensor_arg(info[2], kOp, "src");
  const int64_t bytes = count_arg(info[4], kOp, "bytes");
  void* to = byte_range(env, dst, count_arg(info[1], kOp, "dstByteOffset"), bytes, kOp, "dst");
  const void* from =
      byte_range(env, src, count_arg(info[3], kOp, "srcByteOffset"), bytes, kOp, "src");
  if (dst.device == src.device)
    throw device_error(env, expected(kOp) + "tensors of different devices");
  // Between GPUs the stream is one's alone.
  refuse_lost(env, src.device, kOp);
  const cuda::Stream stream =
      stream_arg(info[5], kOp, dst.device == kCpu ? src.device : dst.device);
  if (bytes == 0) return;
  // Between GPUs the streams of both would wait for each other, and so all be captured.
  if (src.device != kCpu) refuse_in_capture(env, kOp);
  if (dst.device != kCpu) use(env, dst, stream, kOp);
  if (src.device != kCpu) use(env, src, stream, kOp);
  check(env, transfer_bytes(dst, to, src, from, bytes, stream), kOp);
}

}  // namespace

void export_memory(Napi::Env env, Napi::Object exports) {
  exports.Set("write", Napi::Function::New<write>(env, "write"));
  exports.Set("readSync", Napi::Function::New<read_sync>(env, "readSync"));
  exports.Set("read", Napi::Function::New<read>(env, "read"));
  exports.Set("transfer", Napi::Function::New<transfer>(env, "transfer"));
}

}  // namespace ww
