// Attention forward of float32 inputs, in float32 throughout: the tensor cores' tf32 would keep 10
// bits of them. A block has 32 or 64 queries of one head and walks over tiles of 32 keys; a thread
// has 4 queries, with every 16th key of a tile, then with 4 of every 64 columns.

#include "attention_f32.h"
#include "blocks.cuh"
#include "careful.cuh"
#include "head.cuh"
#include "mask.cuh"
#include "softmax.cuh"
#include "store.cuh"
#include "warpwright/dispatch.h"
#include "warpwright/shared.cuh"

namespace ww {
namespace {

constexpr int kQuad = Vec<float>::kSize;

// Up to kColumns of head_dim and head_dim_v.
template <int kColumns>
struct F32Shape {
  // 256 columns of 64 queries do not fit into the 99 KiB of shared memory of 8.9.
  static constexpr int kRows = kColumns > 128 ? 32 : 64;
  static constexpr int kKeys = 32;
  static constexpr int kThreadRows = 4;
  static constexpr int kThreadsPerRow = 16;
  static constexpr int kThreads = kRows / kThreadRows * kThreadsPerRow;
  static constexpr int kWarpRows = 32 / kThreadsPerRow * kThreadRows;
  static constexpr int kThreadKeys = kKeys / kThreadsPerRow;
  static constexpr int kThreadQuads = kColumns / (kQuad * kThreadsPerRow);
  // 16 bytes beyond a multiple of 128: eight rows' vectors of a column are in different banks.
  static constexpr int kPitch = kColumns + kQuad;
  static constexpr int kWeightPitch = kKeys + kQuad;
  static constexpr int kSharedFloats = (kRows + kKeys) * kPitch + kRows * kWeightPitch;
};

// As load_rows of load.cuh, columns up to the next multiple of four.
template <typename Shape>
__device__ void load_f32_rows(const HeadRows<const float>& rows, int first, int num_rows,
                              int num_columns, int tile_rows, float* tile) {
  const int padded = ceil_div(num_columns, kQuad) * kQuad;
  for (int row = threadIdx.x / Shape::kThreadsPerRow; row < tile_rows;
       row += Shape::kThreads / Shape::kThreadsPerRow) {
    const float* from = rows.row(first + row);
    for (int i = threadIdx.x % Shape::kThreadsPerRow; i < padded; i += Shape::kThreadsPerRow)
      tile[row * Shape::kPitch + i] = first + row < num_rows && i < num_columns ? from[i] : 0.0f;
  }
}

__device__ void load_quad(const float* from, float (&values)[kQuad]) {
  Vec<float>::load(from).to_floats(values);
}

template <int kColumns>
class F32Block {
 public:
  using Shape = F32Shape<kColumns>;

  __device__ F32Block(const Head<float>& head, int first_query)
      : params_(head.params),
        head_(head),
        mask_(params_.mask, head.batch, head.index),
        first_query_(first_query),
        q_tile_(dynamic_shared<float>()),
        tile_(q_tile_ + Shape::kRows * Shape::kPitch),
        weights_(tile_ + Shape::kKeys * Shape::kPitch),
        thread_(threadIdx.x % Shape::kThreadsPerRow),
        row_(threadIdx.x / Shape::kThreadsPerRow * Shape::kThreadRows) {}

