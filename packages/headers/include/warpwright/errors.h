// The errors that JavaScript sees: built-in classes with a `code`, and one sentence.
#pragma once

#include <napi.h>

#include <string>

#include "warpwright/cuda_types.h"

namespace ww {

namespace detail {

template <typename ErrorClass>
ErrorClass coded_error(Napi::Env env, const char* code, const std::string& message) {
  ErrorClass error = ErrorClass::New(env, message);
  error.Set("code", Napi::String::New(env, code));
  return error;
}

}  // namespace detail

inline Napi::TypeError kind_error(Napi::Env env, const std::string& message) {
  return detail::coded_error<Napi::TypeError>(env, "ERR_KIND", message);
}

inline Napi::TypeError dtype_error(Napi::Env env, const std::string& message) {
  return detail::coded_error<Napi::TypeError>(env, "ERR_DTYPE", message);
}

inline Napi::RangeError shape_error(Napi::Env env, const std::string& message) {
  return detail::coded_error<Napi::RangeError>(env, "ERR_SHAPE", message);
}

inline Napi::RangeError value_error(Napi::Env env, const std::string& message) {
  return detail::coded_error<Napi::RangeError>(env, "ERR_VALUE", message);
}

inline Napi::RangeError overlap_error(Napi::Env env, const std::string& message) {
  return detail::coded_error<Napi::RangeError>(env, "ERR_OVERLAP", message);
}

inline Napi::Error device_error(Napi::Env env, const std::string& message) {
  return detail::coded_error<Napi::Error>(env, "ERR_DEVICE", message);
}

inline Napi::Error disposed_error(Napi::Env env, const std::string& message) {
  return detail::coded_error<Napi::Error>(env, "ERR_DISPOSED", message);
}

inline Napi::Error unsupported_error(Napi::Env env, const std::string& message) {
  return detail::coded_error<Napi::Error>(env, "ERR_UNSUPPORTED", message);
}

inline Napi::Error capture_error(Napi::Env env, const std::string& message) {
  return detail::coded_error<Napi::Error>(env, "ERR_CAPTURE", message);
}

// `cause` is the first error, which left the device unusable until the process ends.
inline Napi::Error device_lost_error(Napi::Env env, const std::string& op, int device,
                                     const char* cause) {
  return detail::coded_error<Napi::Error>(
      env, "ERR_DEVICE_LOST",
      op + ": cuda:" + std::to_string(device) + " was lost to an earlier error, " + cause);
}

inline Napi::Error load_error(Napi::Env env, const std::string& message) {
  return detail::coded_error<Napi::Error>(env, "ERR_LOAD", message);
}

// A failed CUDA call: name "CudaError", code the CUDA error's name.
inline Napi::Error cuda_error(Napi::Env env, const char* name, const std::string& message) {
  Napi::Error error = detail::coded_error<Napi::Error>(env, name, message);
  error.Set("name", Napi::String::New(env, "CudaError"));
  return error;
}

namespace detail {

// CUDA's errors of stream capture, one after the other.
inline bool is_capture_status(cudaError_t status) {
  constexpr int kFirst = 900;
  constexpr int kLast = 908;
  return static_cast<int>(status) >= kFirst && static_cast<int>(status) <= kLast;
}

}  // namespace detail

#if WARPWRIGHT_WITH_CUDA
// Throws for any status but cudaSuccess. The error is not left for the next call to find.
inline void check_cuda(Napi::Env env, cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  std::string message = std::string(what) + ": " + cudaGetErrorString(status);
  const bool no_code =
      status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction;
  if (detail::is_capture_status(status)) throw capture_error(env, message);
  if (no_code) message += "; this addon has code for the architectures " WARPWRIGHT_BUILT_FOR;
  throw cuda_error(env, cudaGetErrorName(status), message);
}
#endif

}  // namespace ww
