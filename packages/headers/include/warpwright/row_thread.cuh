// A thread of a row-wise kernel: which rows and which of their vectors are its own.
#pragma once

#include <climits>
#include <iterator>
#include <type_traits>

#include "warpwright/dispatch.h"
#include "warpwright/ptx/griddepcontrol.cuh"
#include "warpwright/reduce.cuh"
#include "warpwright/row_vec.cuh"
#include "warpwright/row_vecs.cuh"

namespace ww {

// Threads for a row of up to threads * vecs whole vectors of 16 bytes, `vecs` of them each
// thread's, or that many in each of a cluster's blocks; the first that holds the row is taken. The
// choice depends on the row's length alone, so a row's result does not depend on how many rows
// there are. Up to 32 threads need no barrier. min_blocks holds the compiler to registers for so
// many blocks on a multiprocessor, 0 leaves it the choice. Vectors are in registers; staged: in
// shared memory.
struct RowTuning {
  int threads;
  int vecs;
  int min_blocks = 0;
  int cluster = 1;
  bool staged = false;
};

// Measured on an H200: blocks that take one row and leave are faster than fewer that stay and fetch
// ahead; 4 vectors a thread keep enough bytes under way. A row that fills a multiprocessor's
// registers lets no other block load while it is reduced and stored; three blocks with 64 KiB of
// shared memory each do. Every device that has clusters grants those of 8 blocks.
inline constexpr RowTuning kRowTunings[] = {
    {.threads = 8, .vecs = 4, .min_blocks = 9},
    {.threads = 32, .vecs = 2, .min_blocks = 12},
    {.threads = 32, .vecs = 3, .min_blocks = 10},
    {.threads = 32, .vecs = 4, .min_blocks = 9},
    {.threads = 64, .vecs = 4, .min_blocks = 16},
    {.threads = 128, .vecs = 4, .min_blocks = 8},
    {.threads = 128, .vecs = 8, .min_blocks = 6},
    {.threads = 256, .vecs = 8, .min_blocks = 3},
    {.threads = 512, .vecs = 8, .min_blocks = 2},
    {.threads = 1024, .vecs = 8, .min_blocks = 1},
    {.threads = 256, .vecs = 16, .min_blocks = 3, .cluster = 2, .staged = true},
    {.threads = 256, .vecs = 16, .min_blocks = 3, .cluster = 4, .staged = true},
    {.threads = 256, .vecs = 16, .min_blocks = 3, .cluster = 8, .staged = true},
};
inline constexpr int kNumRowTunings = std::size(kRowTunings);

// VecAt as an argument.
template <VecAt kAt>
using vec_at = std::integral_constant<VecAt, kAt>;

// Where the whole vectors of a row that is not aligned begin and end.
template <typename T>
struct RowEdges {
  static constexpr int kSize = Vec<T>::kSize;
  int lead = 0;  // columns before the first vector
  int tail = 0;  // column behind the last

  // Of vectors that begin with the row, wherever it lies.
  __device__ explicit RowEdges(int hidden_size) : tail(hidden_size / kSize * kSize) {}

  // Of vectors that begin at the boundaries in this row.
  __device__ RowEdges(const T* row, int hidden_size) {
    lead = (kSize - vec_skew(row)) % kSize;
    tail = lead + max(hidden_size - lead, 0) / kSize * kSize;
  }

  // The columns at the edges are the first two threads'; behind the row's end for the others.
  __device__ int column(int thread) const {
    if (thread == 0 && lead > 0) return lead - kSize;
    return thread == 1 ? tail : INT_MAX;
  }
};

// A thread of the kernel for kRowTunings[kTuning], which has vectors of T of its rows. They begin
// with the row; after align_to, of rows that are not aligned, at the 16-byte boundaries in `out`,
// so that it is written by whole ones, and what is before the first and behind the last is one
// vector more each.
//
//   RowThread<T, kTuning, kAligned> thread(hidden_size);
//   for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
//     T* out = …;
//     thread.align_to(out);
//     typename Thread::Vecs h;
//     h.fetch(thread, …);
//     h.arrive();
//     thread.meet();
//     … reductions
//   }
template <typename T, int kTuning, bool kAligned>
class RowThread {
  static constexpr RowTuning kTuned = kRowTunings[kTuning];
  static constexpr int kThreads = kTuned.threads;
  static constexpr int kRowThreads = kThreads * kTuned.cluster;
  static constexpr int kMinBlockThreads = kThreads <= kWarpSize ? 128 : kThreads;
  static constexpr int kWholeVecs = kTuned.vecs;
  static constexpr VecAt kWhole = kAligned ? VecAt::boundary : VecAt::inside;

