#include "rmsnorm.h"
#include "warpwright/napi.h"

namespace {

// rmsnormFwd(x, residual?, weight?, out, residualOut?, rstd?, stream?, geometry, dtype,
// weightDtype, eps, weightOffset, casting), null for what is left out; the stream is null on the
// CPU. geometry: hidden size, three row-grid sizes; offset and three strides of x, residual, out
// and residualOut; offset of weight and of rstd.
void RmsNormFwd(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "rmsnorm");
  const ww::TensorArg x = args.tensor("x");
  const ww::TensorArg residual = args.optional_tensor("residual");
  const ww::TensorArg weight = args.optional_tensor("weight");
  const ww::TensorArg out = args.tensor("out");
  const ww::TensorArg residual_out = args.optional_tensor("residualOut");
  const ww::TensorArg rstd = args.optional_tensor("rstd");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const ww::Dtype dtype = args.float_dtype("dtype");
  const ww::Dtype weight_dtype = args.param_dtype("weightDtype", weight, dtype);
  const int hidden_size = geometry.count32("hidden size");
  const ww::RowGrid grid = geometry.row_grid();

  args.require_pair(residual, residual_out);
  const ww::RmsNormParams params{
      .grid = grid,
      .x = geometry.rows(x, dtype, grid, hidden_size),
      .residual = geometry.rows(residual, dtype, grid, hidden_size),
      .out = geometry.written_rows(out, dtype, grid, hidden_size),
      .residual_out = geometry.rows(residual_out, dtype, grid, hidden_size),
      .weight = geometry.dense(weight, weight_dtype, hidden_size),
      .rstd = static_cast<float*>(geometry.dense(rstd, ww::Dtype::f32, grid.num_rows())),
      .hidden_size = hidden_size,
      .eps = static_cast<float>(args.number("eps")),
      .weight_offset = static_cast<float>(args.number("weightOffset")),
      .dtype = dtype,
      .weight_dtype = weight_dtype,
      .casting = static_cast<ww::RmsNormCasting>(args.integer("casting", 2)),
  };
  args.run([&](const ww::ThreadPool& pool) { return ww::rmsnorm_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return ww::rmsnorm_fwd(params, stream); });
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("rmsnormFwd", Napi::Function::New(env, RmsNormFwd));
  return exports;
}

}  // namespace

NODE_API_MODULE(rmsnorm, Init)
