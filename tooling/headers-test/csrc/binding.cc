#include "bare.h"
#include "convert.h"
#include "faults.h"
#include "gpu_cases.h"
#include "ptx_cases.h"
#include "warpwright/napi.h"

namespace {

cudaError_t no_cpu(const ww::ThreadPool&) { return cudaErrorNotSupported; }

// convert(src, dst, stream | null, geometry, conversion, srcDtype, dstDtype)
// geometry: number of pairs; offset of src and of dst.
void Convert(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "convert");
  const ww::TensorArg src = args.tensor("src");
  const ww::TensorArg dst = args.tensor("dst");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const int64_t num_pairs = geometry.next();
  const auto conversion =
      static_cast<ww::Conversion>(args.integer("conversion", ww::kNumConversions));
  const ww::Dtype src_dtype = args.float_dtype("srcDtype");
  const ww::Dtype dst_dtype = args.float_dtype("dstDtype");
  const ww::ConvertParams params{
      .src = geometry.dense(src, src_dtype, 2 * num_pairs),
      .dst = geometry.dense(dst, dst_dtype, 2 * num_pairs),
      .num_pairs = num_pairs,
      .conversion = conversion,
  };
  args.run([&](const ww::ThreadPool& pool) { return ww::convert_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return ww::convert_fwd(params, stream); });
}

// vec(src, dst, stream, geometry, dtype, count, fill, load, store)
// geometry: elements of src and of dst, a multiple of a vector's; offset of src and of dst.
void MoveVecs(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "vec");
  const ww::TensorArg src = args.tensor("src");
  const ww::TensorArg dst = args.tensor("dst");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const int64_t size = geometry.next();
  const ww::Dtype dtype = args.float_dtype("dtype");
  const ww::VecParams params{
      .src = geometry.dense(src, dtype, size),
      .dst = geometry.dense(dst, dtype, size),
      .num_vecs = size * ww::dtype_bytes(dtype) / 16,
      .count = args.integer("count", 9),
      .fill = static_cast<float>(args.number("fill")),
      .load = static_cast<ww::VecForm>(args.integer("load", 3)),
      .store = static_cast<ww::VecForm>(args.integer("store", 3)),
      .dtype = dtype,
  };
  args.run(no_cpu, [&](cudaStream_t stream) { return ww::vec_fwd(params, stream); });
}

// reduce(x, out, stream, geometry, op, scope)
// geometry: rounds, blocks, threads; offset of x and of out.
void Reduce(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "reduce");
  const ww::TensorArg x = args.tensor("x");
  const ww::TensorArg out = args.tensor("out");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const int num_rounds = geometry.count32("number of rounds");
  const int blocks = geometry.count32("number of blocks");
  const int threads = geometry.count32("number of threads");
  const int64_t size = int64_t{num_rounds} * blocks * threads;
  const ww::ReduceParams params{
      .x = static_cast<const float*>(geometry.dense(x, ww::Dtype::f32, size)),
      .out = static_cast<float*>(geometry.dense(out, ww::Dtype::f32, size)),
      .num_rounds = num_rounds,
      .threads = threads,
      .blocks = blocks,
      .op = static_cast<ww::ReduceOp>(args.integer("op", 2)),
      .scope = static_cast<ww::ReduceScope>(args.integer("scope", 3)),
  };
  args.run(no_cpu, [&](cudaStream_t stream) { return ww::reduce_fwd(params, stream); });
}

// elementwise(x, out, stream, geometry, dtype)     geometry: size; offset of x and of out.
void Elementwise(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "elementwise");
  const ww::TensorArg x = args.tensor("x");
  const ww::TensorArg out = args.tensor("out");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const int64_t size = geometry.next();
  const ww::Dtype dtype = args.float_dtype("dtype");
  const ww::ElementwiseParams params{
      .x = geometry.dense(x, dtype, size),
      .out = geometry.dense(out, dtype, size),
      .size = size,
      .dtype = dtype,
  };
  args.run(no_cpu, [&](cudaStream_t stream) { return ww::elementwise_fwd(params, stream); });
}

// reverse(x, out, stream, geometry)     geometry: size, threads; offset of x and of out.
void Reverse(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "reverse");
  const ww::TensorArg x = args.tensor("x");
  const ww::TensorArg out = args.tensor("out");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const int size = geometry.count32("size");
  const int threads = geometry.count32("number of threads");
  const ww::ReverseParams params{
      .x = static_cast<const float*>(geometry.dense(x, ww::Dtype::f32, size)),
      .out = static_cast<float*>(geometry.dense(out, ww::Dtype::f32, size)),
      .size = size,
      .threads = threads,
  };
  args.run(no_cpu, [&](cudaStream_t stream) { return ww::reverse_fwd(params, stream); });
}

