// From a JavaScript call to checked C++ values, for a kernel's binding. TypeScript has validated
// already; this layer makes sure that no call whatever, forged or stale handles included, can read
// or write outside a tensor's memory.
#pragma once

#include <napi.h>

#include <string>

#include "warpwright/cpu.h"
#include "warpwright/device_guard.h"
#include "warpwright/dtype.h"
#include "warpwright/errors.h"
#include "warpwright/geometry.h"
#include "warpwright/handles.h"

namespace ww {

// The arguments of one native call, read in their documented order. All tensors must be on the
// first one's device.
class Arguments {
 public:
  // `op` begins every message, and must be a literal.
  Arguments(const Napi::CallbackInfo& info, const char* op) : info_(info), op_(op) {}

  TensorArg tensor(const char* name) {
    const TensorArg arg = unwrap_tensor(info_[index_++], op_, name);
    if (num_tensors_ == 0) {
      first_ = arg;
    } else if (arg.handle->device != first_.handle->device) {
      throw device_error(info_.Env(), std::string(op_) + ": expected " + name +
                                          " on the device of " + first_.name);
    }
    if (num_tensors_ == kMaxTensors)
      throw kind_error(info_.Env(), std::string(op_) + ": too many tensors in one call");
    tensors_[num_tensors_++] = arg.handle;
    return arg;
  }

  // A null handle for null or undefined.
  TensorArg optional_tensor(const char* name) {
    const Napi::Value value = info_[index_];
    if (!value.IsNull() && !value.IsUndefined()) return tensor(name);
    ++index_;
    return {nullptr, name};
  }

  // The stream for CUDA tensors; null for tensors on the CPU. Comes after the tensors, of which
  // there is at least one.
  cudaStream_t stream() {
    const Napi::Value value = info_[index_++];
    if (first_.handle->device == kCpu) return stream_ = nullptr;
    const StreamHandle& handle = unwrap_stream(value, op_);
    if (handle.device != first_.handle->device)
      throw device_error(info_.Env(),
                         std::string(op_) + ": expected a stream of the tensors' device");
    capturing_ = *handle.capturing != 0;
    return stream_ = handle.stream;
  }

  Geometry geometry() { return Geometry(info_[index_++], op_); }

  double number(const char* name) {
    const Napi::Value value = info_[index_++];
    if (!value.IsNumber())
      throw kind_error(info_.Env(), std::string(op_) + ": expected " + name + " to be a number");
    return value.As<Napi::Number>().DoubleValue();
  }

  // An integer in [0, limit).
  int integer(const char* name, int limit) {
    const double value = number(name);
    if (!(value >= 0 && value < limit) || value != static_cast<int>(value))
      throw value_error(info_.Env(), std::string(op_) + ": expected " + name +
                                         " to be an integer below " + std::to_string(limit));
    return static_cast<int>(value);
  }

  // An integer of either sign that a number holds exactly: below 2^53.
  int64_t signed_integer(const char* name) {
    constexpr double kLimit = 9007199254740992.0;
    const double value = number(name);
    if (!(value > -kLimit && value < kLimit) ||
        value != static_cast<double>(static_cast<int64_t>(value)))
      throw value_error(info_.Env(),
                        std::string(op_) + ": expected " + name + " to be an integer below 2^53");
    return static_cast<int64_t>(value);
  }

  // Both given or both left out.
  void require_pair(const TensorArg& a, const TensorArg& b) {
    if ((a.handle == nullptr) != (b.handle == nullptr))
      throw kind_error(info_.Env(), std::string(op_) + ": expected both " + a.name + " and " +
                                        b.name + ", or neither");
  }

  // Not both left out.
  void require_one(const TensorArg& a, const TensorArg& b) {
    if (a.handle == nullptr && b.handle == nullptr)
      throw kind_error(info_.Env(), std::string(op_) + ": expected " + a.name + " or " + b.name);
  }

  // float32, float16 or bfloat16.
  Dtype float_dtype(const char* name) { return static_cast<Dtype>(integer(name, 3)); }

  // That of a parameter which all rows share: `dtype` or float32, if it is given at all.
  Dtype param_dtype(const char* name, const TensorArg& param, Dtype dtype) {
    const Dtype found = float_dtype(name);
    if (param.handle != nullptr && found != dtype && found != Dtype::f32)
      throw value_error(info_.Env(),
                        std::string(op_) + ": expected " + name + " to be dtype or float32");
    return found;
  }

  // Runs on_cpu(pool) or on_cuda(stream), by the tensors' device; both return a cudaError_t. In an
  // addon without CUDA on_cuda is never instantiated, so its launcher need not exist.
  template <typename OnCpu, typename OnCuda>
  void run(OnCpu&& on_cpu, OnCuda&& on_cuda) {
    if (first_.handle->device == kCpu) {
      const cudaError_t status = on_cpu(ThreadPool(first_.handle->api->parallel_for));
      if (status != cudaSuccess)
        throw unsupported_error(info_.Env(),
                                std::string(op_) + ": the CPU backend refused the call");
      return;
    }
    if constexpr (kWithCuda) {
      run_cuda(on_cuda);
    } else {
      throw device_error(info_.Env(), std::string(op_) + ": this addon was built without CUDA");
    }
  }

 private:
  static constexpr int kMaxTensors = 16;

  template <typename OnCuda>
  void run_cuda(OnCuda&& on_cuda) {
#if WARPWRIGHT_WITH_CUDA
    const DeviceGuard guard(first_.handle->device);
    check(guard.status());
    for (int i = 0; i < num_tensors_; ++i) {
      if (tensors_[i]->stream == stream_ && !capturing_) continue;
      check(tensors_[i]->api->record_use(tensors_[i]->storage, stream_));
    }
    check(on_cuda(stream_));
#endif
  }

#if WARPWRIGHT_WITH_CUDA
  void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    first_.handle->api->report(first_.handle->device, status);
    check_cuda(info_.Env(), status, op_);
  }
#endif

  const Napi::CallbackInfo& info_;
  const char* op_;
  int index_ = 0;
  TensorArg first_{nullptr, ""};
  const TensorHandle* tensors_[kMaxTensors];
  int num_tensors_ = 0;
  cudaStream_t stream_ = nullptr;
  bool capturing_ = false;
};

}  // namespace ww
