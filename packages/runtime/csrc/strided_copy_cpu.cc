// dst[i, j, …] = src[i, j, …] with conversion. Tiles run along dst's innermost dimension; where src
// is dense along another one, tiles are square, so that both sides use whole cache lines.

#include <algorithm>
#include <cstring>

#include "strided_copy.h"
#include "strided_tiles_cpu.h"

namespace ww {
namespace {

constexpr int64_t kTileRowBytes = 128;  // two cache lines

template <typename T>
constexpr bool kIsFloat =
    std::is_same_v<T, float> || std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

template <typename Dst, typename Src>
Dst convert_element(Src x) {
  if constexpr (std::is_same_v<Dst, Src>) {
    return x;
  } else {
    return narrow<Dst>(widen(x));
  }
}

template <typename Dst, typename Src>
void copy_dense(Dst* __restrict dst, const Src* __restrict src, int64_t count) {
  if constexpr (std::is_same_v<Dst, Src>) {
    std::memcpy(dst, src, count * sizeof(Dst));
  } else if constexpr (kIsFloat<Dst> && kIsFloat<Src>) {
    vectorised([=]() WW_VECTORISED {
      for (int64_t i = 0; i < count; ++i) dst[i] = convert_element<Dst>(src[i]);
    });
  } else {
    for (int64_t i = 0; i < count; ++i) dst[i] = convert_element<Dst>(src[i]);
  }
}

template <typename Dst, typename Src>
void copy_run(Dst* dst, int64_t dst_stride, const Src* src, int64_t src_stride, int64_t count) {
  if (dst_stride == 1 && src_stride == 1) return copy_dense(dst, src, count);
  if (src_stride == 0) {
    const Dst value = convert_element<Dst>(*src);
    for (int64_t i = 0; i < count; ++i) dst[i * dst_stride] = value;
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    dst[i * dst_stride] = convert_element<Dst>(src[i * src_stride]);
}

// The dimension along which src is dense, if dst's innermost is another one and src is not dense
// there; otherwise -1.
int transposed_dim(const StridedLayout<2>& layout) {
  const auto& src_strides = layout.strides[1];
  if (src_strides[layout.rank - 1] <= 1) return -1;
  for (int d = layout.rank - 2; d >= 0; --d)
    if (src_strides[d] == 1) return d;
  return -1;
}

template <typename Dst, typename Src>
void copy_rows(const StridedCopyParams& params, const ThreadPool& pool) {
  const StridedLayout<2>& layout = params.layout;
  const int column = layout.rank - 1;
  const int row = std::max(column - 1, 0);  // of one row, if there is one dimension only
  const auto& [dst_strides, src_strides] = layout.strides;
  const int64_t width = std::min(layout.sizes[column], kTileElements);
  for_each_tile(layout, kTileElements / width, width, pool,
                [&](const int64_t (&offsets)[2], int64_t num_rows, int64_t num_columns) {
                  auto* dst = static_cast<Dst*>(params.dst) + offsets[0];
                  const auto* src = static_cast<const Src*>(params.src) + offsets[1];
                  for (int64_t i = 0; i < num_rows; ++i)
                    copy_run(dst + i * dst_strides[row], dst_strides[column],
                             src + i * src_strides[row], src_strides[column], num_columns);
                });
}

// A square tile at a time, through a buffer that stays in the first cache: src is read along the
// dimension where it is dense, dst written along its innermost.
template <typename Dst, typename Src>
void copy_transposed(const StridedCopyParams& params, int dense_dim, const ThreadPool& pool) {
  constexpr int64_t kTile = std::clamp<int64_t>(kTileRowBytes / sizeof(Src), 16, 64);
  StridedLayout<2> layout = params.layout;
  const int column = layout.rank - 1;
  const int row = layout.rank - 2;
  layout.swap(dense_dim, row);
  const auto& [dst_strides, src_strides] = layout.strides;
  for_each_tile(layout, kTile, kTile, pool,
                [&](const int64_t (&offsets)[2], int64_t num_rows, int64_t num_columns) {
                  Dst buffer[kTile * kTile];  // [row][column]
                  const auto* src = static_cast<const Src*>(params.src) + offsets[1];
                  for (int64_t j = 0; j < num_columns; ++j, src += src_strides[column])
                    copy_run(buffer + j, kTile, src, 1, num_rows);
                  auto* dst = static_cast<Dst*>(params.dst) + offsets[0];
                  for (int64_t i = 0; i < num_rows; ++i, dst += dst_strides[row])
                    copy_run(dst, dst_strides[column], buffer + i * kTile, 1, num_columns);
                });
}

template <typename Dst, typename Src>
void copy_typed(const StridedCopyParams& params, const ThreadPool& pool) {
  const int dim = transposed_dim(params.layout);
  if (dim < 0) return copy_rows<Dst, Src>(params, pool);
  copy_transposed<Dst, Src>(params, dim, pool);
}

void move_elements(const StridedCopyParams& params, const ThreadPool& pool) {
  switch (dtype_bytes(params.dst_dtype)) {
    case 1:
      return copy_typed<uint8_t, uint8_t>(params, pool);
    case 2:
      return copy_typed<uint16_t, uint16_t>(params, pool);
    case 4:
      return copy_typed<uint32_t, uint32_t>(params, pool);
    default:
      return copy_typed<uint64_t, uint64_t>(params, pool);
  }
}

}  // namespace

cudaError_t strided_copy_fwd_cpu(const StridedCopyParams& params, const ThreadPool& pool) {
  if (params.dst_dtype == params.src_dtype) {
    move_elements(params, pool);
    return cudaSuccess;
  }
  dispatch_element(params.dst_dtype, [&]<typename Dst>(type_tag<Dst>) {
    dispatch_element(params.src_dtype, [&]<typename Src>(type_tag<Src>) {
      if constexpr (!std::is_same_v<Dst, Src> && !std::is_same_v<Dst, double>)
        copy_typed<Dst, Src>(params, pool);
    });
  });
  return cudaSuccess;
}

}  // namespace ww