 public:
  static constexpr int kVecs = kWholeVecs + (kAligned ? 0 : 1);
  static constexpr bool kStaged = kTuned.staged;
  // Vectors that a thread goes through together. Groups of them follow each other in a loop.
  static constexpr int kTogether = kStaged ? 4 : kWholeVecs;
  // With a vector more in each thread, there are not the registers for as many.
  static constexpr int kMinBlocks = kAligned || kStaged ? kTuned.min_blocks
                                    : kThreads >= 512   ? 1
                                                        : 0;
  static constexpr bool kClustered = kTuned.cluster > 1;
  static constexpr int kRowsPerBlock = kMinBlockThreads / kThreads;
  static constexpr int kBlockThreads = kMinBlockThreads;

  // What the thread has of a row.
  using Vecs = std::conditional_t<kStaged, StagedVecs<T, kMinBlockThreads>, HeldVecs<T, kVecs>>;
  static constexpr size_t kSharedBytes = kStaged ? size_t{kVecs} * kMinBlockThreads * kVecBytes : 0;

  // Reduces over all threads of the row.
  template <typename Op>
  using Reduce = std::conditional_t<
      kThreads <= kWarpSize, WarpReduce<Op, kThreads>,
      std::conditional_t<kClustered, ClusterReduce<Op, kThreads>, BlockReduce<Op, kThreads>>>;

  __device__ explicit RowThread(int hidden_size) : size_(hidden_size), edges_(hidden_size) {
    thread_ = threadIdx.x % kThreads + (kClustered ? cluster_rank() * kThreads : 0);
    row_stride = gridDim.x / kTuned.cluster * int64_t{kRowsPerBlock};
    first_row = blockIdx.x / kTuned.cluster * int64_t{kRowsPerBlock} + threadIdx.x / kThreads;
    if constexpr (kClustered) cluster_arrive();
    griddepcontrol_wait();
  }

  __device__ void align_to(const T* row) {
    if constexpr (!kAligned) edges_ = RowEdges<T>(row, size_);
  }

  // f(i, column, vec_at) for each vector of the row that is this thread's: its i-th, which begins
  // there. The branch about each also keeps the compiler from unpacking several at a time, for
  // which there are no registers.
  template <typename F>
  __device__ void each_vec(F&& f) const {
    each_group<kTogether>([&](int first) { each_vec_of<kTogether>(first, f); });
  }

  // f(i, column, vec_at, is_there), also for what this thread has room for and the row does not
  // have.
  template <typename F>
  __device__ void each_place(F&& f) const {
    each_group<kTogether>([&](int first) { each_place_of<kTogether>(first, f); });
  }

  // f(first) for groups of kCount of the vectors, and for the one at the row's edges by itself.
  template <int kCount, typename F>
  __device__ void each_group(F&& f) const {
    if constexpr (kStaged) {
#pragma unroll 1
      for (int first = 0; first < kWholeVecs; first += kCount) f(first);
    } else {
#pragma unroll
      for (int first = 0; first < kWholeVecs; first += kCount) f(first);
    }
    if constexpr (!kAligned) f(kWholeVecs);
  }

  // As each_vec, for those of one group.
  template <int kCount, typename F>
  __device__ void each_vec_of(int first, F&& f) const {
    each_place_of<kCount>(first, [&](int i, int column, auto at, bool is_there) {
      if (is_there) f(i, column, at);
    });
  }

