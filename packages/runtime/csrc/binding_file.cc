// Files and the link: readFile, measureLink.

#include "arguments.h"
#include "binding.h"
#include "file_read.h"
#include "host_copy.h"

namespace ww {
namespace {

// readFile(fd, fileOffset, handle, byteOffset, bytes, asBool, stream)
Napi::Value read_file_binding(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "readFile";
  const int fd = integer_arg(info[0], kOp, "fd", 0, INT32_MAX);
  const int64_t file_offset = count_arg(info[1], kOp, "fileOffset");
  const TensorHandle& handle = tensor_arg(info[2], kOp, "handle");
  const int64_t byte_offset = count_arg(info[3], kOp, "byteOffset");
  const int64_t bytes = count_arg(info[4], kOp, "bytes");
  void* data = byte_range(env, handle, byte_offset, bytes, kOp, "handle");
  const bool as_bool = boolean_arg(info[5], kOp, "asBool");
  refuse_in_capture(env, kOp);
  const cuda::Stream stream = stream_arg(info[6], kOp, handle.device);
  if (bytes > 0 && handle.stream != stream.stream)
    check(env, record_use(handle.storage, stream.stream), kOp);
  return read_file(env, Mailbox::of(env), {fd, file_offset, bytes},
                   {handle.storage, static_cast<char*>(data), as_bool}, stream);
}

// measureLink(device, bytes, toDevice)
Napi::Value measure_link_binding(const Napi::CallbackInfo& info) {
  constexpr char kOp[] = "measureLink";
  const int32_t device = cuda_device_arg(info[0], kOp);
  const int64_t bytes = count_arg(info[1], kOp, "bytes");
  const bool to_device = boolean_arg(info[2], kOp, "toDevice");
  double microseconds = 0;
  check(info.Env(), measure_link(device, bytes, to_device, &microseconds), kOp);
  return Napi::Number::New(info.Env(), microseconds);
}

}  // namespace

void export_files(Napi::Env env, Napi::Object exports) {
  exports.Set("readFile", Napi::Function::New<read_file_binding>(env, "readFile"));
  exports.Set("measureLink", Napi::Function::New<measure_link_binding>(env, "measureLink"));
}

}  // namespace ww
