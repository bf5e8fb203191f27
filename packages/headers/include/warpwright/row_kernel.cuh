// How a row-wise kernel shares its rows out: to some lanes of a warp, a warp, a block or a cluster
// of blocks, which hold the row in registers or in shared memory, by its length; to a block that
// reads it again where none of them can: beyond 128 KiB on devices without clusters, 512 KiB on the
// others.
#pragma once

#include <algorithm>
#include <climits>
#include <initializer_list>
#include <iterator>
#include <type_traits>

#include "warpwright/dispatch.h"
#include "warpwright/launch.h"
#include "warpwright/row_thread.cuh"
#include "warpwright/row_vec.cuh"

namespace ww {

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

// What the threads of a row have at a time.
struct RowShare {
  int64_t count;        // how many there are: rows, or groups of rows
  int warps = 1;        // that share one, where a row is a warp's: a divisor of a block's
  int min_threads = 0;  // fewer do not share a row that one block holds
  // Nor do more, unless at least so many shall, where a cluster can stage it.
  int max_threads = 512;
};

namespace detail {

// A grid for `groups` groups of `cluster` blocks. The kernels stride over the rows beyond a million
// blocks, thousands for each multiprocessor: far below CUDA's limit, so that it happens in tests.
inline unsigned row_blocks(int64_t groups, int cluster) {
  constexpr int64_t kMaxBlocks = 1 << 20;
  return static_cast<unsigned>(std::min(groups, kMaxBlocks / cluster) * cluster);
}

// The first tuning that holds a row of num_vecs, of as many threads as `share` wants if it is one
// block's; or kNumRowTunings.
inline int row_tuning(int num_vecs, const RowShare& share, bool clusters) {
  const auto is_wanted = [&](int threads) {
    const int most = clusters ? std::max(share.max_threads, share.min_threads) : INT_MAX;
    return threads >= share.min_threads && threads <= most;
  };
  const auto holds_row = [&](const RowTuning& tuning) {
    return (tuning.cluster == 1 ? is_wanted(tuning.threads) : clusters) &&
           num_vecs <= tuning.cluster * tuning.threads * tuning.vecs;
  };
  return static_cast<int>(std::ranges::find_if(kRowTunings, holds_row) - std::begin(kRowTunings));
}

// The same for the current device. Clusters need code that was compiled for them.
template <typename Held>
cudaError_t choose_tuning(int num_vecs, const RowShare& share, const Held& held, int& tuning) {
  tuning = row_tuning(num_vecs, share, true);
  if (tuning == kNumRowTunings) return cudaSuccess;
  return dispatch_index<kNumRowTunings>(tuning, [&](auto kTuning) {
    if constexpr (kRowTunings[decltype(kTuning)::value].cluster > 1) {
      const auto* kernel = reinterpret_cast<const void*>(held(kTuning));
      bool clusters = false;
      if (const cudaError_t status = supports_clusters(kernel, clusters)) return status;
      if (!clusters) tuning = row_tuning(num_vecs, share, false);
    }
    return cudaSuccess;
  });
}

}  // namespace detail

// Starts held(kTuning), the kernel for rows that are held, with the tuning for params.hidden_size
// elements of T, or `longer`, the kernel for rows that no tuning holds. kTuning is a
// std::integral_constant, of a tuning with kLeastThreads or more.
template <typename T, bool kAligned, int kLeastThreads = 0, RowParams P, typename Held>
cudaError_t launch_rows(const P& params, const RowShare& share, cudaStream_t stream, Held&& held,
                        void (*longer)(P)) {
  const int num_vecs = std::max(params.hidden_size / Vec<T>::kSize, 1);
  RowShare wanted = share;
  wanted.min_threads = std::max(share.min_threads, kLeastThreads);
  int tuning = 0;
  if (const cudaError_t status = detail::choose_tuning(num_vecs, wanted, held, tuning))
    return status;
  if (tuning == kNumRowTunings)
    return launch(longer,
                  {.grid = detail::row_blocks(share.count, 1),
                   .block = LongRowThread<T, kAligned>::kBlockThreads,
                   .overlaps = true,
                   .stream = stream},
                  params);
  return dispatch_index<kNumRowTunings>(tuning, [&](auto kTuning) {
    constexpr RowTuning kTuned = kRowTunings[decltype(kTuning)::value];
    if constexpr (kTuned.threads < kLeastThreads) {
      return cudaErrorInvalidValue;
    } else {
      using Thread = RowThread<T, decltype(kTuning)::value, kAligned>;
      const int warps = Thread::kRowsPerBlock > 1 ? share.warps : 1;
      const int64_t groups = ceil_div<int64_t>(share.count, Thread::kRowsPerBlock / warps);
      return launch(held(kTuning),
                    {.grid = detail::row_blocks(groups, kTuned.cluster),
                     .block = Thread::kBlockThreads,
                     .smem = Thread::kSharedBytes,
                     .cluster = kTuned.cluster,
                     .overlaps = true,
                     .stream = stream},
                    params);
    }
  });
}

// The same for a kernel whose threads have one row at a time.
template <typename T, bool kAligned, RowParams P, typename Held>
cudaError_t launch_rows(const P& params, cudaStream_t stream, Held&& held, void (*longer)(P)) {
  return launch_rows<T, kAligned>(params, {.count = params.grid.num_rows()}, stream, held, longer);
}

}  // namespace ww