  template <int kCount, typename F>
  __device__ void each_place_of(int first, F&& f) const {
    constexpr int kSize = Vec<T>::kSize;
    if (kAligned || first < kWholeVecs) {
      const int end = kAligned ? size_ : edges_.tail;
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        const int i = first + j;
        if (kWholeVecs % kCount != 0 && i >= kWholeVecs) break;
        const int column = (i * kRowThreads + thread_) * kSize + (kAligned ? 0 : edges_.lead);
        f(i, column, vec_at<kWhole>{}, column < end);
      }
    } else {
      const int edge = edges_.column(thread_);
      if (edge < size_) f(kWholeVecs, edge, vec_at<VecAt::edge>{}, true);
    }
  }

  // f(i, column, vec_at, is_there) for each whole vector that any lane of this warp has. The lanes
  // stay together, for f to exchange values. For rows of whole vectors and of a warp or more.
  template <typename F>
  __device__ void each_warp_vec(F&& f) const {
    const int lane = threadIdx.x % kWarpSize * Vec<T>::kSize;
    each_place([&](int i, int column, auto at, bool is_there) {
      if (column - lane < size_) f(i, column, at, is_there);
    });
  }

  // Whether this thread writes what there is one of for each row.
  __device__ bool is_first() const { return thread_ == 0; }

  // To be called before each row's first reduction, and after its loads, which it lets go ahead: a
  // cluster's blocks have to have begun. is_last: the block has few rows, or this is its last one;
  // the next kernel's blocks may start.
  __device__ void meet(bool is_last = true) {
    if (is_last) griddepcontrol_launch_dependents();
    if constexpr (kClustered) {
      if (!has_met_) cluster_wait();
      has_met_ = true;
    }
  }

  int64_t first_row;
  int64_t row_stride;

 private:
  int size_;
  RowEdges<T> edges_;
  int thread_;
  bool has_met_ = false;
};

// A thread of the kernel for rows that no tuning holds, a block for each; vectors are loaded again
// each time.
template <typename T, bool kAligned>
class LongRowThread {
  static constexpr VecAt kWhole = kAligned ? VecAt::boundary : VecAt::inside;

 public:
  static constexpr int kBlockThreads = 1024;
  static constexpr int kMinBlocks = 1;  // two would leave a thread 32 registers

  template <typename Op>
  using Reduce = BlockReduce<Op, kBlockThreads>;

  __device__ explicit LongRowThread(int hidden_size)
      : first_row(blockIdx.x), row_stride(gridDim.x), size_(hidden_size), edges_(hidden_size) {
    griddepcontrol_wait();
  }

  __device__ void align_to(const T* row) {
    if constexpr (!kAligned) edges_ = RowEdges<T>(row, size_);
  }

  template <typename F>
  __device__ void each_vec(F&& f) const {
    constexpr int kSize = Vec<T>::kSize;
    const int thread = static_cast<int>(threadIdx.x);
    const int end = kAligned ? size_ : edges_.tail;
    for (int column = thread * kSize + (kAligned ? 0 : edges_.lead); column < end;
         column += kBlockThreads * kSize)
      f(column, vec_at<kWhole>{});
    if constexpr (!kAligned) {
      const int edge = edges_.column(thread);
      if (edge < size_) f(edge, vec_at<VecAt::edge>{});
    }
  }

  // f(column, vec_at, is_there), by whole warps as RowThread's.
  template <typename F>
  __device__ void each_warp_vec(F&& f) const {
    constexpr int kSize = Vec<T>::kSize;
    const int lane = threadIdx.x % kWarpSize * kSize;
    for (int column = threadIdx.x * kSize; column - lane < size_; column += kBlockThreads * kSize)
      f(column, vec_at<kWhole>{}, column < size_);
  }

  __device__ bool is_first() const { return threadIdx.x == 0; }

  int64_t first_row;
  int64_t row_stride;

 private:
  int size_;
  RowEdges<T> edges_;
};

}  // namespace ww