// timeLaunches(x, stream, count, nodes): microseconds of one of `count` launches on x's device, of
// an empty kernel, or of a graph with that many, if there are any nodes.
Napi::Value TimeLaunches(const Napi::CallbackInfo& info) {
  constexpr int kMost = 1'000'000;
  ww::Arguments args(info, "timeLaunches");
  args.tensor("x");
  args.stream();
  const int count = args.integer("count", kMost);
  const int nodes = args.integer("nodes", kMost);
  double microseconds = 0;
  args.run(no_cpu, [&](cudaStream_t stream) {
    return nodes == 0 ? ww::time_launches(count, stream, &microseconds)
                      : ww::time_graph_launches(nodes, count, stream, &microseconds);
  });
  return Napi::Number::New(info.Env(), microseconds);
}

// copyAsync(x, out, stream, geometry, whole, grouped)
// geometry: bytes of x, bytes of a thread's piece; offset of x and of out.
void CopyAsync(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "copyAsync");
  const ww::TensorArg x = args.tensor("x");
  const ww::TensorArg out = args.tensor("out");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const int size = geometry.count32("size");
  const int piece_bytes = geometry.count32("bytes of a piece");
  const int64_t out_size = int64_t{ww::kCopyThreads} * piece_bytes;
  const ww::CopyParams params{
      .x = static_cast<const uint8_t*>(geometry.dense(x, ww::Dtype::u8, size)),
      .out = static_cast<uint8_t*>(geometry.dense(out, ww::Dtype::u8, out_size)),
      .size = size,
      .piece_bytes = piece_bytes,
      .whole = args.integer("whole", size == out_size ? 2 : 1) == 1,
      .grouped = args.integer("grouped", 2) == 1,
  };
  args.run(no_cpu, [&](cudaStream_t stream) { return ww::copy_fwd(params, stream); });
}

// pipeline(x, out, stream, geometry)     geometry: tiles, stages; offset of x and of out.
void Pipeline(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "pipeline");
  const ww::TensorArg x = args.tensor("x");
  const ww::TensorArg out = args.tensor("out");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const int num_tiles = geometry.count32("number of tiles");
  const int num_stages = geometry.count32("number of stages");
  const int64_t size = int64_t{num_tiles} * ww::kPipelineTile;
  const ww::PipelineParams params{
      .x = static_cast<const float*>(geometry.dense(x, ww::Dtype::f32, size)),
      .out = static_cast<float*>(geometry.dense(out, ww::Dtype::f32, ww::kPipelineTile)),
      .num_tiles = num_tiles,
      .num_stages = num_stages,
  };
  args.run(no_cpu, [&](cudaStream_t stream) { return ww::pipeline_fwd(params, stream); });
}

// ldmatrix(x, out, stream, geometry, transposed)
// geometry: number of matrices; offset of x, of 16-bit elements, and of out.
void Ldmatrix(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "ldmatrix");
  const ww::TensorArg x = args.tensor("x");
  const ww::TensorArg out = args.tensor("out");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const int num_matrices = geometry.count32("number of matrices");
  const ww::LdmatrixParams params{
      .x = static_cast<const uint16_t*>(
          geometry.dense(x, ww::Dtype::f16, int64_t{64} * num_matrices)),
      .out = static_cast<int32_t*>(geometry.dense(out, ww::Dtype::i32, int64_t{32} * num_matrices)),
      .num_matrices = num_matrices,
      .transposed = args.integer("transposed", 2) == 1,
  };
  args.run(no_cpu, [&](cudaStream_t stream) { return ww::ldmatrix_fwd(params, stream); });
}

// approx(x, powers, reciprocals, stream, geometry)     geometry: size; offset of each tensor.
void Approx(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "approx");
  const ww::TensorArg x = args.tensor("x");
  const ww::TensorArg powers = args.tensor("powers");
  const ww::TensorArg reciprocals = args.tensor("reciprocals");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const int size = geometry.count32("size");
  const ww::ApproxParams params{
      .x = static_cast<const float*>(geometry.dense(x, ww::Dtype::f32, size)),
      .powers = static_cast<float*>(geometry.dense(powers, ww::Dtype::f32, size)),
      .reciprocals = static_cast<float*>(geometry.dense(reciprocals, ww::Dtype::f32, size)),
      .size = size,
  };
  args.run(no_cpu, [&](cudaStream_t stream) { return ww::approx_fwd(params, stream); });
}

