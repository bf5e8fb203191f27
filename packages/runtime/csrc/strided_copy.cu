// dst[i, j, …] = src[i, j, …] with conversion. Elements of one type move as words of up to 16
// bytes; among the floating-point types dense arrays are converted 8 elements a thread, others one
// by one; whatever involves an integer takes one kernel that looks at the types as it runs.

#include "strided.cuh"
#include "strided_copy.h"
#include "warpwright/vec.cuh"

namespace ww {
namespace {

template <typename Dst, typename Src>
__device__ Dst convert_element(Src x) {
  if constexpr (std::is_same_v<Dst, Src>) {
    return x;
  } else {
    return narrow<Dst>(widen(x));
  }
}

// All loads of a thread come before its stores.
template <typename Dst, typename Src>
__global__ void __launch_bounds__(kStridedThreads)
    strided_copy_kernel(Dst* dst, const Src* src, StridedLayout<2> layout, unsigned count) {
  const unsigned first = blockIdx.x * kStridedTile + threadIdx.x;
  Dst values[kStridedUnroll];
  int64_t to[kStridedUnroll];
#pragma unroll
  for (int i = 0; i < kStridedUnroll; ++i) {
    const unsigned element = first + i * kStridedThreads;
    if (element >= count) break;
    int64_t offsets[2];
    locate(layout, element, offsets);
    to[i] = offsets[0];
    values[i] = convert_element<Dst>(src[offsets[1]]);
  }
#pragma unroll
  for (int i = 0; i < kStridedUnroll; ++i)
    if (first + i * kStridedThreads < count) dst[to[i]] = values[i];
}

constexpr int kPack = 8;  // elements: one or two 16-byte accesses

template <typename T>
__device__ void load_pack(const T* ptr, float (&values)[kPack]) {
#pragma unroll
  for (int i = 0; i < kPack; i += Vec<T>::kSize) {
    float part[Vec<T>::kSize];
    Vec<T>::load(ptr + i).to_floats(part);
#pragma unroll
    for (int j = 0; j < Vec<T>::kSize; ++j) values[i + j] = part[j];
  }
}

template <typename T>
__device__ void store_pack(T* ptr, const float (&values)[kPack]) {
#pragma unroll
  for (int i = 0; i < kPack; i += Vec<T>::kSize) {
    float part[Vec<T>::kSize];
#pragma unroll
    for (int j = 0; j < Vec<T>::kSize; ++j) part[j] = values[i + j];
    Vec<T>::from_floats(part).store(ptr + i);
  }
}

// Dense, 16-byte aligned arrays; the grid has a thread for each pack and each element of the tail.
template <typename Dst, typename Src>
__global__ void __launch_bounds__(kStridedThreads)
    convert_dense_kernel(Dst* dst, const Src* src, int64_t count) {
  const int64_t stride = int64_t{gridDim.x} * kStridedThreads;
  const int64_t num_packs = count / kPack;
  for (int64_t i = int64_t{blockIdx.x} * kStridedThreads + threadIdx.x;
       i < num_packs + count % kPack; i += stride) {
    if (i < num_packs) {
      float values[kPack];
      load_pack(src + i * kPack, values);
      store_pack(dst + i * kPack, values);
    } else {
      const int64_t element = num_packs * kPack + (i - num_packs);
      dst[element] = convert_element<Dst>(src[element]);
    }
  }
}

// One element of whatever type: a double, which holds every float exactly, or an integer.
struct Number {
  double real;
  int64_t integer;
  bool is_real;
};

__device__ Number load_number(const void* src, Dtype dtype, int64_t i) {
  switch (dtype) {
    case Dtype::f32:
      return {static_cast<const float*>(src)[i], 0, true};
    case Dtype::f16:
      return {widen(static_cast<const float16*>(src)[i]), 0, true};
    case Dtype::bf16:
      return {widen(static_cast<const bfloat16*>(src)[i]), 0, true};
    case Dtype::i32:
      return {0, static_cast<const int32_t*>(src)[i], false};
    case Dtype::i64:
      return {0, static_cast<const int64_t*>(src)[i], false};
    case Dtype::u8:
      return {0, static_cast<const uint8_t*>(src)[i], false};
    case Dtype::boolean:
      return {0, widen(static_cast<const boolean*>(src)[i]), false};
    default:
      return {static_cast<const double*>(src)[i], 0, true};
  }
}

template <typename T>
__device__ void store_number(void* dst, int64_t i, const Number& x) {
  static_cast<T*>(dst)[i] = x.is_real ? narrow<T>(x.real) : narrow<T>(x.integer);
}

__global__ void __launch_bounds__(kStridedThreads)
    convert_any_kernel(void* dst, Dtype dst_dtype, const void* src, Dtype src_dtype,
                       StridedLayout<2> layout, Offsets<2> first, unsigned count) {
#pragma unroll 1
  for (int i = 0; i < kStridedUnroll; ++i) {
    const unsigned element = blockIdx.x * kStridedTile + i * kStridedThreads + threadIdx.x;
    if (element >= count) return;
    int64_t offsets[2];
    locate(layout, element, offsets);
    const int64_t to = first.at[0] + offsets[0];
    const Number x = load_number(src, src_dtype, first.at[1] + offsets[1]);
    switch (dst_dtype) {
      case Dtype::f32:
        store_number<float>(dst, to, x);
        break;
      case Dtype::f16:
        store_number<float16>(dst, to, x);
        break;
      case Dtype::bf16:
        store_number<bfloat16>(dst, to, x);
        break;
      case Dtype::i32:
        store_number<int32_t>(dst, to, x);
        break;
      case Dtype::i64:
        store_number<int64_t>(dst, to, x);
        break;
      case Dtype::u8:
        store_number<uint8_t>(dst, to, x);
        break;
      case Dtype::boolean:
        store_number<boolean>(dst, to, x);
        break;
    }
  }
}

template <typename Dst, typename Src>
cudaError_t copy_slices(Dst* dst, const Src* src, const StridedLayout<2>& layout,
                        cudaStream_t stream) {
  return for_each_slice(layout, [&](const auto& slice, const auto& offsets) {
    const int64_t count = slice.count();
    return launch(strided_copy_kernel<Dst, Src>, strided_config(count, stream), dst + offsets.at[0],
                  src + offsets.at[1], slice, static_cast<unsigned>(count));
  });
}

cudaError_t move_elements(const StridedCopyParams& params, cudaStream_t stream) {
  const int bytes = static_cast<int>(dtype_bytes(params.dst_dtype));
  StridedLayout<2> layout = params.layout;
  if (layout.dense())
    return cudaMemcpyAsync(params.dst, params.src, layout.sizes[0] * bytes,
                           cudaMemcpyDeviceToDevice, stream);
  const int word_bytes = widen_words(layout, {params.dst, params.src}, bytes);
  return dispatch_word(word_bytes, [&]<typename Word>(type_tag<Word>) {
    return copy_slices(static_cast<Word*>(params.dst), static_cast<const Word*>(params.src), layout,
                       stream);
  });
}

template <typename Dst, typename Src>
cudaError_t convert_floats(const StridedCopyParams& params, cudaStream_t stream) {
  auto* dst = static_cast<Dst*>(params.dst);
  const auto* src = static_cast<const Src*>(params.src);
  if (!params.layout.dense() || !is_vec_aligned(dst) || !is_vec_aligned(src))
    return copy_slices(dst, src, params.layout, stream);
  const int64_t count = params.layout.sizes[0];
  const int64_t blocks =
      std::min(ceil_div<int64_t>(ceil_div<int64_t>(count, kPack), kStridedThreads), kMaxGridBlocks);
  return launch(convert_dense_kernel<Dst, Src>,
                {.grid = static_cast<unsigned>(blocks), .block = kStridedThreads, .stream = stream},
                dst, src, count);
}

bool is_float(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

}  // namespace

cudaError_t strided_copy_fwd(const StridedCopyParams& params, cudaStream_t stream) {
  if (params.dst_dtype == params.src_dtype) return move_elements(params, stream);
  if (is_float(params.dst_dtype) && is_float(params.src_dtype)) {
    return dispatch_dtype(params.dst_dtype, [&]<typename Dst>(type_tag<Dst>) {
      return dispatch_dtype(params.src_dtype, [&]<typename Src>(type_tag<Src>) {
        if constexpr (std::is_same_v<Dst, Src>) {
          return cudaErrorInvalidValue;
        } else {
          return convert_floats<Dst, Src>(params, stream);
        }
      });
    });
  }
  return for_each_slice(params.layout, [&](const auto& slice, const auto& offsets) {
    const int64_t count = slice.count();
    return launch(convert_any_kernel, strided_config(count, stream), params.dst, params.dst_dtype,
                  params.src, params.src_dtype, slice, offsets, static_cast<unsigned>(count));
  });
}

}  // namespace ww
