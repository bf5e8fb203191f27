// Rotary position embedding: of each pair (x, y) of a head's rotary range, x cos - y sin and
// y cos + x sin, with the table row of the token's position; other columns are copied. A thread has
// the same two pieces of 16 bytes in several heads of a token, q's and k's, and keeps its cosines
// and sines in registers for all of them: x is read once, written once.

#include <algorithm>

#include "rope.h"
#include "rope_vec.cuh"
#include "warpwright/dispatch.h"
#include "warpwright/launch.h"
#include "warpwright/ptx/griddepcontrol.cuh"

namespace ww {
namespace {

constexpr int kBlockThreads = 128;
// Heads under way in a thread. Their 8 loads of 16 bytes are 96 KiB on a multiprocessor, with the
// blocks that 80 registers a thread leave room for.
constexpr int kHeadsAtOnce = 4;
constexpr int kMinBlocks = 6;
// Heads that a thread takes, where there are tokens enough: the tables are read once for every so
// many. Of vectors, few heads whose loads are all under way at once are faster than more in turns;
// of single elements, the tables' loads are as many as the heads'.
template <typename V>
constexpr int kMaxHeadsPerThread = V::kSize > 1 ? kHeadsAtOnce : 16;

// Threads share out a token's heads: of a tensor every `threads`-th head is one thread's.
struct HeadShare {
  int q_threads;
  int k_threads;
};

// How a block is made up: x counts lanes of a head, y and z threads of heads and tokens, whichever
// are closer in memory first, so that a warp covers what is contiguous.
struct RopeTiling {
  int lanes;
  bool tokens_first;
  HeadShare share;
};

// What of a block's work is this thread's.
struct RopeThread {
  int lane;
  int64_t token;
  int share;

  __device__ explicit RopeThread(const RopeTiling& tiling)
      : lane(blockIdx.z * blockDim.x + threadIdx.x) {
    const bool tokens_first = tiling.tokens_first;
    token = int64_t{blockIdx.x} * (tokens_first ? blockDim.y : blockDim.z) +
            (tokens_first ? threadIdx.y : threadIdx.z);
    share = blockIdx.y * (tokens_first ? blockDim.z : blockDim.y) +
            (tokens_first ? threadIdx.z : threadIdx.y);
  }
};

// A lane's two pieces in a thread's heads of one token.
template <typename T>
struct OwnHeads {
  // The second has pointers of its own: stored through the first one's plus a distance, nvcc 13.0
  // takes its 16 bytes apart into four stores.
  const T* x;
  const T* second_x;
  T* out;
  T* second_out;
  int64_t x_step;
  int64_t out_step;
  int count;

  __device__ OwnHeads(const RopeHeads& heads, int64_t batch, int64_t place, int first, int threads,
                      const Columns& columns) {
    const auto at = [&](const Rows& rows) {
      return static_cast<T*>(rows.data) + batch * rows.strides[0] + place * rows.strides[1] +
             first * rows.strides[2];
    };
    x = at(heads.x) + columns.first;
    second_x = at(heads.x) + columns.second;
    out = at(heads.out) + columns.first;
    second_out = at(heads.out) + columns.second;
    x_step = threads * heads.x.strides[2];
    out_step = threads * heads.out.strides[2];
    count = ceil_div(static_cast<int>(heads.grid.sizes[2]) - first, threads);
  }

  __device__ void skip(int heads) {
    x += heads * x_step;
    second_x += heads * x_step;
    out += heads * out_step;
    second_out += heads * out_step;
    count -= heads;
  }
};

// The pieces of the heads under way.
template <typename T, typename V>
struct Pieces {
  V first[kHeadsAtOnce];
  V second[kHeadsAtOnce];

  __device__ void load(const OwnHeads<T>& heads) {
#pragma unroll
    for (int i = 0; i < kHeadsAtOnce; ++i) {
      if (i >= heads.count) break;
      first[i] = V::load(heads.x + i * heads.x_step);
      second[i] = V::load(heads.second_x + i * heads.x_step);
    }
  }

  template <bool kInterleaved>
  __device__ void turn(const Rotation<V, kInterleaved>& rotation, int count) {
#pragma unroll
    for (int i = 0; i < kHeadsAtOnce; ++i) {
      if (i >= count) break;
      rotation.turn(first[i], second[i]);
    }
  }

