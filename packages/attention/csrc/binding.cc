#include "attention.h"
#include "merge.h"
#include "warpwright/napi.h"

namespace {

// A window that reaches everything may come as any number that is no int.
int Window(double size) { return size >= 0 && size < ww::kMaxSize ? static_cast<int>(size) : -1; }

// attentionFwd(q, k, v, out, lse?, mask?, sinks?, stream?, geometry, dtype, outDtype, maskDtype,
// windowLeft, windowRight, softmaxScale, softcap), null for what is left out; the stream is null on
// the CPU. geometry: head dims of q and v; batch, heads and seqlen of q, then of k; offset and
// three strides (batch, head, position) of q, k, v, out, lse; columns of the mask, its offset and
// strides; offset of sinks.
void AttentionFwd(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "attention");
  const ww::TensorArg q = args.tensor("q");
  const ww::TensorArg k = args.tensor("k");
  const ww::TensorArg v = args.tensor("v");
  const ww::TensorArg out = args.tensor("out");
  const ww::TensorArg lse = args.optional_tensor("lse");
  const ww::TensorArg mask = args.optional_tensor("mask");
  const ww::TensorArg sinks = args.optional_tensor("sinks");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const ww::Dtype dtype = args.float_dtype("dtype");
  const ww::Dtype out_dtype = args.float_dtype("outDtype");
  const auto mask_dtype = static_cast<ww::Dtype>(args.integer("maskDtype", 7));
  const int head_dim = geometry.count32("head dim");
  const int head_dim_v = geometry.count32("head dim of v");
  const ww::RowGrid q_grid = geometry.row_grid();
  const ww::RowGrid k_grid = geometry.row_grid();

  const ww::Rows q_rows = geometry.rows(q, dtype, q_grid, head_dim);
  const ww::Rows k_rows = geometry.rows(k, dtype, k_grid, head_dim);
  const ww::Rows v_rows = geometry.rows(v, dtype, k_grid, head_dim_v);
  const ww::Rows out_rows = geometry.written_rows(out, out_dtype, q_grid, head_dim_v);
  const ww::Rows lse_rows = geometry.rows(lse, ww::Dtype::f32, q_grid, 1);
  const int columns = geometry.count32("mask width");
  const ww::Rows mask_rows = geometry.rows(mask, mask_dtype, q_grid, columns);
  const ww::AttentionParams params{
      .q_grid = q_grid,
      .k_grid = k_grid,
      .q = q_rows,
      .k = k_rows,
      .v = v_rows,
      .out = out_rows,
      .lse = lse_rows,
      .sinks = static_cast<float*>(geometry.dense(sinks, ww::Dtype::f32, q_grid.sizes[1])),
      .mask = {.rows = mask_rows, .columns = columns, .dtype = mask_dtype},
      .window = {.left = Window(args.number("windowLeft")),
                 .right = Window(args.number("windowRight"))},
      .head_dim = head_dim,
      .head_dim_v = head_dim_v,
      .softmax_scale = static_cast<float>(args.number("softmaxScale")),
      .softcap = static_cast<float>(args.number("softcap")),
      .dtype = dtype,
      .out_dtype = out_dtype,
  };
  args.run([&](const ww::ThreadPool& pool) { return ww::attention_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return ww::attention_fwd(params, stream); });
}

// mergeFwd(outA, lseA, outB, lseB, out, lse, stream?, geometry, dtype). geometry: head dim; batch,
// heads and seqlen; offset and three strides of outA, lseA, outB, lseB, out, lse.
void MergeFwd(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "mergeAttention");
  const ww::TensorArg out_a = args.tensor("outA");
  const ww::TensorArg lse_a = args.tensor("lseA");
  const ww::TensorArg out_b = args.tensor("outB");
  const ww::TensorArg lse_b = args.tensor("lseB");
  const ww::TensorArg out = args.tensor("out");
  const ww::TensorArg lse = args.tensor("lse");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const ww::Dtype dtype = args.float_dtype("dtype");
  const int head_dim = geometry.count32("head dim");
  const ww::RowGrid grid = geometry.row_grid();
  const ww::MergeParams params{
      .grid = grid,
      .out_a = geometry.rows(out_a, dtype, grid, head_dim),
      .lse_a = geometry.rows(lse_a, ww::Dtype::f32, grid, 1),
      .out_b = geometry.rows(out_b, dtype, grid, head_dim),
      .lse_b = geometry.rows(lse_b, ww::Dtype::f32, grid, 1),
      .out = geometry.written_rows(out, dtype, grid, head_dim),
      .lse = geometry.written_rows(lse, ww::Dtype::f32, grid, 1),
      .head_dim = head_dim,
      .dtype = dtype,
  };
  args.run([&](const ww::ThreadPool& pool) { return ww::merge_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return ww::merge_fwd(params, stream); });
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("attentionFwd", Napi::Function::New(env, AttentionFwd));
  exports.Set("mergeFwd", Napi::Function::New(env, MergeFwd));
  return exports;
}

}  // namespace

NODE_API_MODULE(attention, Init)
