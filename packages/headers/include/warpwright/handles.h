// Unwrapping the type-tagged objects of tensor_handle.h.
#pragma once

#include <napi.h>

#include <string>

#include "warpwright/errors.h"
#include "warpwright/tensor_handle.h"

namespace ww {

// A tensor argument and its name for messages; the handle is null for an optional one left out.
struct TensorArg {
  const TensorHandle* handle;
  const char* name;
};

namespace detail {

// The struct behind an object with the tag, or null.
template <typename T>
T* tagged(const Napi::Value& value, const uint64_t (&tag)[2]) {
  napi_valuetype type;
  if (napi_typeof(value.Env(), value, &type) != napi_ok || type != napi_object) return nullptr;
  const napi_type_tag wanted{tag[0], tag[1]};
  bool matches = false;
  void* data = nullptr;
  if (napi_check_object_type_tag(value.Env(), value, &wanted, &matches) != napi_ok || !matches ||
      napi_unwrap(value.Env(), value, &data) != napi_ok)
    return nullptr;
  return static_cast<T*>(data);
}

template <typename T>
void check_version(Napi::Env env, const T& handle, const char* op) {
  if (handle.magic == kHandleMagic && handle.major == kHandleMajor && handle.minor >= kHandleMinor)
    return;
  throw load_error(env, std::string(op) + ": this addon takes handles of version " +
                            std::to_string(kHandleMajor) + "." + std::to_string(kHandleMinor) +
                            ", the runtime makes " + std::to_string(handle.major) + "." +
                            std::to_string(handle.minor) + "; update the older package");
}

}  // namespace detail

inline TensorArg unwrap_tensor(const Napi::Value& value, const char* op, const char* name) {
  const auto* handle = detail::tagged<TensorHandle>(value, kTensorTag);
  if (handle == nullptr)
    throw kind_error(value.Env(),
                     std::string(op) + ": expected " + name + " to be a tensor handle");
  detail::check_version(value.Env(), *handle, op);
  if (handle->storage == nullptr)
    throw disposed_error(value.Env(), std::string(op) + ": " + name + " has been disposed");
  return {handle, name};
}

inline const StreamHandle& unwrap_stream(const Napi::Value& value, const char* op) {
  const auto* handle = detail::tagged<StreamHandle>(value, kStreamTag);
  if (handle == nullptr)
    throw kind_error(value.Env(), std::string(op) + ": expected a stream handle");
  detail::check_version(value.Env(), *handle, op);
  if (handle->disposed)
    throw disposed_error(value.Env(), std::string(op) + ": the stream has been disposed");
  if (const char* cause = *handle->lost)
    throw device_lost_error(value.Env(), op, handle->device, cause);
  return *handle;
}

}  // namespace ww