  __device__ void run() {
    const auto seqlen_q = static_cast<int>(params_.q_grid.sizes[2]);
    const auto seqlen_k = static_cast<int>(params_.k_grid.sizes[2]);
    const BlockKeys keys(params_, first_query_, Shape::kRows);
    load_f32_rows<Shape>(head_.q(), first_query_, seqlen_q, params_.head_dim, Shape::kRows,
                         q_tile_);
    // From a multiple of a tile, so that the order of a query's sums is the same whatever queries
    // the block has beside it.
    const int first_key = keys.begin / Shape::kKeys * Shape::kKeys;
    for (int key = first_key; key < keys.end; key += Shape::kKeys) {
      load_f32_rows<Shape>(head_.k(), key, seqlen_k, params_.head_dim, Shape::kKeys, tile_);
      __syncthreads();
      float scores[Shape::kThreadRows][Shape::kThreadKeys] = {};
      multiply_keys(scores);
      make_weights(key, scores);
      // Every thread is done with K.
      __syncthreads();
      load_f32_rows<Shape>(head_.v(), key, seqlen_k, params_.head_dim_v, Shape::kKeys, tile_);
      __syncthreads();
      add_values();
      __syncthreads();
    }
    const uint32_t odd_rows = store();
    repeat_carefully<float>(head_, first_query_ + warp_row(), odd_rows);
  }

 private:
  __device__ void multiply_keys(float (&scores)[Shape::kThreadRows][Shape::kThreadKeys]) const {
    for (int i = 0; i < params_.head_dim; i += kQuad) {
      float q[Shape::kThreadRows][kQuad];
      float k[Shape::kThreadKeys][kQuad];
#pragma unroll
      for (int r = 0; r < Shape::kThreadRows; ++r)
        load_quad(q_tile_ + (row_ + r) * Shape::kPitch + i, q[r]);
#pragma unroll
      for (int c = 0; c < Shape::kThreadKeys; ++c)
        load_quad(tile_ + (thread_ + c * Shape::kThreadsPerRow) * Shape::kPitch + i, k[c]);
#pragma unroll
      for (int e = 0; e < kQuad; ++e)
#pragma unroll
        for (int r = 0; r < Shape::kThreadRows; ++r)
#pragma unroll
          for (int c = 0; c < Shape::kThreadKeys; ++c) scores[r][c] += q[r][e] * k[c][e];
    }
  }

  // The online softmax, over the 16 lanes of a row; weights go to shared memory.
  __device__ void make_weights(int first_key,
                               float (&scores)[Shape::kThreadRows][Shape::kThreadKeys]) {
#pragma unroll
    for (int r = 0; r < Shape::kThreadRows; ++r) {
      const int query = first_query_ + row_ + r;
      const KeyRange range =
          query < params_.q_grid.sizes[2] ? visible_keys(params_, query) : KeyRange{0, 0};
      float largest = max_[r];
#pragma unroll
      for (int c = 0; c < Shape::kThreadKeys; ++c) {
        const int key = first_key + thread_ + c * Shape::kThreadsPerRow;
        scores[r][c] = key >= range.begin && key < range.end
                           ? score_of<float>(params_, mask_, scores[r][c], query, key)
                           : kMinusInf;
        largest = fmaxf(largest, scores[r][c]);
      }
      for (int lanes = Shape::kThreadsPerRow / 2; lanes > 0; lanes /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(kAllLanes, largest, lanes));
      const float base = finite_max(largest);
      const float rescale = exp2_approx((max_[r] - base) * kLog2E);
      max_[r] = largest;
      sum_[r] *= rescale;
#pragma unroll
      for (int c = 0; c < Shape::kThreadKeys; ++c) {
        const float weight = exp2_approx((scores[r][c] - base) * kLog2E);
        sum_[r] += weight;
        weights_[(row_ + r) * Shape::kWeightPitch + thread_ + c * Shape::kThreadsPerRow] = weight;
      }
#pragma unroll
      for (int c = 0; c < Shape::kThreadQuads; ++c)
#pragma unroll
        for (int e = 0; e < kQuad; ++e) sums_[r][c][e] *= rescale;
    }
  }

