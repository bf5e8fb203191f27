#include "new_kernel.h"
#include "warpwright/napi.h"

namespace {

// newKernelFwd(x, out, inverse?, stream?, geometry, dtype, eps), null for what is left out; the
// stream is null on the CPU. geometry: hidden size, three row-grid sizes; offset and three strides
// of x and out; offset of inverse.
void NewKernelFwd(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "newKernel");
  const ww::TensorArg x = args.tensor("x");
  const ww::TensorArg out = args.tensor("out");
  const ww::TensorArg inverse = args.optional_tensor("inverse");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const ww::Dtype dtype = args.float_dtype("dtype");
  const int hidden_size = geometry.count32("hidden size");
  const ww::RowGrid grid = geometry.row_grid();

  const ww::NewKernelParams params{
      .grid = grid,
      .x = geometry.rows(x, dtype, grid, hidden_size),
      .out = geometry.rows(out, dtype, grid, hidden_size),
      .inverse = static_cast<float*>(geometry.dense(inverse, ww::Dtype::f32, grid.num_rows())),
      .hidden_size = hidden_size,
      .eps = static_cast<float>(args.number("eps")),
      .dtype = dtype,
  };
  args.run([&](const ww::ThreadPool& pool) { return ww::new_kernel_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return ww::new_kernel_fwd(params, stream); });
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("newKernelFwd", Napi::Function::New(env, NewKernelFwd));
  return exports;
}

}  // namespace

NODE_API_MODULE(new_kernel, Init)
