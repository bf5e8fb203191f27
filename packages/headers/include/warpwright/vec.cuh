// 16 bytes of T, moved as one access where the address allows it.
#pragma once

#include <cstring>

#include "warpwright/dtype.h"
#include "warpwright/ptx/store.cuh"

namespace ww {

inline constexpr int kVecBytes = 16;

__host__ __device__ inline bool is_vec_aligned(const void* ptr) {
  return reinterpret_cast<uintptr_t>(ptr) % kVecBytes == 0;
}

// Elements from the 16-byte boundary before ptr to ptr.
template <typename T>
__device__ int vec_skew(const T* ptr) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(ptr) % kVecBytes / sizeof(T));
}

template <typename T>
class Vec {
 public:
  static constexpr int kSize = kVecBytes / sizeof(T);
  // What load_across reads before and behind, at most.
  static constexpr int kAcross = 8 / sizeof(T);

  // One 16-byte access; ptr must be 16-byte aligned.
  __device__ static Vec load(const T* ptr) {
    const int4 bits = *reinterpret_cast<const int4*>(ptr);
    Vec vec;
    memcpy(vec.words_, &bits, kVecBytes);
    return vec;
  }
  __device__ void store(T* ptr) const {
    int4 bits;
    memcpy(&bits, words_, kVecBytes);
    *reinterpret_cast<int4*>(ptr) = bits;
  }

  // The same in global memory, where it is one access for certain.
  __device__ void store_global(T* ptr) const { ww::store_global(ptr, words_); }

  // Element by element, for any address.
  __device__ static Vec load_misaligned(const T* ptr) { return load_tail(ptr, kSize, T{}); }
  __device__ void store_misaligned(T* ptr) const { store_tail(ptr, kSize); }

  // Three 8-byte accesses for any address, of which the last is left out where it would be wholly
  // behind. They read what else is in the 8 bytes before and behind.
  __device__ static Vec load_across(const T* ptr) {
    const auto address = reinterpret_cast<uintptr_t>(ptr);
    const auto* pieces = reinterpret_cast<const uint2*>(address / kPieceBytes * kPieceBytes);
    uint32_t words[kWords + 2] = {};
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      if (i == 2 && address % kPieceBytes == 0) break;
      const uint2 piece = pieces[i];
      words[2 * i] = piece.x;
      words[2 * i + 1] = piece.y;
    }
    // Registers have no index.
#pragma unroll
    for (int i = 0; i <= kWords; ++i)
      if (address & 4) words[i] = words[i + 1];
    Vec vec;
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const uint64_t both = uint64_t{words[i + 1]} << 32 | words[i];
      vec.words_[i] = static_cast<uint32_t>(both >> 8 * (address % 4));
    }
    return vec;
  }

  // The elements from `begin` to `end` (none if there are none) of the kSize at any address; the
  // others are `fill`, and their memory is neither read nor written.
  __device__ static Vec load_range(const T* ptr, int begin, int end, T fill) {
    T elements[kSize];
#pragma unroll
    for (int i = 0; i < kSize; ++i) elements[i] = i >= begin && i < end ? ptr[i] : fill;
    Vec vec;
    memcpy(vec.words_, elements, kVecBytes);
    vec.pin();
    return vec;
  }
  __device__ void store_range(T* ptr, int begin, int end) const {
    T elements[kSize];
    memcpy(elements, words_, kVecBytes);
#pragma unroll
    for (int i = 0; i < kSize; ++i)
      if (i >= begin && i < end) ptr[i] = elements[i];
  }

  // The first `count` elements, likewise.
  __device__ static Vec load_tail(const T* ptr, int count, T fill) {
    return load_range(ptr, 0, count, fill);
  }
  __device__ void store_tail(T* ptr, int count) const { store_range(ptr, 0, count); }

  __device__ void to_floats(float (&values)[kSize]) const {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      if constexpr (sizeof(T) == 2)
        pair_to_floats(bits_of<Pair<T>>(words_[i]), values[2 * i], values[2 * i + 1]);
      else
        values[i] = to_float(bits_of<T>(words_[i]));
    }
  }

  __device__ static Vec from_floats(const float (&values)[kSize]) {
    Vec vec;
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      if constexpr (sizeof(T) == 2)
        vec.words_[i] = bits_of<uint32_t>(pair_from_floats<T>(values[2 * i], values[2 * i + 1]));
      else
        vec.words_[i] = bits_of<uint32_t>(from_float<T>(values[i]));
    }
    return vec;
  }

  // Elements 0 and 1 change places, 2 and 3, and so on.
  __device__ void swap_neighbours() {
    for (int i = 0; i < kWords; i += 2) {
      const uint32_t first = words_[i];
      const uint32_t second = words_[i + 1];
      words_[i] = sizeof(T) == 2 ? first >> 16 | first << 16 : second;
      words_[i + 1] = sizeof(T) == 2 ? second >> 16 | second << 16 : first;
    }
  }

  // Keeps the vector in its four registers from here on. Without it the compiler holds on to what
  // it once unpacked or converted, up to four times the registers.
  __device__ void pin() {
    asm volatile("" : "+r"(words_[0]), "+r"(words_[1]), "+r"(words_[2]), "+r"(words_[3]));
  }

 private:
  static constexpr int kWords = 4;
  static constexpr int kPieceBytes = 8;

  uint32_t words_[kWords];
};

}  // namespace ww
