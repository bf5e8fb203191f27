#include "swiglu.h"
#include "warpwright/elementwise_binding.h"

namespace {

// swigluFwd(gate, up?, out, stream?, geometry, dtype, limit, alpha, upOffset): see
// elementwise_binding.h's read_gated for all up to dtype.
void SwigluFwd(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "swiglu");
  const ww::SwigluParams params{
      .rows = ww::read_gated(args),
      .limit = static_cast<float>(args.number("limit")),
      .alpha = static_cast<float>(args.number("alpha")),
      .up_offset = static_cast<float>(args.number("upOffset")),
  };
  args.run([&](const ww::ThreadPool& pool) { return ww::swiglu_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return ww::swiglu_fwd(params, stream); });
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("swigluFwd", Napi::Function::New(env, SwigluFwd));
  return exports;
}

}  // namespace

NODE_API_MODULE(swiglu, Init)
