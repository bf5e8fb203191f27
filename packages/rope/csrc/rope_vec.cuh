// What one thread of rope.cu has of a head: two pieces, vectors of 16 bytes or, where addresses or
// sizes do not allow those, single elements.
#pragma once

#include <cmath>

#include "rope.h"
#include "warpwright/dispatch.h"
#include "warpwright/vec.cuh"

namespace ww {

// One element, with the interface of Vec.
template <typename T>
class Element {
 public:
  static constexpr int kSize = 1;

  __device__ static Element load(const T* ptr) { return Element(*ptr); }
  __device__ void store(T* ptr) const { *ptr = value_; }
  __device__ void to_floats(float (&values)[1]) const { values[0] = to_float(value_); }
  __device__ static Element from_floats(const float (&values)[1]) {
    return Element(from_float<T>(values[0]));
  }

  Element() = default;

 private:
  __device__ explicit Element(T value) : value_(value) {}

  T value_;
};

// Whether the two elements of a pair are in one piece; if not, they are at the same place of the
// two pieces.
template <typename V, bool kInterleaved>
inline constexpr bool kPairsWithin = kInterleaved && V::kSize > 1;

// Threads for the rotary range of a head, two pieces each.
template <typename V>
WW_HOST_DEVICE int rotary_lanes(const RopeParams& params) {
  return params.rotary_dim / 2 / V::kSize;
}

// Pieces outside the rotary range.
template <typename V>
WW_HOST_DEVICE int num_rest_pieces(const RopeParams& params) {
  return (params.head_dim - params.rotary_dim) / V::kSize;
}

// The first columns of a lane's two pieces: of the rotary range two that belong together, behind
// those any two of the rest, of which the last may be one piece twice.
struct Columns {
  int first;
  int second;
};

template <typename V, bool kInterleaved>
__device__ Columns columns_of(const RopeParams& params, int lane) {
  const int rest = lane - rotary_lanes<V>(params);
  if (rest < 0) {
    const int begin = params.rotary_offset;
    if constexpr (kInterleaved && !kPairsWithin<V, kInterleaved>)
      return {begin + 2 * lane, begin + 2 * lane + 1};
    return {begin + lane * V::kSize, begin + lane * V::kSize + params.rotary_dim / 2};
  }
  const auto column = [&](int piece) {
    const int before = piece * V::kSize;
    return before < params.rotary_offset ? before : before + params.rotary_dim;
  };
  const int count = num_rest_pieces<V>(params);
  const int second = rest + ceil_div(count, 2);
  return {column(rest), column(second < count ? second : rest)};
}

// A lane's cosines and sines at one position, for all heads there.
template <typename V, bool kInterleaved>
class Rotation {
 public:
  __device__ void load(const RopeParams& params, int64_t row, int lane) {
    const RopeTables& tables = params.tables;
    load_table(tables.cos, tables.cos_stride * row, params, lane, cos_);
    load_table(tables.sin, tables.sin_stride * row, params, lane, sin_);
    const float sign = params.inverse ? -1.0f : 1.0f;
#pragma unroll
    for (int i = 0; i < V::kSize; ++i) sin_[i] *= sign;
  }

  __device__ void turn(V& first, V& second) const {
    constexpr int kSize = V::kSize;
    float a[kSize];
    float b[kSize];
    first.to_floats(a);
    second.to_floats(b);
    if constexpr (kPairsWithin<V, kInterleaved>) {
#pragma unroll
      for (int i = 0; i < kSize / 2; ++i) {
        turn_pair(i, a[2 * i], a[2 * i + 1]);
        turn_pair(kSize / 2 + i, b[2 * i], b[2 * i + 1]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kSize; ++i) turn_pair(i, a[i], b[i]);
    }
    first = V::from_floats(a);
    second = V::from_floats(b);
  }

 private:
  // Which product is rounded is not left to the compiler: all instances give the same bits.
  __device__ void turn_pair(int i, float& x, float& y) const {
    const float turned = fmaf(x, cos_[i], -(y * sin_[i]));
    y = fmaf(y, cos_[i], x * sin_[i]);
    x = turned;
  }

  __device__ static void load_table(const void* table, int64_t row_begin, const RopeParams& params,
                                    int lane, float (&values)[V::kSize]) {
    if (params.tables.dtype == Dtype::f32)
      load_row(static_cast<const float*>(table) + row_begin, params, lane, values);
    else if (params.tables.dtype == Dtype::f16)
      load_row(static_cast<const float16*>(table) + row_begin, params, lane, values);
    else
      load_row(static_cast<const bfloat16*>(table) + row_begin, params, lane, values);
  }

  template <typename Entry>
  __device__ static void load_row(const Entry* row, const RopeParams& params, int lane,
                                  float (&values)[V::kSize]) {
    if constexpr (kPairsWithin<V, kInterleaved>) {
      constexpr int kHalf = V::kSize / 2;
      load_entries<kHalf>(row + lane * kHalf, values);
      load_entries<kHalf>(row + params.rotary_dim / 4 + lane * kHalf, values + kHalf);
    } else {
      load_entries<V::kSize>(row + lane * V::kSize, values);
    }
  }

  template <int kCount, typename Entry>
  __device__ static void load_entries(const Entry* entries, float* values) {
    using EntryVec = Vec<Entry>;
    if constexpr (kCount % EntryVec::kSize == 0) {
#pragma unroll
      for (int i = 0; i < kCount; i += EntryVec::kSize) {
        float part[EntryVec::kSize];
        EntryVec::load(entries + i).to_floats(part);
#pragma unroll
        for (int j = 0; j < EntryVec::kSize; ++j) values[i + j] = part[j];
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) values[i] = to_float(entries[i]);
    }
  }

  float cos_[V::kSize];
  float sin_[V::kSize];
};

}  // namespace ww
