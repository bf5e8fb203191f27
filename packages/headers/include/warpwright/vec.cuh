// 16 bytes of T, moved as one access where the address allows it.
#pragma once

#include <cstring>

#include "warpwright/dtype.h"

namespace ww {

inline constexpr int kVecBytes = 16;

__host__ __device__ inline bool is_vec_aligned(const void* ptr) {
  return reinterpret_cast<uintptr_t>(ptr) % kVecBytes == 0;
}

template <typename T>
class Vec {
 public:
  static constexpr int kSize = kVecBytes / sizeof(T);

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

  // Element by element, for any address.
  __device__ static Vec load_misaligned(const T* ptr) { return load_tail(ptr, kSize, T{}); }
  __device__ void store_misaligned(T* ptr) const { store_tail(ptr, kSize); }

  // The first `count` elements (none if it is not positive), for any address; the others are
  // `fill`, and memory behind the tail is neither read nor written.
  __device__ static Vec load_tail(const T* ptr, int count, T fill) {
    T elements[kSize];
#pragma unroll
    for (int i = 0; i < kSize; ++i) elements[i] = i < count ? ptr[i] : fill;
    Vec vec;
    memcpy(vec.words_, elements, kVecBytes);
    vec.pin();
    return vec;
  }
  __device__ void store_tail(T* ptr, int count) const {
    T elements[kSize];
    memcpy(elements, words_, kVecBytes);
#pragma unroll
    for (int i = 0; i < kSize; ++i)
      if (i < count) ptr[i] = elements[i];
  }

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

  // Keeps the vector in its four registers from here on. Without it the compiler holds on to what
  // it once unpacked or converted, up to four times the registers.
  __device__ void pin() {
    asm volatile("" : "+r"(words_[0]), "+r"(words_[1]), "+r"(words_[2]), "+r"(words_[3]));
  }

 private:
  static constexpr int kWords = 4;
  uint32_t words_[kWords];
};

}  // namespace ww
