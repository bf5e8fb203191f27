// dst[i, j, …] = value, as words of up to 16 bytes. A block takes kStridedTile of them.

#include <cstring>

#include "fill.h"
#include "strided.cuh"

namespace ww {
namespace {

template <typename Word>
__global__ void __launch_bounds__(kStridedThreads)
    fill_kernel(Word* dst, StridedLayout<1> layout, unsigned count, Word value) {
  const unsigned first = blockIdx.x * kStridedTile + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kStridedUnroll; ++i) {
    const unsigned word = first + i * kStridedThreads;
    if (word >= count) return;
    int64_t offsets[1];
    locate(layout, word, offsets);
    dst[offsets[0]] = value;
  }
}

bool is_one_byte_repeated(const FillParams& params) {
  for (int i = 1; i < params.element_bytes; ++i)
    if ((params.pattern >> 8 * i & 0xff) != (params.pattern & 0xff)) return false;
  return true;
}

}  // namespace

cudaError_t fill_fwd(const FillParams& params, cudaStream_t stream) {
  StridedLayout<1> layout = params.layout;
  if (layout.dense() && is_one_byte_repeated(params))
    return cudaMemsetAsync(params.dst, static_cast<int>(params.pattern & 0xff),
                           layout.sizes[0] * params.element_bytes, stream);
  const int word_bytes = widen_words(layout, {params.dst}, params.element_bytes);
  unsigned char bytes[16];
  for (int i = 0; i < 16; ++i)
    bytes[i] = static_cast<unsigned char>(params.pattern >> 8 * (i % params.element_bytes));
  return dispatch_word(word_bytes, [&]<typename Word>(type_tag<Word>) {
    Word value;
    std::memcpy(&value, bytes, sizeof(value));
    return for_each_slice(layout, [&](const auto& slice, const auto& offsets) {
      const int64_t count = slice.count();
      return launch(fill_kernel<Word>, strided_config(count, stream),
                    static_cast<Word*>(params.dst) + offsets.at[0], slice,
                    static_cast<unsigned>(count), value);
    });
  });
}

}  // namespace ww
