// Storages and their bytes: allocate, share, dispose, pointer, write, readSync, read, transfer.

#include "arguments.h"
#include "binding.h"
#include "cpu_memory.h"
#include "host_copy.h"
#include "host_sink.h"
#include "mailbox.h"
#include "read_job.h"
#include "storage.h"

namespace ww {
namespace {

// V8 sees neither host nor device memory of tensors; without these numbers it would collect too
// late. Counted once for all handles of a storage.
void adjust_external(Napi::Env env, const Storage& storage, int sign) {
  int64_t total = 0;
  napi_adjust_external_memory(env, sign * static_cast<int64_t>(storage.bytes), &total);
}

void drop(Napi::Env env, TensorHandle& handle) {
  Storage* storage = handle.storage;
  if (storage == nullptr) return;
  handle.storage = nullptr;
  handle.data = nullptr;
  if (--storage->handles == 0) adjust_external(env, *storage, -1);
  release_storage(storage);
}

void finalize(napi_env env, void* data, void*) {
  auto* handle = static_cast<TensorHandle*>(data);
  drop(env, *handle);
  delete handle;
}

// Takes over one reference to the storage.
Napi::Value make_handle(Napi::Env env, Storage* storage) {
  auto* handle = new TensorHandle{
      .magic = kHandleMagic,
      .major = kHandleMajor,
      .minor = kHandleMinor,
      .device = storage->device,
      .reserved = 0,
      .data = storage->data,
      .bytes = storage->bytes,
      .storage = storage,
      .stream = storage->stream,
      .api = &kRuntimeApi,
  };
  if (storage->handles++ == 0) adjust_external(env, *storage, 1);
  const Napi::Object object = Napi::Object::New(env);
  if (napi_wrap(env, object, handle, finalize, nullptr, nullptr) != napi_ok) {
    finalize(env, handle, nullptr);
    throw Napi::Error::New(env);
  }
  const napi_type_tag tag{kTensorTag[0], kTensorTag[1]};
  if (napi_type_tag_object(env, object, &tag) != napi_ok) throw Napi::Error::New(env);
  return object;
}

// Orders the memory's free behind what the stream is about to be given.
void use(Napi::Env env, const TensorHandle& handle, cuda::Stream stream, const char* op) {
  if (handle.stream != stream.stream) check(env, record_use(handle.storage, stream.stream), op);
}

// Out of memory: V8, told of as much as is wanted, collects garbage, and it is tried once more.
// That frees what JavaScript's own arrays held. Tensors that were dropped go only when the event
// loop turns, since Node-API runs finalizers then.
cudaError_t allocate_or_collect(Napi::Env env, int32_t device, int64_t bytes, cudaStream_t stream,
                                bool zero, Storage** storage) {
  const cudaError_t status = allocate_storage(device, bytes, stream, zero, storage);
  if (status != cudaErrorMemoryAllocation) return status;
  int64_t total = 0;
  napi_adjust_external_memory(env, bytes, &total);
  napi_adjust_external_memory(env, -bytes, &total);
  return allocate_storage(device, bytes, stream, zero, storage);
}

// allocate(device, bytes, stream, zero, op)
Napi::Value allocate(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "allocate";
  const int32_t device = device_arg(info[0], kOp);
  const int64_t bytes = count_arg(info[1], kOp, "bytes");
  const cuda::Stream stream = stream_arg(info[2], kOp, device);
  const bool zero = boolean_arg(info[3], kOp, "zero");
  Storage* storage = nullptr;
  const cudaError_t status = allocate_or_collect(env, device, bytes, stream.stream, zero, &storage);
  if (status == cudaSuccess) return make_handle(env, storage);
  const std::string op = info[4].IsString() ? info[4].As<Napi::String>().Utf8Value() : kOp;
  if (device == kCpu)
    throw value_error(env, op + ": cannot allocate " + std::to_string(bytes) + " bytes");
  check(env, status, op.c_str());
  return env.Undefined();
}

// share(handle)
Napi::Value share(const Napi::CallbackInfo& info) {
  const TensorHandle& handle = tensor_arg(info[0], "share", "handle");
  retain_storage(handle.storage);
  return make_handle(info.Env(), handle.storage);
}

// dispose(handle)
void dispose(const Napi::CallbackInfo& info) {
  drop(info.Env(), any_tensor_arg(info[0], "dispose", "handle"));
}

// pointer(handle)
Napi::Value pointer(const Napi::CallbackInfo& info) {
  const TensorHandle& handle = tensor_arg(info[0], "pointer", "handle");
  return Napi::BigInt::New(info.Env(), reinterpret_cast<uint64_t>(handle.data));
}

// The arguments that write, readSync and read have in common, bounds checked.
struct HostTransfer {
  HostTransfer(const Napi::CallbackInfo& info, const char* op, const char* array_name)
      : handle(tensor_arg(info[0], op, "handle")),
        host(bytes_arg(info[2], op, array_name)),
        device_data(byte_range(info.Env(), handle, count_arg(info[1], op, "byteOffset"), host.size,
                               op, "handle")),
        stream(stream_arg(info[3], op, handle.device)) {
    if (host.size > 0 && handle.device != kCpu) use(info.Env(), handle, stream, op);
  }

