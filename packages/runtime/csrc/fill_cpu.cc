#include <algorithm>

#include "fill.h"
#include "strided_tiles_cpu.h"

namespace ww {
namespace {

template <typename Word>
void fill_run(Word* dst, int64_t stride, int64_t count, Word value) {
  if (stride == 1) {
    std::fill_n(dst, count, value);
  } else {
    for (int64_t i = 0; i < count; ++i) dst[i * stride] = value;
  }
}

template <typename Word>
void fill_typed(const FillParams& params, const ThreadPool& pool) {
  const int last = params.layout.rank - 1;
  const auto& strides = params.layout.strides[0];
  const int64_t row_stride = last > 0 ? strides[last - 1] : 0;
  const int64_t width = std::min(params.layout.sizes[last], kTileElements);
  const auto value = static_cast<Word>(params.pattern);
  for_each_tile(params.layout, kTileElements / width, width, pool,
                [&](const int64_t (&offsets)[1], int64_t num_rows, int64_t num_columns) {
                  Word* dst = static_cast<Word*>(params.dst) + offsets[0];
                  for (int64_t row = 0; row < num_rows; ++row)
                    fill_run(dst + row * row_stride, strides[last], num_columns, value);
                });
}

}  // namespace

cudaError_t fill_fwd_cpu(const FillParams& params, const ThreadPool& pool) {
  switch (params.element_bytes) {
    case 1:
      fill_typed<uint8_t>(params, pool);
      break;
    case 2:
      fill_typed<uint16_t>(params, pool);
      break;
    case 4:
      fill_typed<uint32_t>(params, pool);
      break;
    default:
      fill_typed<uint64_t>(params, pool);
  }
  return cudaSuccess;
}

}  // namespace ww
