// RMSNorm forward: out = h * rstd * (weight + weight_offset), rstd = 1 / sqrt(mean(h^2) + eps),
// with h = x, or h = x + residual rounded to the dtype. A row belongs to a warp, a block or a
// cluster of blocks, by its length; it is read once and kept in registers. Only rows too long for
// that (128 KiB on devices without clusters, 512 KiB on the others) are read twice.

#include <algorithm>
#include <bit>
#include <iterator>
#include <type_traits>

#include "rmsnorm.h"
#include "rmsnorm_row.cuh"
#include "warpwright/dispatch.h"
#include "warpwright/launch.h"
#include "warpwright/reduce.cuh"

namespace ww {
namespace {

// Threads for a row of up to threads * vecs vectors of 16 bytes, `vecs` of them in each thread's
// registers, or that many in each block of a cluster; the first that holds the row is taken. The
// choice depends on the row's length alone, so a row's result does not depend on how many rows
// there are. 32 threads need no barrier; 16 vectors take half of the 128 registers that 512 threads
// leave each.
struct Tuning {
  int threads;
  int vecs;
  bool clustered = false;
};
constexpr Tuning kTunings[] = {{32, 1},        {32, 2},        {32, 4},  {32, 8},
                               {128, 4},       {256, 4},       {256, 8}, {512, 8},
                               {512, 4, true}, {512, 8, true}, {512, 16}};
constexpr int kNumTunings = std::size(kTunings);
constexpr int kLongestOneBlock = 7;  // the last that neither needs clusters nor is in their stead
constexpr int kFirstClustered = 8;
static_assert(kTunings[kFirstClustered].clustered && !kTunings[kLongestOneBlock].clustered);
constexpr int kMaxCluster = 8;  // the largest that every device with clusters grants
constexpr int kMinBlockThreads = 128;
constexpr int kLongRowThreads = 1024;

__host__ __device__ constexpr int rows_per_block(int tuning) {
  return kTunings[tuning].threads < kMinBlockThreads ? kMinBlockThreads / kTunings[tuning].threads
                                                     : 1;
}

template <typename T, int kTuning, bool kAligned>
__global__ void __launch_bounds__(rows_per_block(kTuning) * kTunings[kTuning].threads)
    rmsnorm_fwd_kernel(const RmsNormParams params) {
  constexpr int kThreads = kTunings[kTuning].threads;
  constexpr int kVecs = kTunings[kTuning].vecs;
  constexpr bool kClustered = kTunings[kTuning].clustered;
  constexpr int kRowsPerBlock = rows_per_block(kTuning);
  using RowSum = std::conditional_t<
      kThreads == kWarpSize, WarpReduce<Sum>,
      std::conditional_t<kClustered, ClusterReduce<Sum, kThreads>, BlockReduce<Sum, kThreads>>>;

  // The row's threads: `num_threads` of them over the cluster, this one at `thread`.
  const int blocks_per_row = kClustered ? cluster_size() : 1;
  const int num_threads = kThreads * blocks_per_row;
  const int thread = threadIdx.x % kThreads + (kClustered ? cluster_rank() * kThreads : 0);
  const int num_vecs = ceil_div(params.hidden_size, Vec<T>::kSize);
  const int64_t num_rows = params.grid.num_rows();
  const int64_t row_stride = gridDim.x / blocks_per_row * int64_t{kRowsPerBlock};
  int64_t row = blockIdx.x / blocks_per_row * int64_t{kRowsPerBlock} + threadIdx.x / kThreads;

  RowSum row_sum;
  for (; row < num_rows; row += row_stride) {
    Vec<T> h[kVecs];
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int vec = i * num_threads + thread;
      if (vec < num_vecs) h[i] = load_h<T, kAligned>(params, row, vec);
    }

    float sum_sq = 0.0f;
#pragma unroll
    for (int i = 0; i < kVecs; ++i)
      if (i * num_threads + thread < num_vecs) sum_sq += sum_squares(h[i], 1.0f);
    float mean_sq = mean_square(params, row_sum(sum_sq), 1.0f);
    const float scaling = rescaling_of<T>(mean_sq);
    if (scaling != 1.0f) {
      sum_sq = 0.0f;
#pragma unroll
      for (int i = 0; i < kVecs; ++i)
        if (i * num_threads + thread < num_vecs) sum_sq += sum_squares(h[i], scaling);
      mean_sq = mean_square(params, row_sum(sum_sq), scaling);
    }
    const float rstd = rsqrtf(mean_sq);
    if (thread == 0 && params.rstd != nullptr) params.rstd[row] = rstd * scaling * scaling;

    T* out = params.out.row<T>(params.grid, row);
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int vec = i * num_threads + thread;
      if (vec >= num_vecs) break;
      const Vec<T> y = normalize<T, kAligned>(params, h[i], vec, scaling, rstd);
      store_vec<T, kAligned>(y, out, vec, params.hidden_size);
    }
  }
  // Peers may still be reading this block's part of the last sum.
  if constexpr (kClustered) cluster_sync();
}

