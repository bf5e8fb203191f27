// How a row-wise kernel shares its rows out: to a warp, a block or a cluster of blocks, which hold
// the row in registers, by its length; to a block that reads it again where none of them can (from
// 128 KiB on devices without clusters, 512 KiB on the others).
#pragma once

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <iterator>
#include <type_traits>

#include "warpwright/dispatch.h"
#include "warpwright/launch.h"
#include "warpwright/reduce.cuh"
#include "warpwright/row_vec.cuh"

namespace ww {

// Threads for a row of up to threads * vecs vectors of 16 bytes, `vecs` of them in each thread's
// registers, or that many in each block of a cluster; the first that holds the row is taken. The
// choice depends on the row's length alone, so a row's result does not depend on how many rows
// there are. 32 threads need no barrier; 16 vectors take half of the 128 registers that 512 threads
// leave each. min_blocks holds the compiler to registers for so many blocks on a multiprocessor, 0
// leaves it the choice.
struct RowTuning {
  int threads;
  int vecs;
  bool clustered = false;
  int min_blocks = 0;
};
inline constexpr RowTuning kRowTunings[] = {
    {32, 1},  {32, 2},  {32, 4},           {32, 8},           {128, 4}, {256, 4},
    {256, 8}, {512, 8}, {512, 4, true, 2}, {512, 8, true, 1}, {512, 16}};
inline constexpr int kNumRowTunings = std::size(kRowTunings);
// The last that neither needs clusters nor is in their stead, and the first that does.
inline constexpr int kLongestOneBlock = 7;
inline constexpr int kFirstClustered = 8;
static_assert(kRowTunings[kFirstClustered].clustered && !kRowTunings[kLongestOneBlock].clustered);
inline constexpr int kMaxRowCluster = 8;  // the largest that every device with clusters grants

// A thread of the kernel for kRowTunings[kTuning], and the vectors of a row that it holds:
//
//   const RowThread<kTuning> thread(num_vecs);
//   for (int64_t row = thread.first_row; row < num_rows; row += thread.row_stride) {
//     Vec<T> h[thread.kVecs];
//     thread.each_vec([&](int i, int vec) { h[i] = … });
//   }
//   thread.leave();
template <int kTuning>
class RowThread {
  static constexpr int kThreads = kRowTunings[kTuning].threads;
  static constexpr int kMinBlockThreads = 128;

 public:
  static constexpr int kVecs = kRowTunings[kTuning].vecs;
  static constexpr bool kClustered = kRowTunings[kTuning].clustered;
  static constexpr int kRowsPerBlock =
      kThreads < kMinBlockThreads ? kMinBlockThreads / kThreads : 1;
  static constexpr int kBlockThreads = kRowsPerBlock * kThreads;
  static constexpr int kMinBlocks = kRowTunings[kTuning].min_blocks;

  // Reduces over all threads of the row.
  template <typename Op>
  using Reduce = std::conditional_t<
      kThreads == kWarpSize, WarpReduce<Op>,
      std::conditional_t<kClustered, ClusterReduce<Op, kThreads>, BlockReduce<Op, kThreads>>>;

  // num_vecs: of a row.
  __device__ explicit RowThread(int num_vecs) : num_vecs_(num_vecs) {
    const int blocks_per_row = kClustered ? cluster_size() : 1;
    num_threads_ = kThreads * blocks_per_row;
    thread_ = threadIdx.x % kThreads + (kClustered ? cluster_rank() * kThreads : 0);
    row_stride = gridDim.x / blocks_per_row * int64_t{kRowsPerBlock};
    first_row = blockIdx.x / blocks_per_row * int64_t{kRowsPerBlock} + threadIdx.x / kThreads;
  }

  // f(i, vec) for each vector of the row that is this thread's: its i-th, the row's vec-th.
  template <typename F>
  __device__ void each_vec(F&& f) const {
    // Opaque in a cluster, where the compiler would keep each `vec` in a register between loops.
    int first = thread_;
    if constexpr (kClustered) asm volatile("" : "+r"(first));
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int vec = i * num_threads_ + first;
      if (vec < num_vecs_) f(i, vec);
    }
  }

  // f(i, vec, inside) for each vector that any lane of this warp has, `inside` where it is this
  // lane's: what is beyond the row's end is not. The lanes stay together, for f to exchange values.
  template <typename F>
  __device__ void each_warp_vec(F&& f) const {
    int first = thread_;  // opaque as above
    if constexpr (kClustered) asm volatile("" : "+r"(first));
    const int lane = threadIdx.x % kWarpSize;
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int vec = i * num_threads_ + first;
      if (vec - lane < num_vecs_) f(i, vec, vec < num_vecs_);
    }
  }

  // Whether this thread writes what there is one of for each row.
  __device__ bool is_first() const { return thread_ == 0; }

  // To be called after the last row: peers may still be reading this block's part of a sum.
  __device__ void leave() const {
    if constexpr (kClustered) cluster_sync();
  }

  int64_t first_row;
  int64_t row_stride;

 private:
  int num_vecs_;
  int num_threads_;
  int thread_;
};

// A thread of the kernel for rows that no tuning holds, a block for each; vectors are loaded again
// each time.
class LongRowThread {
 public:
  static constexpr int kBlockThreads = 1024;
  static constexpr int kMinBlocks = 1;  // two would leave a thread 32 registers

