#include "binding.h"

#include "arguments.h"
#include "cuda_backend.h"
#include "lost_device.h"
#include "thread_pool.h"

namespace ww {
namespace {

constexpr int kMaxThreads = 1024;

// setNumThreads(count)
void set_num_threads_binding(const Napi::CallbackInfo& info) {
  set_num_threads(integer_arg(info[0], "setNumThreads", "count", 1, kMaxThreads));
}

// initNumThreads(count)
void init_num_threads_binding(const Napi::CallbackInfo& info) {
  init_num_threads(integer_arg(info[0], "initNumThreads", "count", 1, kMaxThreads));
}

// getNumThreads()
Napi::Value get_num_threads_binding(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), num_threads());
}

Napi::Object device_object(Napi::Env env, const cuda::DeviceInfo& device) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("name", device.name);
  object.Set("major", device.major);
  object.Set("minor", device.minor);
  object.Set("totalMemory", static_cast<double>(device.total_memory));
  object.Set("multiprocessorCount", device.multiprocessors);
  return object;
}

// probe()
Napi::Value probe_binding(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const cuda::Probe probe = cuda::probe();
  Napi::Object result = Napi::Object::New(env);
  result.Set("withCuda", Napi::Boolean::New(env, kWithCuda));
  result.Set("driverVersion", probe.driver_version);
  result.Set("runtimeVersion", probe.runtime_version);
  result.Set("status", cuda::error_name(probe.status));
  result.Set("message", cuda::error_text(probe.status));
  Napi::Array devices = Napi::Array::New(env, probe.devices.size());
  for (uint32_t i = 0; i < probe.devices.size(); ++i)
    devices.Set(i, device_object(env, probe.devices[i]));
  result.Set("devices", devices);
  return result;
}

// lostCause(device)
Napi::Value lost_cause_binding(const Napi::CallbackInfo& info) {
  const int device = integer_arg(info[0], "lostCause", "device", 0, cuda::kMaxDevices - 1);
  const char* cause = lost_cause(device);
  return cause == nullptr ? info.Env().Null() : Napi::String::New(info.Env(), cause);
}

}  // namespace

void export_process(Napi::Env env, Napi::Object exports) {
  exports.Set("lostCause", Napi::Function::New<lost_cause_binding>(env, "lostCause"));
  exports.Set("probe", Napi::Function::New<probe_binding>(env, "probe"));
  exports.Set("setNumThreads", Napi::Function::New<set_num_threads_binding>(env, "setNumThreads"));
  exports.Set("initNumThreads",
              Napi::Function::New<init_num_threads_binding>(env, "initNumThreads"));
  exports.Set("getNumThreads", Napi::Function::New<get_num_threads_binding>(env, "getNumThreads"));
}

}  // namespace ww

namespace {

Napi::Object init(Napi::Env env, Napi::Object exports) {
  ww::export_storages(env, exports);
  ww::export_memory(env, exports);
  ww::export_copies(env, exports);
  ww::export_files(env, exports);
  ww::export_streams(env, exports);
  ww::export_events(env, exports);
  ww::export_graphs(env, exports);
  ww::export_process(env, exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(runtime, init)