// A block for each row of any length; h is read again for the output.
template <typename T, bool kAligned>
__global__ void __launch_bounds__(kLongRowThreads)
    rmsnorm_fwd_long_kernel(const RmsNormParams params) {
  const int num_vecs = ceil_div(params.hidden_size, Vec<T>::kSize);
  const int64_t num_rows = params.grid.num_rows();
  BlockReduce<Sum, kLongRowThreads> row_sum;
  for (int64_t row = blockIdx.x; row < num_rows; row += gridDim.x) {
    // In double, since a thread may add up to 2^18 vectors.
    double sum_sq = 0.0;
    for (int vec = threadIdx.x; vec < num_vecs; vec += kLongRowThreads) {
      Vec<T> h = load_h<T, kAligned>(params, row, vec);
      sum_sq += sum_squares(h, 1.0f);
    }
    float mean_sq = mean_square(params, row_sum(static_cast<float>(sum_sq)), 1.0f);
    const float scaling = rescaling_of<T>(mean_sq);
    if (scaling != 1.0f) {
      sum_sq = 0.0;
      for (int vec = threadIdx.x; vec < num_vecs; vec += kLongRowThreads) {
        Vec<T> h = reload_h<T, kAligned>(params, row, vec);
        sum_sq += sum_squares(h, scaling);
      }
      mean_sq = mean_square(params, row_sum(static_cast<float>(sum_sq)), scaling);
    }
    const float rstd = rsqrtf(mean_sq);
    if (threadIdx.x == 0 && params.rstd != nullptr) params.rstd[row] = rstd * scaling * scaling;

    T* out = params.out.row<T>(params.grid, row);
    for (int vec = threadIdx.x; vec < num_vecs; vec += kLongRowThreads) {
      const Vec<T> h = reload_h<T, kAligned>(params, row, vec);
      const Vec<T> y = normalize<T, kAligned>(params, h, vec, scaling, rstd);
      store_vec<T, kAligned>(y, out, vec, params.hidden_size);
    }
  }
}

// Whether every row of every tensor begins at a 16-byte boundary and ends at one.
bool is_aligned(const RmsNormParams& params) {
  const int64_t bytes = dtype_bytes(params.dtype);
  const auto rows_aligned = [&](const Rows& rows) {
    const auto on_boundary = [&](int64_t stride) { return stride * bytes % kVecBytes == 0; };
    return is_vec_aligned(rows.data) && std::ranges::all_of(rows.strides, on_boundary);
  };
  return params.hidden_size * bytes % kVecBytes == 0 && is_vec_aligned(params.weight) &&
         rows_aligned(params.x) && rows_aligned(params.residual) && rows_aligned(params.out) &&
         rows_aligned(params.residual_out);
}

// A grid for `groups` groups of `cluster` blocks. The kernels stride over the rows beyond a million
// blocks, thousands for each multiprocessor: far below CUDA's limit, so that it happens in tests.
unsigned grid_blocks(int64_t groups, int cluster) {
  constexpr int64_t kMaxBlocks = 1 << 20;
  return static_cast<unsigned>(std::min(groups, kMaxBlocks / cluster) * cluster);
}

template <typename T, int kTuning, bool kAligned>
cudaError_t launch_rmsnorm(const RmsNormParams& params, cudaStream_t stream) {
  constexpr Tuning kTuned = kTunings[kTuning];
  constexpr int kRowsPerBlock = rows_per_block(kTuning);
  const int num_vecs = ceil_div(params.hidden_size, Vec<T>::kSize);
  const unsigned blocks_per_row = ceil_div(num_vecs, kTuned.threads * kTuned.vecs);
  const int cluster = static_cast<int>(std::bit_ceil(blocks_per_row));
  const int64_t groups = ceil_div<int64_t>(params.grid.num_rows(), kRowsPerBlock);
  return launch(rmsnorm_fwd_kernel<T, kTuning, kAligned>,
                {.grid = grid_blocks(groups, cluster),
                 .block = kRowsPerBlock * kTuned.threads,
                 .cluster = cluster,
                 .stream = stream},
                params);
}

template <typename T, bool kAligned>
cudaError_t launch_any_length(const RmsNormParams& params, cudaStream_t stream) {
  const int num_vecs = ceil_div(params.hidden_size, Vec<T>::kSize);
  bool clusters = false;
  if (num_vecs > kTunings[kLongestOneBlock].threads * kTunings[kLongestOneBlock].vecs) {
    const auto* kernel =
        reinterpret_cast<const void*>(rmsnorm_fwd_kernel<T, kFirstClustered, kAligned>);
    if (const cudaError_t status = supports_clusters(kernel, clusters)) return status;
  }
  const auto holds_row = [&](int i) {
    const int max_blocks = !kTunings[i].clustered ? 1 : clusters ? kMaxCluster : 0;
    return num_vecs <= max_blocks * kTunings[i].threads * kTunings[i].vecs;
  };
  for (int i = 0; i < kNumTunings; ++i) {
    if (!holds_row(i)) continue;
    return dispatch_index<kNumTunings>(
        i, [&](auto kTuning) { return launch_rmsnorm<T, kTuning, kAligned>(params, stream); });
  }
  return launch(
      rmsnorm_fwd_long_kernel<T, kAligned>,
      {.grid = grid_blocks(params.grid.num_rows(), 1), .block = kLongRowThreads, .stream = stream},
      params);
}

}  // namespace

cudaError_t rmsnorm_fwd(const RmsNormParams& params, cudaStream_t stream) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (params.grid.num_rows() == 0 || params.hidden_size == 0) return cudaSuccess;
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    return dispatch_bool(is_aligned(params), [&](auto kAligned) {
      return launch_any_length<T, kAligned>(params, stream);
    });
  });
}

}  // namespace ww
