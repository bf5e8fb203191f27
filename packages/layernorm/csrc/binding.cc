#include "layernorm.h"
#include "warpwright/napi.h"

namespace {

// layernormFwd(x, residual?, weight?, bias?, out, residualOut?, mean?, rstd?, stream?, geometry,
// dtype, weightDtype, biasDtype, eps), null for what is left out; the stream is null on the CPU.
// geometry: hidden size, three row-grid sizes; offset and three strides of x, residual, out and
// residualOut; offset of weight, bias, mean and rstd.
void LayerNormFwd(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "layernorm");
  const ww::TensorArg x = args.tensor("x");
  const ww::TensorArg residual = args.optional_tensor("residual");
  const ww::TensorArg weight = args.optional_tensor("weight");
  const ww::TensorArg bias = args.optional_tensor("bias");
  const ww::TensorArg out = args.tensor("out");
  const ww::TensorArg residual_out = args.optional_tensor("residualOut");
  const ww::TensorArg mean = args.optional_tensor("mean");
  const ww::TensorArg rstd = args.optional_tensor("rstd");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const ww::Dtype dtype = args.float_dtype("dtype");
  const ww::Dtype weight_dtype = args.param_dtype("weightDtype", weight, dtype);
  const ww::Dtype bias_dtype = args.param_dtype("biasDtype", bias, dtype);
  const int hidden_size = geometry.count32("hidden size");
  const ww::RowGrid grid = geometry.row_grid();

  args.require_pair(residual, residual_out);
  const ww::LayerNormParams params{
      .grid = grid,
      .x = geometry.rows(x, dtype, grid, hidden_size),
      .residual = geometry.rows(residual, dtype, grid, hidden_size),
      .out = geometry.written_rows(out, dtype, grid, hidden_size),
      .residual_out = geometry.rows(residual_out, dtype, grid, hidden_size),
      .weight = geometry.dense(weight, weight_dtype, hidden_size),
      .bias = geometry.dense(bias, bias_dtype, hidden_size),
      .mean = static_cast<float*>(geometry.dense(mean, ww::Dtype::f32, grid.num_rows())),
      .rstd = static_cast<float*>(geometry.dense(rstd, ww::Dtype::f32, grid.num_rows())),
      .hidden_size = hidden_size,
      .eps = static_cast<float>(args.number("eps")),
      .dtype = dtype,
      .weight_dtype = weight_dtype,
      .bias_dtype = bias_dtype,
  };
  args.run([&](const ww::ThreadPool& pool) { return ww::layernorm_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return ww::layernorm_fwd(params, stream); });
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("layernormFwd", Napi::Function::New(env, LayerNormFwd));
  return exports;
}

}  // namespace

NODE_API_MODULE(layernorm, Init)
