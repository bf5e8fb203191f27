#include "rope.h"
#include "warpwright/napi.h"

namespace {

ww::RopeHeads ReadHeads(ww::Geometry& geometry, const ww::TensorArg& x, const ww::TensorArg& out,
                        ww::Dtype dtype, int head_dim) {
  const ww::RowGrid grid = geometry.row_grid();
  const ww::Rows x_rows = geometry.rows(x, dtype, grid, head_dim);
  return {grid, x_rows, geometry.rows(out, dtype, grid, head_dim)};
}

ww::RopeTables ReadTables(ww::Geometry& geometry, const ww::TensorArg& cos,
                          const ww::TensorArg& sin, ww::Dtype dtype, int width) {
  const ww::RowGrid grid{{1, 1, geometry.next()}};
  const ww::Rows cos_rows = geometry.rows(cos, dtype, grid, width);
  const ww::Rows sin_rows = geometry.rows(sin, dtype, grid, width);
  return {cos_rows.data,       sin_rows.data, cos_rows.strides[2],
          sin_rows.strides[2], grid.sizes[2], dtype};
}

// `positions` with the memory and the strides of the index.
ww::RopePositions ReadIndex(ww::Geometry& geometry, const ww::TensorArg& index,
                            const ww::RowGrid& tokens, ww::RopePositions positions) {
  positions.num_sequences = geometry.next();
  const ww::RowGrid grid = positions.index == ww::RopeIndex::positions
                               ? ww::RowGrid{{1, tokens.sizes[0], tokens.sizes[1]}}
                               : ww::RowGrid{{1, 1, positions.num_sequences + 1}};
  const ww::Rows rows = geometry.rows(index, positions.dtype, grid, 1);
  positions.data = rows.data;
  positions.strides[0] = rows.strides[1];
  positions.strides[1] = rows.strides[2];
  return positions;
}

// ropeFwd(q, k?, qOut, kOut?, cos, sin, index?, stream?, geometry, dtype, tableDtype, indexKind,
// indexIsWide, offset, interleaved, inverse), null for what is left out; index is the positions or
// cuSeqlens, the stream is null on the CPU. geometry: head dim, rotary dim, rotary offset; three
// sizes, offset and three strides of q, offset and three strides of qOut; the same for k; rows of
// the tables, offset and three strides of cos and of sin; sequences, offset and three strides of
// the index.
void RopeFwd(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "rope");
  const ww::TensorArg q = args.tensor("q");
  const ww::TensorArg k = args.optional_tensor("k");
  const ww::TensorArg q_out = args.tensor("qOut");
  const ww::TensorArg k_out = args.optional_tensor("kOut");
  const ww::TensorArg cos = args.tensor("cos");
  const ww::TensorArg sin = args.tensor("sin");
  const ww::TensorArg index = args.optional_tensor("index");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const ww::Dtype dtype = args.float_dtype("dtype");
  const ww::Dtype table_dtype = args.float_dtype("tableDtype");
  const auto index_kind = static_cast<ww::RopeIndex>(args.integer("indexKind", 3));
  const auto index_dtype = args.integer("indexIsWide", 2) == 1 ? ww::Dtype::i64 : ww::Dtype::i32;
  const int64_t offset = args.signed_integer("offset");
  const bool interleaved = args.integer("interleaved", 2) == 1;
  const bool inverse = args.integer("inverse", 2) == 1;

  args.require_pair(k, k_out);
  const int head_dim = geometry.count32("head dim");
  const int rotary_dim = geometry.count32("rotary dim");
  const int rotary_offset = geometry.count32("rotary offset");
  const ww::RopeHeads q_heads = ReadHeads(geometry, q, q_out, dtype, head_dim);
  const ww::RopeParams params{
      .q = q_heads,
      .k = ReadHeads(geometry, k, k_out, dtype, head_dim),
      .tables = ReadTables(geometry, cos, sin, table_dtype, rotary_dim / 2),
      .positions = ReadIndex(geometry, index, q_heads.grid,
                             {.index = index_kind, .offset = offset, .dtype = index_dtype}),
      .head_dim = head_dim,
      .rotary_dim = rotary_dim,
      .rotary_offset = rotary_offset,
      .interleaved = interleaved,
      .inverse = inverse,
      .dtype = dtype,
  };
  if (!ww::is_valid(params))
    throw ww::value_error(info.Env(), "rope: the sizes of the call do not fit each other");
  args.run([&](const ww::ThreadPool& pool) { return ww::rope_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return ww::rope_fwd(params, stream); });
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("ropeFwd", Napi::Function::New(env, RopeFwd));
  return exports;
}

}  // namespace

NODE_API_MODULE(rope, Init)
