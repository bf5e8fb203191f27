// Storages: allocate, wrapMemory, share, dispose, pointer, memoryStats, emptyCache.

#include <algorithm>

#include "arguments.h"
#include "binding.h"
#include "capture_gate.h"
#include "cpu_memory.h"
#include "environment.h"
#include "memory_owner.h"
#include "staging.h"
#include "storage.h"
#include "tensors.h"

namespace ww {
namespace {

// Out of memory: V8, told of as much as is wanted, collects garbage, what tensors and JavaScript's
// own arrays held is freed, and it is tried once more.
cudaError_t allocate_or_collect(Napi::Env env, int32_t device, int64_t bytes, cudaStream_t stream,
                                bool zero, Storage** storage) {
  const cudaError_t status = allocate_storage(device, bytes, stream, zero, storage);
  if (status != cudaErrorMemoryAllocation) return status;
  int64_t total = 0;
  napi_adjust_external_memory(env, bytes, &total);
  napi_adjust_external_memory(env, -bytes, &total);
  Environment::of(env).release_collected(env);
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
  Environment::of(env).note_allocation(env, bytes);
  Storage* storage = nullptr;
  const cudaError_t status = allocate_or_collect(env, device, bytes, stream.stream, zero, &storage);
  if (status == cudaSuccess) return new_tensor(env, storage);
  const std::string op = info[4].IsString() ? info[4].As<Napi::String>().Utf8Value() : kOp;
  if (device == kCpu)
    throw value_error(env, op + ": cannot allocate " + std::to_string(bytes) + " bytes");
  check(env, status, op.c_str());
  return env.Undefined();
}

// wrapMemory(address, bytes, device, owner)
Napi::Value wrap_memory(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "unsafeFromPointer";
  const uint64_t address = uint64_arg(info[0], kOp, "pointer");
  const int64_t bytes = count_arg(info[1], kOp, "bytes");
  const int32_t device = device_arg(info[2], kOp);
  auto* data = reinterpret_cast<void*>(address);
  refuse_lost(env, device, kOp);
  if (device != kCpu && bytes > 0) {
    int actual = kCpu;
    check(env, cuda::pointer_device(data, device, &actual), kOp);
    if (actual != device)
      throw device_error(
          env,
          expected(kOp) + "memory of cuda:" + std::to_string(device) + ", got " +
              (actual == kCpu ? "some of the host" : "some of cuda:" + std::to_string(actual)));
  }
  if (device != kCpu) Environment::of(env).note_wrapped(device);
  return new_tensor(env,
                    wrap_memory(device, bytes, data, std::make_unique<MemoryOwner>(env, info[3])));
}

// share(handle)
Napi::Value share(const Napi::CallbackInfo& info) {
  const TensorHandle& handle = tensor_arg(info[0], "share", "handle");
  retain_storage(handle.storage);
  return new_tensor(info.Env(), handle.storage);
}

// dispose(handle)
void dispose(const Napi::CallbackInfo& info) {
  drop_tensor(info.Env(), any_tensor_arg(info[0], "dispose", "handle"));
}

// pointer(handle)
Napi::Value pointer(const Napi::CallbackInfo& info) {
  const TensorHandle& handle = tensor_arg(info[0], "pointer", "handle");
  return Napi::BigInt::New(info.Env(), reinterpret_cast<uint64_t>(handle.data));
}

// memoryStats(device)
Napi::Value memory_stats(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "memoryStats";
  const int32_t device = device_arg(info[0], kOp);
  cuda::MemoryStats stats{};
  if (device == kCpu) {
    cpu_memory_stats(stats.allocated, stats.peak);
  } else {
    check(env, cuda::memory_stats(cuda_device_arg(info[0], kOp), stats), kOp);
    stats.allocated -= std::min(stats.allocated, BlockCache::held_bytes(device));
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("allocated", static_cast<double>(stats.allocated));
  result.Set("peak", static_cast<double>(stats.peak));
  if (device == kCpu) return result;
  result.Set("reserved", static_cast<double>(stats.reserved));
  result.Set("free", static_cast<double>(stats.free));
  result.Set("total", static_cast<double>(stats.total));
  return result;
}

// emptyCache(device)
void empty_cache(const Napi::CallbackInfo& info) {
  constexpr char kOp[] = "emptyCache";
  const int32_t device = cuda_device_arg(info[0], kOp);
  Environment::of(info.Env()).release_collected(info.Env());
  drop_kept_staging(device);
  clear_block_caches(device);
  // The pool gives back what it has seen the host wait for.
  unless_capturing([&] { cuda::synchronize_device(device); });
  check(info.Env(), cuda::trim(device), kOp);
}

}  // namespace

void export_storages(Napi::Env env, Napi::Object exports) {
  exports.Set("allocate", Napi::Function::New<allocate>(env, "allocate"));
  exports.Set("wrapMemory", Napi::Function::New<wrap_memory>(env, "wrapMemory"));
  exports.Set("share", Napi::Function::New<share>(env, "share"));
  exports.Set("dispose", Napi::Function::New<dispose>(env, "dispose"));
  exports.Set("pointer", Napi::Function::New<pointer>(env, "pointer"));
  exports.Set("memoryStats", Napi::Function::New<memory_stats>(env, "memoryStats"));
  exports.Set("emptyCache", Napi::Function::New<empty_cache>(env, "emptyCache"));
}

}  // namespace ww