  template <typename Op>
  using Reduce = BlockReduce<Op, kBlockThreads>;

  __device__ explicit LongRowThread(int num_vecs)
      : first_row(blockIdx.x), row_stride(gridDim.x), num_vecs_(num_vecs) {}

  template <typename F>
  __device__ void each_vec(F&& f) const {
    for (int vec = threadIdx.x; vec < num_vecs_; vec += kBlockThreads) f(vec);
  }

  // f(vec, inside), by whole warps as RowThread's.
  template <typename F>
  __device__ void each_warp_vec(F&& f) const {
    const int lane = threadIdx.x % kWarpSize;
    for (int vec = threadIdx.x; vec - lane < num_vecs_; vec += kBlockThreads)
      f(vec, vec < num_vecs_);
  }

  __device__ bool is_first() const { return threadIdx.x == 0; }

  int64_t first_row;
  int64_t row_stride;

 private:
  int num_vecs_;
};

// Whether every row of every tensor begins at a 16-byte boundary and ends at one, and parameters
// begin at one.
template <RowParams P>
bool is_aligned(const P& params, std::initializer_list<Rows> tensors,
                std::initializer_list<const void*> row_params) {
  const int64_t bytes = dtype_bytes(params.dtype);
  const auto on_boundary = [&](int64_t count) { return count * bytes % kVecBytes == 0; };
  const auto rows_aligned = [&](const Rows& rows) {
    return is_vec_aligned(rows.data) && std::ranges::all_of(rows.strides, on_boundary);
  };
  return on_boundary(params.hidden_size) && std::ranges::all_of(tensors, rows_aligned) &&
         std::ranges::all_of(row_params, is_vec_aligned);
}

namespace detail {

// A grid for `groups` groups of `cluster` blocks. The kernels stride over the rows beyond a million
// blocks, thousands for each multiprocessor: far below CUDA's limit, so that it happens in tests.
inline unsigned row_blocks(int64_t groups, int cluster) {
  constexpr int64_t kMaxBlocks = 1 << 20;
  return static_cast<unsigned>(std::min(groups, kMaxBlocks / cluster) * cluster);
}

// The first tuning of min_threads or more that holds a row of num_vecs, or kNumRowTunings.
inline int row_tuning(int num_vecs, bool clusters, int min_threads) {
  const auto holds_row = [&](const RowTuning& tuning) {
    const int max_blocks = !tuning.clustered ? 1 : clusters ? kMaxRowCluster : 0;
    return tuning.threads >= min_threads && num_vecs <= max_blocks * tuning.threads * tuning.vecs;
  };
  return static_cast<int>(std::ranges::find_if(kRowTunings, holds_row) - std::begin(kRowTunings));
}

}  // namespace detail

// What the threads of a row have at a time.
struct RowShare {
  int64_t count;        // how many there are: rows, or groups of rows
  int warps = 1;        // that share one, where a row is a warp's: a divisor of a block's
  int min_threads = 0;  // fewer do not share a row that one block holds
};

// Starts held(kTuning), the kernel for rows in registers, with the tuning for params.hidden_size
// elements of T, or `longer`, the kernel for rows that no tuning holds. kTuning is a
// std::integral_constant.
template <typename T, RowParams P, typename Held>
cudaError_t launch_rows(const P& params, const RowShare& share, cudaStream_t stream, Held&& held,
                        void (*longer)(P)) {
  const int num_vecs = ceil_div(params.hidden_size, Vec<T>::kSize);
  constexpr RowTuning kOneBlock = kRowTunings[kLongestOneBlock];
  bool clusters = false;
  if (num_vecs > kOneBlock.threads * kOneBlock.vecs) {
    const auto kernel = held(std::integral_constant<int, kFirstClustered>{});
    const auto* function = reinterpret_cast<const void*>(kernel);
    if (const cudaError_t status = supports_clusters(function, clusters)) return status;
  }
  const int min_threads = std::min(share.min_threads, kOneBlock.threads);
  const int tuning = detail::row_tuning(num_vecs, clusters, min_threads);
  if (tuning == kNumRowTunings)
    return launch(longer,
                  {.grid = detail::row_blocks(share.count, 1),
                   .block = LongRowThread::kBlockThreads,
                   .stream = stream},
                  params);
  return dispatch_index<kNumRowTunings>(tuning, [&](auto kTuning) {
    using Thread = RowThread<decltype(kTuning)::value>;
    constexpr RowTuning kTuned = kRowTunings[decltype(kTuning)::value];
    const unsigned blocks_per_row = ceil_div(num_vecs, kTuned.threads * kTuned.vecs);
    const int cluster = static_cast<int>(std::bit_ceil(blocks_per_row));
    const int warps = Thread::kRowsPerBlock > 1 ? share.warps : 1;
    const int64_t groups = ceil_div<int64_t>(share.count, Thread::kRowsPerBlock / warps);
    return launch(held(kTuning),
                  {.grid = detail::row_blocks(groups, cluster),
                   .block = Thread::kBlockThreads,
                   .cluster = cluster,
                   .stream = stream},
                  params);
  });
}

// The same for a kernel whose threads have one row at a time.
template <typename T, RowParams P, typename Held>
cudaError_t launch_rows(const P& params, cudaStream_t stream, Held&& held, void (*longer)(P)) {
  return launch_rows<T>(params, {.count = params.grid.num_rows()}, stream, held, longer);
}

}  // namespace ww
