// The steps on one 16-byte vector of a row that row-wise kernels have in common. A vector is named
// by the column of its first element.
#pragma once

#include <type_traits>

#include "warpwright/rows.h"
#include "warpwright/vec.cuh"

namespace ww {

// Where a vector is in its row:
enum class VecAt {
  boundary,  // begins at a 16-byte boundary, in every tensor and parameter, and ends in the row
  inside,    // ends in the row
  edge,      // reaches beyond one of the row's ends, or both
};

// Elements outside the row are 0.
template <typename T, VecAt kAt>
__device__ Vec<T> load_vec(const T* row, int column, int hidden_size) {
  const T* ptr = row + column;
  if constexpr (kAt == VecAt::boundary) return Vec<T>::load(ptr);
  if constexpr (kAt == VecAt::inside) {
    if (is_vec_aligned(ptr)) return Vec<T>::load(ptr);
    constexpr int kAcross = Vec<T>::kAcross;
    if (column >= kAcross && column + Vec<T>::kSize + kAcross <= hidden_size)
      return Vec<T>::load_across(ptr);
  }
  return Vec<T>::load_range(ptr, -column, hidden_size - column, from_float<T>(0.0f));
}

template <typename T, VecAt kAt>
__device__ void store_vec(const Vec<T>& values, T* row, int column, int hidden_size) {
  T* ptr = row + column;
  if (kAt == VecAt::boundary || (kAt == VecAt::inside && is_vec_aligned(ptr)))
    values.store(ptr);
  else
    values.store_range(ptr, -column, hidden_size - column);
}

// x + residual, rounded.
template <typename T>
__device__ Vec<T> added(const Vec<T>& x, const Vec<T>& residual) {
  float sum[Vec<T>::kSize];
  float addend[Vec<T>::kSize];
  x.to_floats(sum);
  residual.to_floats(addend);
#pragma unroll
  for (int j = 0; j < Vec<T>::kSize; ++j) sum[j] += addend[j];
  return Vec<T>::from_floats(sum);
}

// One row of h = x, or of h = x + residual rounded, which is also written to residual_out.
template <typename T>
class AddedVecs {
 public:
  template <AddedRowParams P>
  __device__ AddedVecs(const P& params, const RowIndex& index)
      : x_(params.x.template row<const T>(index)),
        size_(params.hidden_size),
        adds_(params.residual.data != nullptr) {
    if (!adds_) return;
    residual_ = params.residual.template row<const T>(index);
    residual_out_ = params.residual_out.template row<T>(index);
  }

  // All vectors of a RowThread, into h. Those of x are under way together. kAdds: there may be a
  // residual.
  template <bool kAdds, typename Thread>
  __device__ void load(const Thread& thread, typename Thread::Vecs& h) const {
    h.fetch(thread, x_, size_);
    h.arrive();
    if (!kAdds || !adds_) return;
    // Some vectors of the residual are under way together, as many as there are registers for. Sums
    // are stored behind them, since they may take the residual's place.
    constexpr int kTogether = Thread::kStaged ? Thread::kTogether : Thread::kVecs <= 2 ? 1 : 2;
    thread.template each_group<kTogether>([&](int first) {
      Vec<T> residual[kTogether];
      thread.template each_vec_of<kTogether>(first, [&](int i, int column, auto at) {
        residual[i - first] = load_vec<T, at>(residual_, column, size_);
      });
      thread.template each_vec_of<kTogether>(first, [&](int i, int column, auto at) {
        const Vec<T> sum = added<T>(h[i], residual[i - first]);
        h.set(i, sum);
        store_vec<T, at>(sum, residual_out_, column, size_);
      });
    });
  }

  // One vector. To be called once for each: residual_out may be x or residual itself.
  template <VecAt kAt>
  __device__ Vec<T> load_one(int column) const {
    auto h = load_vec<T, kAt>(x_, column, size_);
    if (adds_) add<kAt>(column, h);
    return h;
  }

  // The same vector again, after load_one.
  template <VecAt kAt>
  __device__ Vec<T> reload_one(int column) const {
    return load_vec<T, kAt>(adds_ ? residual_out_ : x_, column, size_);
  }

 private:
  template <VecAt kAt>
  __device__ void add(int column, Vec<T>& h) const {
    h = added(h, load_vec<T, kAt>(residual_, column, size_));
    store_vec<T, kAt>(h, residual_out_, column, size_);
  }

  const T* x_;
  const T* residual_ = nullptr;
  T* residual_out_ = nullptr;
  int size_;
  bool adds_;
};

template <typename T>
__device__ bool is_of(Dtype dtype) {
  return std::is_same_v<T, float> || dtype != Dtype::f32;
}

// One vector's columns of a parameter of T or of float32, which takes as many 16 bytes as T is
// narrower. kIsT: it is known to be of T.
template <typename T, VecAt kAt, bool kIsT>
__device__ void load_param(const void* param, Dtype dtype, int column, int hidden_size,
                           float (&values)[Vec<T>::kSize]) {
  if (kIsT || is_of<T>(dtype)) {
    load_vec<T, kAt>(static_cast<const T*>(param), column, hidden_size).to_floats(values);
    return;
  }
  constexpr int kSize = Vec<float>::kSize;
#pragma unroll
  for (int first = 0; first < Vec<T>::kSize; first += kSize) {
    const auto* floats = static_cast<const float*>(param);
    const auto piece = load_vec<float, kAt>(floats, column + first, hidden_size);
    float quarter[kSize];
    piece.to_floats(quarter);
#pragma unroll
    for (int j = 0; j < kSize; ++j) values[first + j] = quarter[j];
  }
}

// A parameter's vectors for a group of those that a thread has of each row. kIsAhead: those of T
// are asked for by fetch(), before they are needed, for as many registers.
template <typename T, int kTogether, bool kIsAhead>
class ParamVecs {
 public:
  // param may be null.
  __device__ ParamVecs(const void* param, Dtype dtype, int hidden_size)
      : param_(param), dtype_(dtype), size_(hidden_size) {}

  // Those for the group of a RowThread that begins with its vector `first`.
  template <typename Thread>
  __device__ void fetch(const Thread& thread, int first) {
    if (!kIsAhead || param_ == nullptr || !is_of<T>(dtype_)) return;
    thread.template each_vec_of<kTogether>(first, [&](int i, int column, auto at) {
      ahead_[i % kTogether] = load_vec<T, at>(static_cast<const T*>(param_), column, size_);
    });
  }

  // The thread's i-th, of the group that was fetched; param must not be null. kIsT: it is known to
  // be of T.
  template <VecAt kAt, bool kIsT>
  __device__ void get(int i, int column, float (&values)[Vec<T>::kSize]) const {
    if constexpr (kIsAhead) {
      if (kIsT || is_of<T>(dtype_)) return ahead_[i % kTogether].to_floats(values);
    }
    load_param<T, kAt, kIsT>(param_, dtype_, column, size_, values);
  }

 private:
  const void* param_;
  Dtype dtype_;
  int size_;
  Vec<T> ahead_[kIsAhead ? kTogether : 1];
};

}  // namespace ww
