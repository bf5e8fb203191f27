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

// What the threads of a block know alike. In shared memory, since the main loop has no registers
// for it, and reading it costs less than working it out again.
template <typename T>
struct BlockState {
  BlockPlace place;
  BlockKeys keys;
  const T* k;
  const T* v;
};

// kGeneral: also softcap, mask, and rows that are not aligned to 16 bytes; the others do without
// their tests and registers.
template <typename T, typename Shape, bool kGeneral>
class AttentionBlock {
 public:
  __device__ AttentionBlock(const AttentionParams& params, bool aligned)
      : params_(params),
        aligned_(!kGeneral || aligned),
        q_tile_(dynamic_shared<T>()),
        k_tile_(q_tile_ + Shape::Q::kElements),
        v_tile_(k_tile_ + Shape::K::kElements),
        state_(*dynamic_shared<BlockState<T>>(Shape::kTileBytes)),
        q_(by_columns<typename Shape::Q, T>(
            q_tile_ + threadIdx.x / Shape::kWarp * Shape::kWarpRows * Shape::Q::kPageColumns,
            threadIdx.x % Shape::kWarp)),
        k_(by_rows<typename Shape::K, T>(k_tile_, threadIdx.x % Shape::kWarp)),
        v_(by_columns<typename Shape::V, T>(v_tile_, threadIdx.x % Shape::kWarp)),
        has_scores_(kGeneral && (params.softcap > 0.0f || params.mask.rows.data != nullptr)),
        softmax_(has_scores_ ? kLog2E : params.softmax_scale * kLog2E, has_scores_) {}

  __device__ void run(const BlockPlace& place) {
    const Head<T> head{params_, place.batch, place.head};
    const BlockKeys keys(params_, place.first_query, Shape::kRows);
    const HeadRows<const T> k = head.k();
    // Everyone reads it behind the first barrier.
    if (threadIdx.x == 0) state_ = {place, keys, k.data, head.v().data};
    const int first_key = keys.begin / Shape::kKeys * Shape::kKeys;
    load<typename Shape::Q>(head.q(), place.first_query, params_.q_grid, params_.head_dim, q_tile_);
    if (first_key < keys.end) load_keys(k, first_key);
    for (int key = first_key; key < keys.end; key += Shape::kKeys) add_tile(key, keys.end);
    finish();
  }

 private:
  template <typename Tile>
  __device__ void load(const HeadRows<const T>& rows, int first, const RowGrid& grid, int columns,
                       T* tile) {
    load_rows<Tile, Shape::kThreads>(rows, first, static_cast<int>(grid.sizes[2]), columns,
                                     aligned_, tile);
  }

  __device__ void load_keys(const HeadRows<const T>& k, int key) {
    load<typename Shape::K>(k, key, params_.k_grid, params_.head_dim, k_tile_);
    cp_async_commit();
  }

  __device__ void load_values(int key) {
    const HeadRows<const T> v(state_.v, params_.v.strides[2]);
    load<typename Shape::V>(v, key, params_.k_grid, params_.head_dim_v, v_tile_);
    cp_async_commit();
  }

  __device__ void add_tile(int key, int end) {
    // K has arrived, and no warp reads the V before any more.
    cp_async_wait<0>();
    __syncthreads();
    load_values(key);
    typename Shape::Scores scores;
    multiply_keys<T, Shape>(q_, k_, scores);
    if (has_scores_)
      make_scores<T, Shape>(params_, state_.place, key, scores);
    else if (state_.keys.is_boundary(key, Shape::kKeys))
      hide_keys<Shape>(params_, state_.place.first_query, key, scores);

    // V has arrived, and no warp reads K any more.
    cp_async_wait<0>();
    __syncthreads();
    if (key + Shape::kKeys < end) load_keys({state_.k, params_.k.strides[2]}, key + Shape::kKeys);
    softmax_.update(scores, sums_);
    add_values<T, Shape>(scores, v_, sums_);
  }

  __device__ void finish() {
    // The sums take the tiles' place. Where there are no keys q may still be on its way.
    cp_async_wait_all();
    __syncthreads();
    auto* staged = dynamic_shared<float>();
    const BlockPlace block = state_.place;
    const Head<T> head{params_, block.batch, block.head};
    const ThreadPlace place(recomputed(threadIdx.x), Shape::kWarpRows);
    const uint32_t odd_rows =
        stage_results<T, Shape>(head, softmax_, place, block.first_query, sums_, staged);
    __syncwarp();
    store_staged<T, Shape>(head, place, block.first_query, staged);
    repeat_carefully<T>(head, block.first_query + place.warp_row, odd_rows);
  }

  const AttentionParams& params_;
  const bool aligned_;
  T* const q_tile_;
  T* const k_tile_;
  T* const v_tile_;
  BlockState<T>& state_;
  const Fragments<T, typename Shape::Q> q_;
  const Fragments<T, typename Shape::K> k_;
  const Fragments<T, typename Shape::V> v_;
  const bool has_scores_;
  OnlineSoftmax<Shape, kGeneral> softmax_;
  typename Shape::Sums sums_ = {};
};

template <typename T, int kTile, bool kGeneral>
__global__ void __launch_bounds__(TileShape<kTile>::kThreads)
    attention_fwd_kernel(const __grid_constant__ AttentionParams params,
                         const __grid_constant__ BlockOrder order, const bool aligned) {
  BlockPlace place;
  if (!order.find_place(place)) return;
  AttentionBlock<T, TileShape<kTile>, kGeneral>(params, aligned).run(place);
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
    const BlockOrder order(params, Shape::kRows);
    const LaunchConfig config{.grid = order.grid(),
                              .block = Shape::kThreads,
                              .smem = Shape::kTileBytes + sizeof(BlockState<float16>),
                              .stream = stream};
    return dispatch_bool(general, [&](auto kGeneral) {
      const auto launch_as = [&]<typename T>(type_tag<T>) {
        return launch(attention_fwd_kernel<T, kTile, kGeneral>, config, params, order, aligned);
      };
      return params.dtype == Dtype::f16 ? launch_as(type_tag<float16>{})
                                        : launch_as(type_tag<bfloat16>{});
    });
  });
}

}  // namespace ww