  __device__ void add_values() {
    for (int key = 0; key < Shape::kKeys; key += kQuad) {
      float weights[Shape::kThreadRows][kQuad];
#pragma unroll
      for (int r = 0; r < Shape::kThreadRows; ++r)
        load_quad(weights_ + (row_ + r) * Shape::kWeightPitch + key, weights[r]);
#pragma unroll
      for (int step = 0; step < kQuad; ++step)
#pragma unroll
        for (int c = 0; c < Shape::kThreadQuads; ++c) {
          const int column = (c * Shape::kThreadsPerRow + thread_) * kQuad;
          // Columns behind the last were not loaded.
          if (column >= params_.head_dim_v) continue;
          float v[kQuad];
          load_quad(tile_ + (key + step) * Shape::kPitch + column, v);
#pragma unroll
          for (int r = 0; r < Shape::kThreadRows; ++r)
#pragma unroll
            for (int e = 0; e < kQuad; ++e) sums_[r][c][e] += weights[r][step] * v[e];
        }
    }
  }

  // The warp's first row in the block.
  __device__ static int warp_row() { return threadIdx.x / 32 * Shape::kWarpRows; }

  // Returns the thread's rows with a NaN among their results, as bits from the warp's first on.
  __device__ uint32_t store() {
    uint32_t odd_rows = 0;
    const float* sink = params_.sinks == nullptr ? nullptr : params_.sinks + head_.index;
#pragma unroll
    for (int r = 0; r < Shape::kThreadRows; ++r) {
      for (int lanes = Shape::kThreadsPerRow / 2; lanes > 0; lanes /= 2)
        sum_[r] += __shfl_xor_sync(kAllLanes, sum_[r], lanes);
      const int query = first_query_ + row_ + r;
      if (query >= params_.q_grid.sizes[2]) continue;
      const RowTotals totals = row_totals(max_[r], sum_[r], sink);
      if (thread_ == 0) store_lse(params_, head_.batch, head_.index, query, totals.lse);
      bool found_nan = false;
#pragma unroll
      for (int c = 0; c < Shape::kThreadQuads; ++c) {
        const int column = (c * Shape::kThreadsPerRow + thread_) * kQuad;
        float results[kQuad];
#pragma unroll
        for (int e = 0; e < kQuad; ++e) {
          results[e] = sums_[r][c][e] * totals.factor;
          found_nan |= results[e] != results[e];
        }
        store_results(params_, head_.batch, head_.index, query, column, results);
      }
      odd_rows |= static_cast<uint32_t>(found_nan) << (row_ + r - warp_row());
    }
    return odd_rows;
  }

  const AttentionParams& params_;
  const Head<float> head_;
  HeadMask mask_;
  int first_query_;
  float* q_tile_;
  float* tile_;     // of K, then of V
  float* weights_;  // (kRows, kKeys)
  int thread_;      // of those that share rows
  int row_;         // the thread's first
  float max_[Shape::kThreadRows] = {kMinusInf, kMinusInf, kMinusInf, kMinusInf};
  float sum_[Shape::kThreadRows] = {};
  float sums_[Shape::kThreadRows][Shape::kThreadQuads][kQuad] = {};
};

template <int kColumns>
__global__ void __launch_bounds__(F32Shape<kColumns>::kThreads)
    attention_f32_fwd_kernel(const __grid_constant__ AttentionParams params,
                             const __grid_constant__ BlockOrder order) {
  BlockPlace block;
  if (!order.find_place(block)) return;
  const Head<float> head{params, block.batch, block.head};
  F32Block<kColumns>(head, block.first_query).run();
}

}  // namespace

cudaError_t attention_f32_fwd(const AttentionParams& params, cudaStream_t stream) {
  int columns = 64;
  while (columns < std::max(params.head_dim, params.head_dim_v)) columns *= 2;
  return dispatch_int<64, 128, 256>(columns, [&](auto kColumns) {
    using Shape = F32Shape<kColumns>;
    const BlockOrder order(params, Shape::kRows);
    return launch(attention_f32_fwd_kernel<kColumns>,
                  {.grid = order.grid(),
                   .block = Shape::kThreads,
                   .smem = Shape::kSharedFloats * sizeof(float),
                   .stream = stream},
                  params, order);
  });
}

}  // namespace ww
