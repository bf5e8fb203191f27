// Checked arguments of the runtime's own functions, where headers' Arguments does not fit: calls
// without tensors, raw bytes, several devices. Everything throws a typed error.
#pragma once

#include <napi.h>

#include <cstdint>
#include <string>

#include "cuda_backend.h"
#include "warpwright/handles.h"

namespace ww {

struct HostBytes {
  uint8_t* data;
  size_t size;
};

// A non-negative integer below 2^53.
int64_t count_arg(const Napi::Value& value, const char* op, const char* name);

// An integer in [low, high].
int integer_arg(const Napi::Value& value, const char* op, const char* name, int low, int high);

bool boolean_arg(const Napi::Value& value, const char* op, const char* name);

// A bigint in [0, 2^64).
uint64_t uint64_arg(const Napi::Value& value, const char* op, const char* name);

// A Uint8Array; its memory may go away as soon as JavaScript runs again.
HostBytes bytes_arg(const Napi::Value& value, const char* op, const char* name);

// kCpu or the ordinal of a CUDA device that is there.
int32_t device_arg(const Napi::Value& value, const char* op);
// Of one that is not lost.
int32_t cuda_device_arg(const Napi::Value& value, const char* op);

// A stream of `device`, an argument that nobody looks at on the CPU.
cuda::Stream stream_arg(const Napi::Value& value, const char* op, int32_t device);

// The stream of a handle that was unwrapped; refused while another thread, or another copy of the
// runtime, is capturing it.
cuda::Stream usable_stream(Napi::Env env, const StreamHandle& handle, const char* op);

// A tensor of this copy of the runtime, disposed or not.
TensorHandle& any_tensor_arg(const Napi::Value& value, const char* op, const char* name);
// One that is not disposed.
const TensorHandle& tensor_arg(const Napi::Value& value, const char* op, const char* name);

// The address of byte `offset` of the tensor, if `size` bytes from there are inside it.
void* byte_range(Napi::Env env, const TensorHandle& handle, int64_t offset, uint64_t size,
                 const char* op, const char* name);

// "allocate: expected "
std::string expected(const char* op);

void check(Napi::Env env, cudaError_t status, const char* op);

// Throws if an earlier error has made the device unusable.
void refuse_lost(Napi::Env env, int32_t device, const char* op);

// A promise that is resolved already.
Napi::Value resolved_promise(Napi::Env env);

// Throws while this thread is capturing: what waits would wait for work that does not run.
void refuse_in_capture(Napi::Env env, const char* op);

}  // namespace ww
