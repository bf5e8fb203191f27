#include "geglu.h"
#include "warpwright/elementwise_binding.h"

namespace {

// gegluFwd(gate?, up?, out, stream?, geometry, dtype, approximate): see elementwise_binding.h's
// read_gated for all up to dtype; approximate is a GeluKind.
void GegluFwd(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "geglu");
  const ww::GegluParams params{
      .rows = ww::read_gated(args),
      .approximate = static_cast<ww::GeluKind>(args.integer("approximate", 3)),
  };
  args.run([&](const ww::ThreadPool& pool) { return ww::geglu_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return ww::geglu_fwd(params, stream); });
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("gegluFwd", Napi::Function::New(env, GegluFwd));
  return exports;
}

}  // namespace

NODE_API_MODULE(geglu, Init)
