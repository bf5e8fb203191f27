#include "rmsnorm_rht_amax.h"
#include "warpwright/napi.h"

namespace {

constexpr const char* kOp = "rmsnormRhtAmax";
constexpr int kMaxThreads = 1024;
constexpr int kNumSigns = 1 << ww::kRhtBlock;

// How many rows have one amax.
int64_t read_rows_per_cta(ww::Arguments& args, Napi::Env env, int64_t num_rows) {
  const int64_t rows = args.signed_integer("rowsPerCta");
  if (rows < 1 || num_rows % rows != 0)
    throw ww::value_error(env, std::string(kOp) + ": expected rowsPerCta to divide the rows");
  return rows;
}

// rmsnormRhtAmaxFwd(x, weight, out, amax, stream?, geometry, dtype, weightDtype, rowsPerCta,
// numThreads, eps, signs, ignoreNan); the stream is null on the CPU, and numThreads 0 for any
// number. geometry: hidden size, three row-grid sizes; offset and three strides of x and out;
// offset of weight and of amax.
void RmsnormRhtAmaxFwd(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, kOp);
  const ww::TensorArg x = args.tensor("x");
  const ww::TensorArg weight = args.tensor("weight");
  const ww::TensorArg out = args.tensor("out");
  const ww::TensorArg amax = args.tensor("amax");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const ww::Dtype dtype = args.float_dtype("dtype");
  const ww::Dtype weight_dtype = args.param_dtype("weightDtype", weight, dtype);
  const int hidden_size = geometry.count32("hidden size");
  const ww::RowGrid grid = geometry.row_grid();
  if (hidden_size % ww::kRhtBlock != 0)
    throw ww::shape_error(info.Env(),
                          std::string(kOp) + ": expected a hidden size of whole blocks");
  const int64_t rows_per_cta = read_rows_per_cta(args, info.Env(), grid.num_rows());

  const ww::RmsnormRhtAmaxParams params{
      .grid = grid,
      .x = geometry.rows(x, dtype, grid, hidden_size),
      .out = geometry.written_rows(out, dtype, grid, hidden_size),
      .weight = geometry.dense(weight, weight_dtype, hidden_size),
      .amax =
          static_cast<float*>(geometry.dense(amax, ww::Dtype::f32, grid.num_rows() / rows_per_cta)),
      .rows_per_cta = rows_per_cta,
      .hidden_size = hidden_size,
      .num_threads = args.integer("numThreads", kMaxThreads + 1),
      .eps = static_cast<float>(args.number("eps")),
      .signs = static_cast<uint32_t>(args.integer("signs", kNumSigns)),
      .ignore_nan = args.integer("ignoreNan", 2) != 0,
      .dtype = dtype,
      .weight_dtype = weight_dtype,
  };
  args.run([&](const ww::ThreadPool& pool) { return ww::rmsnorm_rht_amax_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return ww::rmsnorm_rht_amax_fwd(params, stream); });
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("rmsnormRhtAmaxFwd", Napi::Function::New(env, RmsnormRhtAmaxFwd));
  return exports;
}

}  // namespace

NODE_API_MODULE(rmsnorm_rht_amax, Init)
