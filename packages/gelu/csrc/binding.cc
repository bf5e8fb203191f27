#include "gelu.h"
#include "warpwright/elementwise_binding.h"

namespace {

// geluFwd(x, out, stream?, geometry, dtype, approximate): see elementwise_binding.h's
// read_elementwise for all up to dtype; approximate is a GeluKind.
void GeluFwd(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "gelu");
  const ww::GeluParams params{
      .rows = ww::read_elementwise(args),
      .approximate = static_cast<ww::GeluKind>(args.integer("approximate", 3)),
  };
  args.run([&](const ww::ThreadPool& pool) { return ww::gelu_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return ww::gelu_fwd(params, stream); });
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("geluFwd", Napi::Function::New(env, GeluFwd));
  return exports;
}

}  // namespace

NODE_API_MODULE(gelu, Init)
