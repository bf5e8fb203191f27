// Elements at strides: copy, fill, randn.

#include <cstring>
#include <string>

#include "arguments.h"
#include "binding.h"
#include "fill.h"
#include "random.h"
#include "storage.h"
#include "strided_copy.h"
#include "warpwright/napi.h"

namespace ww {
namespace {

constexpr int kNumDtypes = 7;
constexpr int kNumSourceDtypes = 8;  // float64

constexpr int64_t element_bytes(Dtype dtype) { return dtype == kFloat64 ? 8 : dtype_bytes(dtype); }

template <int kArrays>
void read_sizes(Geometry& geometry, StridedLayout<kArrays>& layout, Napi::Env env, const char* op) {
  const int64_t rank = geometry.next();
  if (rank > kMaxRank)
    throw shape_error(env, expected(op) + "at most " + std::to_string(kMaxRank) +
                               " dimensions, got " + std::to_string(rank));
  layout.rank = static_cast<int>(rank);
  for (int d = 0; d < layout.rank; ++d) layout.sizes[d] = geometry.next();
}

template <int kArrays>
bool is_empty(const StridedLayout<kArrays>& layout) {
  for (int d = 0; d < layout.rank; ++d)
    if (layout.sizes[d] == 0) return true;
  return false;
}

// An array's offset and strides; its first element's address, if all of them are inside the tensor.
template <int kArrays>
void* read_array(Geometry& geometry, StridedLayout<kArrays>& layout, int array,
                 const TensorArg& tensor, Dtype dtype, Napi::Env env, const char* op) {
  const int64_t offset = geometry.next();
  int64_t end = 1;  // in elements from there on
  bool overflow = false;
  for (int d = 0; d < layout.rank; ++d) {
    const int64_t stride = layout.strides[array][d] = geometry.next();
    int64_t reach = 0;
    overflow |= __builtin_mul_overflow(layout.sizes[d] - 1, stride, &reach);
    overflow |= __builtin_add_overflow(end, reach, &end);
  }
  if (is_empty(layout)) return nullptr;
  const int64_t limit = static_cast<int64_t>(tensor.handle->bytes) / element_bytes(dtype);
  if (overflow || offset > limit || end > limit - offset)
    throw shape_error(env, std::string(op) + ": " + tensor.name + " reaches outside its memory");
  return static_cast<char*>(tensor.handle->data) + offset * element_bytes(dtype);
}

// Each element is written by one thread, once. More elements than places always coincide; a
// tensor's views coincide only along strides of 0.
template <int kArrays>
void check_distinct(const StridedLayout<kArrays>& layout, const TensorArg& dst, Dtype dtype,
                    Napi::Env env, const char* op) {
  const int64_t limit = static_cast<int64_t>(dst.handle->bytes) / element_bytes(dtype);
  int64_t count = 1;
  bool overlap = false;
  for (int d = 0; d < layout.rank; ++d) {
    overlap |= layout.sizes[d] > 1 && layout.strides[0][d] == 0;
    overlap |= __builtin_mul_overflow(count, layout.sizes[d], &count);
  }
  if (overlap || count > limit)
    throw overlap_error(env, expected(op) + "the elements of " + dst.name + " to be distinct");
}

// copy(dst, src, stream, dstDtype, srcDtype,
//      [rank, sizes…, dst offset, dst strides…, src offset, src strides…])
void copy(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "copy";
  Arguments args(info, kOp);
  const TensorArg dst = args.tensor("dst");
  const TensorArg src = args.tensor("src");
  args.stream();
  StridedCopyParams params{};
  params.dst_dtype = static_cast<Dtype>(args.integer("dstDtype", kNumDtypes));
  params.src_dtype = static_cast<Dtype>(args.integer("srcDtype", kNumSourceDtypes));
  Geometry geometry = args.geometry();
  read_sizes(geometry, params.layout, env, kOp);
  params.dst = read_array(geometry, params.layout, 0, dst, params.dst_dtype, env, kOp);
  params.src = read_array(geometry, params.layout, 1, src, params.src_dtype, env, kOp);
  if (is_empty(params.layout)) return;
  check_distinct(params.layout, dst, params.dst_dtype, env, kOp);
  params.layout.collapse();
  args.run([&](const ThreadPool& pool) { return strided_copy_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return strided_copy_fwd(params, stream); });
}

// A number or bigint as the bits of one element.
uint64_t element_pattern(const Napi::Value& value, Dtype dtype) {
  uint64_t pattern = 0;
  const auto store = [&](auto wide) {
    dispatch_element(dtype, [&]<typename T>(type_tag<T>) {
      const T element = narrow<T>(wide);
      std::memcpy(&pattern, &element, sizeof(element));
    });
  };
  if (value.IsBigInt()) {
    bool lossless = false;
    const int64_t integer = value.As<Napi::BigInt>().Int64Value(&lossless);
    if (!lossless)
      throw value_error(value.Env(), "fill: expected value to fit in 64 bits with a sign");
    store(integer);
  } else if (value.IsNumber()) {
    store(value.As<Napi::Number>().DoubleValue());
  } else {
    throw kind_error(value.Env(), "fill: expected value to be a number or a bigint");
  }
  return pattern;
}

// fill(dst, stream, dtype, value, [rank, sizes…, offset, strides…])
void fill(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "fill";
  Arguments args(info, kOp);
  const TensorArg dst = args.tensor("dst");
  args.stream();
  const auto dtype = static_cast<Dtype>(args.integer("dtype", kNumDtypes));
  FillParams params{};
  params.element_bytes = static_cast<int>(element_bytes(dtype));
  params.pattern = element_pattern(info[3], dtype);
  Geometry geometry(info[4], kOp);
  read_sizes(geometry, params.layout, env, kOp);
  params.dst = read_array(geometry, params.layout, 0, dst, dtype, env, kOp);
  if (is_empty(params.layout)) return;
  check_distinct(params.layout, dst, dtype, env, kOp);
  params.layout.collapse();
  args.run([&](const ThreadPool& pool) { return fill_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return fill_fwd(params, stream); });
}

// randn(dst, stream, dtype, count, seed)
void randn(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  constexpr char kOp[] = "randn";
  Arguments args(info, kOp);
  const TensorArg dst = args.tensor("dst");
  args.stream();
  RandnParams params{};
  params.dtype = args.float_dtype("dtype");
  params.count = count_arg(info[3], kOp, "count");
  params.seed = uint64_arg(info[4], kOp, "seed");
  const uint64_t bytes = static_cast<uint64_t>(params.count) * element_bytes(params.dtype);
  params.out = byte_range(env, *dst.handle, 0, bytes, kOp, dst.name);
  args.run([&](const ThreadPool& pool) { return randn_fwd_cpu(params, pool); },
           [&](cudaStream_t stream) { return randn_fwd(params, stream); });
}

}  // namespace

void export_copies(Napi::Env env, Napi::Object exports) {
  exports.Set("copy", Napi::Function::New<copy>(env, "copy"));
  exports.Set("fill", Napi::Function::New<fill>(env, "fill"));
  exports.Set("randn", Napi::Function::New<randn>(env, "randn"));
}

}  // namespace ww
