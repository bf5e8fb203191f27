// What a thread has of a row: its vectors in registers, or in the block's shared memory. Both are
// filled by fetch() and can be used after arrive(); what the row does not have is 0. Another row
// takes a row's place.
#pragma once

#include "warpwright/ptx/cp_async.cuh"
#include "warpwright/row_vec.cuh"
#include "warpwright/shared.cuh"

namespace ww {

template <typename T, int kCount>
class HeldVecs {
 public:
  // The vectors of a RowThread.
  template <typename Thread>
  __device__ void fetch(const Thread& thread, const T* row, int hidden_size) {
    thread.each_place([&](int i, int column, auto at, bool is_there) {
      vecs_[i] = is_there ? load_vec<T, at>(row, column, hidden_size) : Vec<T>{};
    });
  }
  __device__ void arrive() const {}

  __device__ void set(int i, const Vec<T>& vec) { vecs_[i] = vec; }
  __device__ Vec<T>& operator[](int i) { return vecs_[i]; }

 private:
  Vec<T> vecs_[kCount];
};

// Of a thread of kThreads, in the dynamic shared memory. It reads only what it has put there
// itself, so there are no barriers.
template <typename T, int kThreads>
class StagedVecs {
 public:
  __device__ StagedVecs()
      : first_(dynamic_shared<T>() + static_cast<int>(threadIdx.x) * Vec<T>::kSize) {}

  template <typename Thread>
  __device__ void fetch(const Thread& thread, const T* row, int hidden_size) {
    thread.each_place([&](int i, int column, auto at, bool is_there) {
      if constexpr (decltype(at)::value == VecAt::boundary)
        cp_async<kVecBytes>(place(i), is_there ? row + column : row, is_there ? kVecBytes : 0);
      else
        set(i, is_there ? load_vec<T, at>(row, column, hidden_size) : Vec<T>{});
    });
  }
  __device__ void arrive() const { cp_async_wait_all(); }

  __device__ void set(int i, const Vec<T>& vec) { vec.store(place(i)); }
  __device__ Vec<T> operator[](int i) const { return Vec<T>::load(place(i)); }

 private:
  __device__ T* place(int i) const { return first_ + i * kThreads * Vec<T>::kSize; }

  T* first_;
};

}  // namespace ww
