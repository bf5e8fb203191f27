#include "new_kernel.h"
#include "warpwright/elementwise_binding.h"

namespace {

// newKernelFwd(gate?, up?, out, stream?, geometry, dtype): see elementwise_binding.h's read_gated.
void NewKernelFwd(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "newKernel");
  const ww::NewKernelParams params{.rows = ww::read_gated(args)};
  args.run([&](const ww::ThreadPool& pool) { return ww::new_kernel_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return ww::new_kernel_fwd(params, stream); });
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("newKernelFwd", Napi::Function::New(env, NewKernelFwd));
  return exports;
}

}  // namespace

NODE_API_MODULE(new_kernel, Init)