  const TensorHandle& handle;
  HostBytes host;
  void* device_data;
  cuda::Stream stream;
};

// write(handle, byteOffset, source, stream)
void write(const Napi::CallbackInfo& info) {
  const HostTransfer to(info, "write", "source");
  if (to.host.size == 0) return;
  if (to.handle.device == kCpu) {
    cpu_copy(to.device_data, to.host.data, to.host.size);
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
  read_now(info, HostTransfer(info, "readSync", "into"), "readSync");
}

// read(handle, byteOffset, into, stream)
Napi::Value read(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const HostTransfer from(info, "read", "into");
  if (from.handle.device != kCpu && from.host.size > 0)
    return read_async(env, Mailbox::of(env), from.stream, from.device_data, info[2],
                      from.host.size);
  read_now(info, from, "read");
  const auto deferred = Napi::Promise::Deferred::New(env);
  deferred.Resolve(env.Undefined());
  return deferred.Promise();
}

cudaError_t transfer_bytes(const TensorHandle& dst, void* to, const TensorHandle& src,
                           const void* from, size_t bytes, cuda::Stream stream) {
  if (src.device == kCpu) return upload(stream, to, from, bytes);
  if (dst.device == kCpu) return download(stream, to, from, bytes);
  // The source's values come from streams of its own device, which nothing has ordered with ours.
  if (const auto status = wait_for_users(stream, src.storage)) return status;
  if (const auto status = cuda::copy_from_peer(stream, to, from, src.device, bytes)) return status;
  // And what they do with it next, such as overwriting it, comes after the copy.
  return hold_users(stream, src.storage);
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
  const cuda::Stream stream =
      stream_arg(info[5], kOp, dst.device == kCpu ? src.device : dst.device);
  if (bytes == 0) return;
  if (dst.device != kCpu) use(env, dst, stream, kOp);
  if (src.device != kCpu) use(env, src, stream, kOp);
  check(env, transfer_bytes(dst, to, src, from, bytes, stream), kOp);
}

}  // namespace

void export_memory(Napi::Env env, Napi::Object exports) {
  exports.Set("allocate", Napi::Function::New<allocate>(env, "allocate"));
  exports.Set("share", Napi::Function::New<share>(env, "share"));
  exports.Set("dispose", Napi::Function::New<dispose>(env, "dispose"));
  exports.Set("pointer", Napi::Function::New<pointer>(env, "pointer"));
  exports.Set("write", Napi::Function::New<write>(env, "write"));
  exports.Set("readSync", Napi::Function::New<read_sync>(env, "readSync"));
  exports.Set("read", Napi::Function::New<read>(env, "read"));
  exports.Set("transfer", Napi::Function::New<transfer>(env, "transfer"));
}

}  // namespace ww