  __device__ void store(const OwnHeads<T>& heads) const {
#pragma unroll
    for (int i = 0; i < kHeadsAtOnce; ++i) {
      if (i >= heads.count) break;
      first[i].store(heads.out + i * heads.out_step);
      second[i].store(heads.second_out + i * heads.out_step);
    }
  }
};

template <typename T, typename V, bool kInterleaved>
__global__ void __launch_bounds__(kBlockThreads, kMinBlocks)
    rope_fwd_kernel(const RopeParams params, const RopeTiling tiling) {
  const RopeThread thread(tiling);
  const int64_t seqlen = params.q.grid.sizes[1];
  const auto [q_threads, k_threads] = tiling.share;
  if (thread.lane >= tiling.lanes || thread.token >= params.q.grid.sizes[0] * seqlen ||
      thread.share >= q_threads + k_threads)
    return;
  const int64_t batch = thread.token / seqlen;
  const int64_t place = thread.token - batch * seqlen;
  const Columns columns = columns_of<V, kInterleaved>(params, thread.lane);
  const int k_share = thread.share - q_threads;
  OwnHeads<T> heads = k_share < 0
                          ? OwnHeads<T>(params.q, batch, place, thread.share, q_threads, columns)
                          : OwnHeads<T>(params.k, batch, place, k_share, k_threads, columns);
  griddepcontrol_wait();
  Pieces<T, V> pieces;
  pieces.load(heads);
  griddepcontrol_launch_dependents();

  // Behind the first heads' loads, to wait for both together.
  Rotation<V, kInterleaved> rotation;
  bool rotates = thread.lane < rotary_lanes<V>(params);
  if (rotates) {
    const int64_t row = table_row(params, batch, place);
    rotates = row >= 0;
    if (rotates) rotation.load(params, row, thread.lane);
  }
  while (true) {
    if (rotates) pieces.turn(rotation, heads.count);
    pieces.store(heads);
    if (heads.count <= kHeadsAtOnce) break;
    heads.skip(kHeadsAtOnce);
    pieces.load(heads);
  }
}

// Whether every piece of every head, and of the tables, is at a 16-byte boundary.
template <typename T>
bool is_aligned(const RopeParams& params) {
  constexpr int kSize = Vec<T>::kSize;
  const auto rows_aligned = [](const RowGrid& grid, const Rows& rows) {
    bool aligned = is_vec_aligned(rows.data);
    for (int i = 0; i < 3; ++i) aligned &= grid.sizes[i] == 1 || rows.strides[i] % kSize == 0;
    return aligned;
  };
  const auto heads_aligned = [&](const RopeHeads& heads) {
    return heads.grid.sizes[2] == 0 ||
           (rows_aligned(heads.grid, heads.x) && rows_aligned(heads.grid, heads.out));
  };
  const auto table_aligned = [&](const void* table, int64_t stride) {
    return is_vec_aligned(table) && stride * dtype_bytes(params.tables.dtype) % kVecBytes == 0;
  };
  const bool columns_aligned = params.head_dim % kSize == 0 && params.rotary_offset % kSize == 0 &&
                               params.rotary_dim / 2 % kSize == 0;
  return columns_aligned && heads_aligned(params.q) && heads_aligned(params.k) &&
         table_aligned(params.tables.cos, params.tables.cos_stride) &&
         table_aligned(params.tables.sin, params.tables.sin_stride);
}

constexpr int64_t kMaxBlocksY = 65'535;

// Heads for each thread: as many as leave every multiprocessor two rounds of threads, more where
// the grid would be too high.
template <typename V>
int heads_per_thread(double heads_of_lanes, int64_t heads, int multiprocessors) {
  constexpr double kThreadsPerMultiprocessor = 2 * 2048.0;
  int count = kMaxHeadsPerThread<V>;
  while (count > 1 && heads_of_lanes / count < kThreadsPerMultiprocessor * multiprocessors)
    count /= 2;
  // One less: q and k round up by themselves.
  return static_cast<int>(std::max<int64_t>(count, ceil_div(heads, kMaxBlocksY - 1)));
}

cudaError_t config_for(const RopeTiling& tiling, int64_t tokens, LaunchConfig& config) {
  constexpr int64_t kMaxThreadsZ = 64;
  const int64_t shares = tiling.share.q_threads + tiling.share.k_threads;
  const int64_t x = std::min(tiling.lanes, kBlockThreads);
  const int64_t y = std::min(kBlockThreads / x, tiling.tokens_first ? tokens : shares);
  const int64_t z =
      std::min({kBlockThreads / (x * y), kMaxThreadsZ, tiling.tokens_first ? shares : tokens});
  const int64_t token_blocks = ceil_div(tokens, tiling.tokens_first ? y : z);
  if (token_blocks > kMaxGridBlocks) return cudaErrorInvalidValue;
  const auto size = [](int64_t count) { return static_cast<unsigned>(count); };
  config.grid = {size(token_blocks), size(ceil_div(shares, tiling.tokens_first ? z : y)),
                 size(ceil_div<int64_t>(tiling.lanes, x))};
  config.block = {size(x), size(y), size(z)};
  return cudaSuccess;
}

template <typename T, typename V, bool kInterleaved>
cudaError_t launch_rope(const RopeParams& params, cudaStream_t stream) {
  const int rest_lanes = is_in_place(params) ? 0 : ceil_div(num_rest_pieces<V>(params), 2);
  const int lanes = rotary_lanes<V>(params) + rest_lanes;
  if (lanes == 0) return cudaSuccess;
  DeviceLimits limits;
  if (const cudaError_t status = device_limits(limits)) return status;
  const RowGrid& grid = params.q.grid;
  const int64_t tokens = grid.sizes[0] * grid.sizes[1];
  const auto q_heads = static_cast<int>(grid.sizes[2]);
  const auto k_heads = static_cast<int>(params.k.grid.sizes[2]);
  const double heads_of_lanes = static_cast<double>(tokens) * (q_heads + k_heads) * lanes;
  const int heads = heads_per_thread<V>(heads_of_lanes, q_heads + k_heads, limits.multiprocessors);
  const RopeTiling tiling{
      .lanes = lanes,
      .tokens_first = params.q.x.strides[2] > params.q.x.strides[1],
      .share = {ceil_div(q_heads, heads), ceil_div(k_heads, heads)},
  };
  LaunchConfig config;
  config.overlaps = true;
  config.stream = stream;
  if (const cudaError_t status = config_for(tiling, tokens, config)) return status;
  return launch(rope_fwd_kernel<T, V, kInterleaved>, config, params, tiling);
}

}  // namespace

cudaError_t rope_fwd(const RopeParams& params, cudaStream_t stream) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (is_empty(params)) return cudaSuccess;
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    return dispatch_bool(params.interleaved, [&](auto kInterleaved) {
      return is_aligned<T>(params) ? launch_rope<T, Vec<T>, kInterleaved>(params, stream)
                                   : launch_rope<T, Element<T>, kInterleaved>(params, stream);
    });
  });
}

}  // namespace ww