// mma(a, b, c, out, stream, geometry, dtype, fragments)
// geometry: number of tiles; offset of a, b, c and out.
void Mma(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "mma");
  const ww::TensorArg a = args.tensor("a");
  const ww::TensorArg b = args.tensor("b");
  const ww::TensorArg c = args.tensor("c");
  const ww::TensorArg out = args.tensor("out");
  args.stream();
  ww::Geometry geometry = args.geometry();
  const int num_tiles = geometry.count32("number of tiles");
  const ww::Dtype dtype = args.float_dtype("dtype");
  const int64_t depth = int64_t{num_tiles} * (dtype == ww::Dtype::f32 ? 8 : 16);
  const int64_t size = int64_t{num_tiles} * 16 * 8;
  const ww::MmaParams params{
      .a = geometry.dense(a, dtype, 16 * depth),
      .b = geometry.dense(b, dtype, depth * 8),
      .c = static_cast<const float*>(geometry.dense(c, ww::Dtype::f32, size)),
      .out = static_cast<float*>(geometry.dense(out, ww::Dtype::f32, size)),
      .num_tiles = num_tiles,
      .dtype = dtype,
      .fragments = static_cast<ww::Fragments>(args.integer("fragments", ww::kNumFragments)),
  };
  args.run(no_cpu, [&](cudaStream_t stream) { return ww::mma_fwd(params, stream); });
}

// plantFault(fault): on the current device.
void PlantFault(const Napi::CallbackInfo& info) {
  ww::Arguments args(info, "plantFault");
  [[maybe_unused]] const auto fault = static_cast<ww::Fault>(args.integer("fault", ww::kNumFaults));
#if WARPWRIGHT_WITH_CUDA
  ww::check_cuda(info.Env(), ww::plant_fault(fault), "plantFault");
#else
  throw ww::device_error(info.Env(), "plantFault: this addon was built without CUDA");
#endif
}

// forgeHandle(magic, major, minor): a tensor handle, correctly tagged, of a struct that says so.
Napi::Value ForgeHandle(const Napi::CallbackInfo& info) {
  static ww::RuntimeApi api{};
  Napi::Object object = Napi::Object::New(info.Env());
  auto* handle = new ww::TensorHandle{
      .magic = info[0].As<Napi::Number>().Uint32Value(),
      .major = static_cast<uint16_t>(info[1].As<Napi::Number>().Uint32Value()),
      .minor = static_cast<uint16_t>(info[2].As<Napi::Number>().Uint32Value()),
      .device = ww::kCpu,
      .reserved = 0,
      .data = nullptr,
      .bytes = 0,
      .storage = reinterpret_cast<ww::Storage*>(&api),  // not null: it has not been disposed
      .stream = nullptr,
      .api = &api,
  };
  const auto free_handle = [](napi_env, void* data, void*) {
    delete static_cast<ww::TensorHandle*>(data);
  };
  napi_wrap(info.Env(), object, handle, free_handle, nullptr, nullptr);
  const napi_type_tag tag{ww::kTensorTag[0], ww::kTensorTag[1]};
  napi_type_tag_object(info.Env(), object, &tag);
  return object;
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("convert", Napi::Function::New(env, Convert));
  exports.Set("vec", Napi::Function::New(env, MoveVecs));
  exports.Set("reduce", Napi::Function::New(env, Reduce));
  exports.Set("elementwise", Napi::Function::New(env, Elementwise));
  exports.Set("reverse", Napi::Function::New(env, Reverse));
  exports.Set("timeLaunches", Napi::Function::New(env, TimeLaunches));
  exports.Set("copyAsync", Napi::Function::New(env, CopyAsync));
  exports.Set("pipeline", Napi::Function::New(env, Pipeline));
  exports.Set("ldmatrix", Napi::Function::New(env, Ldmatrix));
  exports.Set("approx", Napi::Function::New(env, Approx));
  exports.Set("mma", Napi::Function::New(env, Mma));
  exports.Set("forgeHandle", Napi::Function::New(env, ForgeHandle));
  exports.Set("plantFault", Napi::Function::New(env, PlantFault));
  return exports;
}

}  // namespace

NODE_API_MODULE(headers_test, Init)
