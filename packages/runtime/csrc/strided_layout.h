// Elements at arbitrary strides, in one or several arrays at once.
#pragma once

#include <cstdint>
#include <utility>

namespace ww {

inline constexpr int kMaxRank = 8;

// kArrays arrays that share sizes; strides in elements, never negative. The first array is the one
// that is written.
template <int kArrays>
struct StridedLayout {
  int rank;
  int64_t sizes[kMaxRank];
  int64_t strides[kArrays][kMaxRank];

  int64_t count() const {
    int64_t product = 1;
    for (int d = 0; d < rank; ++d) product *= sizes[d];
    return product;
  }

  // All arrays without gaps, after collapse().
  bool dense() const {
    for (int array = 0; array < kArrays; ++array)
      if (rank > 1 || strides[array][0] != 1) return false;
    return true;
  }

  void swap(int a, int b) {
    std::swap(sizes[a], sizes[b]);
    for (auto& of_array : strides) std::swap(of_array[a], of_array[b]);
  }

  // The same elements in as few dimensions as possible, at least one, the written array's largest
  // stride first.
  void collapse() {
    drop_ones();
    for (int end = rank; end > 1; --end)
      for (int d = 1; d < end; ++d)
        if (strides[0][d - 1] < strides[0][d]) swap(d - 1, d);
    int last = 0;
    for (int d = 1; d < rank; ++d) {
      if (mergeable(last, d)) {
        take(last, d, sizes[last] * sizes[d]);
      } else {
        ++last;
        take(last, d, sizes[d]);
      }
    }
    rank = last + 1;
  }

 private:
  void take(int to, int from, int64_t size) {
    sizes[to] = size;
    for (auto& of_array : strides) of_array[to] = of_array[from];
  }

  void drop_ones() {
    int kept = 0;
    for (int d = 0; d < rank; ++d)
      if (sizes[d] != 1) take(kept++, d, sizes[d]);
    rank = kept;
    if (rank > 0) return;
    rank = 1;
    sizes[0] = 1;
    for (auto& of_array : strides) of_array[0] = 1;
  }

  bool mergeable(int outer, int inner) const {
    for (const auto& of_array : strides)
      if (of_array[outer] != sizes[inner] * of_array[inner]) return false;
    return true;
  }
};

}  // namespace ww
