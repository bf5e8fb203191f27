// Attention forward of 16-bit inputs: out = softmax(scale Q K^T) V in one pass, nothing of size
// seqlen^2 in memory. A block has 64 or 128 queries of one head and walks over tiles of 64 keys;
// q is read once, k and v once for each block, out of L2 for all but the first.

#include "attention.h"
#include "attention_f32.h"
#include "blocks.cuh"
#include "careful.cuh"
#include "epilogue.cuh"
#include "load.cuh"
#include "mainloop.cuh"
#include "mask.cuh"
#include "softmax.cuh"
#include "warpwright/shared.cuh"

namespace ww {
namespace {

// kGeneral: also softcap, mask, and rows that are not aligned to 16 bytes; the others do without
// their tests and registers.
template <typename T, typename Shape, bool kGeneral>
class AttentionBlock {
 public:
  __device__ AttentionBlock(const AttentionParams& params, const BlockPlace& place, bool aligned)
      : params_(params),
        head_{params, place.batch, place.head},
        aligned_(!kGeneral || aligned),
        first_query_(place.first_query),
        q_tile_(dynamic_shared<T>()),
        k_tile_(q_tile_ + Shape::Q::kElements),
        v_tile_(k_tile_ + Shape::K::kElements),
        q_(q_tile_, threadIdx.x / Shape::kWarp * Shape::kWarpRows, threadIdx.x % Shape::kWarp),
        k_(by_rows<typename Shape::K, T>(k_tile_, threadIdx.x % Shape::kWarp)),
        v_(by_columns<typename Shape::V, T>(v_tile_, threadIdx.x % Shape::kWarp)),
        has_scores_(kGeneral && (params.softcap > 0.0f || params.mask.rows.data != nullptr)),
        softmax_(has_scores_ ? kLog2E : params.softmax_scale * kLog2E, has_scores_) {}

  __device__ void run() {
    const BlockKeys keys(params_, first_query_, Shape::kRows);
    const int first_key = keys.begin / Shape::kKeys * Shape::kKeys;
    load<typename Shape::Q>(head_.q(), first_query_, params_.q_grid, params_.head_dim, q_tile_);
    if (first_key < keys.end) load_keys(first_key);
    for (int key = first_key; key < keys.end; key += Shape::kKeys)
      add_tile(key, keys.end, key == first_key);
    finish();
  }

 private:
  template <typename Tile>
  __device__ void load(const HeadRows<const T>& rows, int first, const RowGrid& grid, int columns,
                       T* tile) {
    load_rows<Tile, Shape::kThreads>(rows, first, static_cast<int>(grid.sizes[2]), columns,
                                     aligned_, tile);
  }

  __device__ void load_keys(int key) {
    load<typename Shape::K>(head_.k(), key, params_.k_grid, params_.head_dim, k_tile_);
    cp_async_commit();
  }

  __device__ void load_values(int key) {
    load<typename Shape::V>(head_.v(), key, params_.k_grid, params_.head_dim_v, v_tile_);
    cp_async_commit();
  }

  __device__ void add_tile(int key, int end, bool first) {
    // K has arrived, and no warp reads the V before any more.
    cp_async_wait<0>();
    __syncthreads();
    load_values(key);
    if (first) q_.hold();
    typename Shape::Scores scores;
    multiply_keys<T, Shape>(q_, k_, scores);
    const int first_query = recomputed(first_query_);
    if (has_scores_)
      make_scores<T, Shape>(params_, HeadMask(params_.mask, head_.batch, head_.index), first_query,
                            key, scores);
    else if (BlockKeys(params_, first_query, Shape::kRows).is_boundary(key, Shape::kKeys))
      hide_keys<Shape>(params_, first_query, key, scores);

    // V has arrived, and no warp reads K any more.
    cp_async_wait<0>();
    __syncthreads();
    if (key + Shape::kKeys < end) load_keys(key + Shape::kKeys);
    softmax_.update(scores, sums_);
    add_values<T, Shape>(scores, v_, sums_);
  }

  __device__ void finish() {
    // The sums take the tiles' place. Where there are no keys q may still be on its way.
    cp_async_wait_all();
    __syncthreads();
    auto* staged = dynamic_shared<float>();
    const BlockPlace block(params_, Shape::kRows);
    const Head<T> head{params_, block.batch, block.head};
    const ThreadPlace place(recomputed(threadIdx.x), Shape::kWarpRows);
    const bool found_nan =
        stage_results<T, Shape>(head, softmax_, place, block.first_query, sums_, staged);
    __syncwarp();
    store_staged<T, Shape>(head, place, block.first_query, staged);
    repeat_carefully<T>(head, block.first_query, Shape::kRows, found_nan);
  }

  const AttentionParams& params_;
  const Head<T> head_;
  const bool aligned_;
  const int first_query_;
  T* const q_tile_;
  T* const k_tile_;
  T* const v_tile_;
  QueryFragments<T, Shape> q_;
  const Fragments<T, typename Shape::K> k_;
  const Fragments<T, typename Shape::V> v_;
  const bool has_scores_;
  OnlineSoftmax<Shape, kGeneral> softmax_;
  typename Shape::Sums sums_ = {};
};

template <typename T, int kTile, bool kGeneral>
__global__ void __launch_bounds__(TileShape<kTile>::kThreads)
    attention_fwd_kernel(const __grid_constant__ AttentionParams params, const bool aligned) {
  using Shape = TileShape<kTile>;
  const BlockPlace place(params, Shape::kRows);
  if (!place.is_inside(params)) return;
  AttentionBlock<T, Shape, kGeneral>(params, place, aligned).run();
}

// Whether all rows start at multiples of 16 bytes.
bool has_aligned_rows(const Rows& rows, const RowGrid& grid) {
  bool aligned = is_vec_aligned(rows.data);
  for (int i = 0; i < 3; ++i)
    aligned &= grid.sizes[i] <= 1 || rows.strides[i] % Vec<float16>::kSize == 0;
  return aligned;
}

}  // namespace

cudaError_t attention_fwd(const AttentionParams& params, cudaStream_t stream) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (has_no_queries(params)) return cudaSuccess;
  if (params.dtype == Dtype::f32) return attention_f32_fwd(params, stream);
  const bool aligned = has_aligned_rows(params.q, params.q_grid) &&
                       has_aligned_rows(params.k, params.k_grid) &&
                       has_aligned_rows(params.v, params.k_grid);
  const bool general = !aligned || params.softcap > 0.0f || params.mask.rows.data != nullptr;
  return dispatch_index<kNumTiles>(tile_for(params.head_dim, params.head_dim_v), [&](auto kTile) {
    using Shape = TileShape<kTile>;
    const LaunchConfig config{.grid = block_grid(params, Shape::kRows),
                              .block = Shape::kThreads,
                              .smem = Shape::kSharedBytes,
                              .stream = stream};
    return dispatch_bool(general, [&](auto kGeneral) {
      return params.dtype == Dtype::f16
                 ? launch(attention_fwd_kernel<float16, kTile, kGeneral>, config, params, aligned)
                 : launch(attention_fwd_kernel<bfloat16, kTile, kGeneral>, config, params, aligned);
    });
  });
}

}  // namespace ww
