#include "arguments.h"

#include <cmath>

#include "capture.h"
#include "lost_device.h"

namespace ww {

std::string expected(const char* op) { return std::string(op) + ": expected "; }

void check(Napi::Env env, cudaError_t status, const char* op) {
  if (status == cudaSuccess) return;
  const std::string message = std::string(op) + ": " + cuda::error_text(status);
  if (detail::is_capture_status(status)) throw capture_error(env, message);
  throw cuda_error(env, cuda::error_name(status), message);
}

Napi::Value resolved_promise(Napi::Env env) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  deferred.Resolve(env.Undefined());
  return deferred.Promise();
}

void refuse_in_capture(Napi::Env env, const char* op) {
  if (Capture::current() != nullptr)
    throw capture_error(env, std::string(op) + ": cannot wait for a device during a capture");
}

void refuse_lost(Napi::Env env, int32_t device, const char* op) {
  if (device == kCpu) return;
  if (const char* cause = lost_cause(device)) throw device_lost_error(env, op, device, cause);
}

namespace {

double number_arg(const Napi::Value& value, const char* op, const char* name) {
  if (!value.IsNumber()) throw kind_error(value.Env(), expected(op) + name + " to be a number");
  return value.As<Napi::Number>().DoubleValue();
}

}  // namespace

int64_t count_arg(const Napi::Value& value, const char* op, const char* name) {
  constexpr double kLimit = 9007199254740992.0;  // 2^53
  const double number = number_arg(value, op, name);
  if (!(number >= 0 && number < kLimit) || number != std::floor(number))
    throw value_error(value.Env(), expected(op) + name + " to be a non-negative integer");
  return static_cast<int64_t>(number);
}

int integer_arg(const Napi::Value& value, const char* op, const char* name, int low, int high) {
  const double number = number_arg(value, op, name);
  if (!(number >= low && number <= high) || number != std::floor(number))
    throw value_error(value.Env(), expected(op) + name + " to be an integer from " +
                                       std::to_string(low) + " to " + std::to_string(high));
  return static_cast<int>(number);
}

bool boolean_arg(const Napi::Value& value, const char* op, const char* name) {
  if (!value.IsBoolean()) throw kind_error(value.Env(), expected(op) + name + " to be a boolean");
  return value.As<Napi::Boolean>().Value();
}

uint64_t uint64_arg(const Napi::Value& value, const char* op, const char* name) {
  if (!value.IsBigInt()) throw kind_error(value.Env(), expected(op) + name + " to be a bigint");
  bool lossless = false;
  const uint64_t bits = value.As<Napi::BigInt>().Uint64Value(&lossless);
  if (!lossless)
    throw value_error(value.Env(), expected(op) + name + " to be a bigint from 0 to 2^64 - 1");
  return bits;
}

HostBytes bytes_arg(const Napi::Value& value, const char* op, const char* name) {
  napi_typedarray_type type;
  size_t length = 0;
  void* data = nullptr;
  if (!value.IsTypedArray() ||
      napi_get_typedarray_info(value.Env(), value, &type, &length, &data, nullptr, nullptr) !=
          napi_ok ||
      type != napi_uint8_array)
    throw kind_error(value.Env(), expected(op) + name + " to be a Uint8Array");
  return {static_cast<uint8_t*>(data), data == nullptr ? 0 : length};
}

int32_t device_arg(const Napi::Value& value, const char* op) {
  const int device = integer_arg(value, op, "device", kCpu, INT32_MAX);
  if (device == kCpu) return device;
  int count = 0;
  check(value.Env(), cuda::device_count(count), op);
  if (device >= count || device >= cuda::kMaxDevices)
    throw device_error(value.Env(), std::string(op) +
                                        ": there is no device cuda:" + std::to_string(device) +
                                        ", this machine has " + std::to_string(count));
  return device;
}

int32_t cuda_device_arg(const Napi::Value& value, const char* op) {
  const int32_t device = device_arg(value, op);
  if (device == kCpu) throw device_error(value.Env(), expected(op) + "a CUDA device");
  refuse_lost(value.Env(), device, op);
  return device;
}

cuda::Stream stream_arg(const Napi::Value& value, const char* op, int32_t device) {
  if (device == kCpu) return {kCpu, nullptr};
  const StreamHandle& handle = unwrap_stream(value, op);
  if (handle.device != device)
    throw device_error(value.Env(), expected(op) + "a stream of cuda:" + std::to_string(device) +
                                        ", got one of cuda:" + std::to_string(handle.device));
  return usable_stream(value.Env(), handle, op);
}

cuda::Stream usable_stream(Napi::Env env, const StreamHandle& handle, const char* op) {
  if (*handle.capturing != 0 &&
      (Capture::current() == nullptr || capturing_on(handle.stream) != Capture::current()))
    throw capture_error(env, std::string(op) + ": another thread is capturing the stream");
  return {handle.device, handle.stream};
}

TensorHandle& any_tensor_arg(const Napi::Value& value, const char* op, const char* name) {
  auto* handle = detail::tagged<TensorHandle>(value, kTensorTag);
  if (handle == nullptr)
    throw kind_error(value.Env(), expected(op) + name + " to be a tensor handle");
  detail::check_version(value.Env(), *handle, op);
  if (handle->api != &kRuntimeApi)
    throw kind_error(value.Env(),
                     std::string(op) + ": " + name +
                         " belongs to another copy of @warpwright/runtime in this process");
  return *handle;
}

const TensorHandle& tensor_arg(const Napi::Value& value, const char* op, const char* name) {
  const TensorHandle& handle = any_tensor_arg(value, op, name);
  if (handle.storage == nullptr)
    throw disposed_error(value.Env(), std::string(op) + ": " + name + " has been disposed");
  return handle;
}

void* byte_range(Napi::Env env, const TensorHandle& handle, int64_t offset, uint64_t size,
                 const char* op, const char* name) {
  const auto begin = static_cast<uint64_t>(offset);
  if (begin > handle.bytes || size > handle.bytes - begin)
    throw shape_error(env, std::string(op) + ": " + name + " has " + std::to_string(handle.bytes) +
                               " bytes, which leaves no " + std::to_string(size) + " from byte " +
                               std::to_string(offset) + " on");
  return static_cast<char*>(handle.data) + offset;
}

}  // namespace ww
