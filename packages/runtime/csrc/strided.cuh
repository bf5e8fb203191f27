// What the strided kernels share: finding an element, words of up to 16 bytes, the launch.
#pragma once

#include <algorithm>
#include <cstdint>

#include "strided_layout.h"
#include "warpwright/dispatch.h"
#include "warpwright/launch.h"

namespace ww {

inline constexpr int kStridedThreads = 256;
// Elements of a thread that are on their way together.
inline constexpr int kStridedUnroll = 4;
inline constexpr unsigned kStridedTile = kStridedThreads * kStridedUnroll;
// Elements of one launch: they are numbered, and their numbers divided, in 32 bits, since 64-bit
// division is several times slower.
inline constexpr int64_t kMaxSlice = int64_t{1} << 31;

// Distances of element i from each array's first.
template <int kArrays>
__device__ inline void locate(const StridedLayout<kArrays>& layout, unsigned i,
                              int64_t (&offsets)[kArrays]) {
#pragma unroll
  for (int array = 0; array < kArrays; ++array) offsets[array] = 0;
#pragma unroll
  for (int d = kMaxRank - 1; d >= 0; --d) {
    if (d >= layout.rank) continue;
    unsigned index = i;
    if (d > 0) {
      const auto size = static_cast<unsigned>(layout.sizes[d]);
      i = index / size;
      index -= i * size;
    }
#pragma unroll
    for (int array = 0; array < kArrays; ++array)
      offsets[array] += static_cast<int64_t>(index) * layout.strides[array][d];
  }
}

// Distances from each array's first element.
template <int kArrays>
struct Offsets {
  int64_t at[kArrays];
};

// f(slice, offsets) for slices of at most kMaxSlice elements that together are the layout; offsets
// lead to the slice's first element. Stops at the first failure.
template <int kArrays, typename F>
cudaError_t for_each_slice(const StridedLayout<kArrays>& layout, F&& f,
                           Offsets<kArrays> offsets = {}) {
  if (layout.count() <= kMaxSlice) return f(layout, offsets);
  const auto dim = std::max_element(layout.sizes, layout.sizes + layout.rank) - layout.sizes;
  StridedLayout<kArrays> half = layout;
  half.sizes[dim] /= 2;
  if (const cudaError_t status = for_each_slice(half, f, offsets)) return status;
  for (int array = 0; array < kArrays; ++array)
    offsets.at[array] += half.sizes[dim] * layout.strides[array][dim];
  half.sizes[dim] = layout.sizes[dim] - half.sizes[dim];
  return for_each_slice(half, f, offsets);
}

// One block for each tile of a slice.
inline LaunchConfig strided_config(int64_t count, cudaStream_t stream) {
  return {.grid = static_cast<unsigned>(ceil_div<int64_t>(count, kStridedTile)),
          .block = kStridedThreads,
          .stream = stream};
}

// f(type_tag<Word>{}) with a type of that many bytes.
template <typename F>
cudaError_t dispatch_word(int bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(type_tag<uint8_t>{});
    case 2:
      return f(type_tag<uint16_t>{});
    case 4:
      return f(type_tag<uint32_t>{});
    case 8:
      return f(type_tag<uint64_t>{});
    case 16:
      return f(type_tag<uint4>{});
    default:
      return cudaErrorInvalidValue;
  }
}

// Takes two neighbours as one word of twice the bytes, as long as every run and every array's first
// element stay aligned. Returns the words' bytes.
template <int kArrays>
int widen_words(StridedLayout<kArrays>& layout, const void* const (&firsts)[kArrays], int bytes) {
  const int last = layout.rank - 1;
  const auto pairs = [&] {
    if (layout.sizes[last] % 2 != 0) return false;
    for (int array = 0; array < kArrays; ++array) {
      if (layout.strides[array][last] != 1) return false;
      if (reinterpret_cast<uintptr_t>(firsts[array]) % (2 * bytes) != 0) return false;
      for (int d = 0; d < last; ++d)
        if (layout.strides[array][d] % 2 != 0) return false;
    }
    return true;
  };
  for (; bytes < 16 && pairs(); bytes *= 2) {
    layout.sizes[last] /= 2;
    for (auto& strides : layout.strides)
      for (int d = 0; d < last; ++d) strides[d] /= 2;
  }
  return bytes;
}

}  // namespace ww
