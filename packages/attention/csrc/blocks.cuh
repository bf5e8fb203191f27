// Which queries a block has, and which of them a thread.
#pragma once

#include <algorithm>

#include "attention.h"
#include "warpwright/dispatch.h"
#include "warpwright/launch.h"

namespace ww {

// x, of which the compiler does not know that it is x: what follows from it is worked out here and
// again each time, instead of once before a loop that has no registers to keep it in.
__device__ inline int recomputed(int x) {
  asm volatile("" : "+r"(x));
  return x;
}

// A head's blocks follow one another, so that they share k and v in L2; its last queries come
// first, since under a causal mask they have the most keys.
struct BlockPlace {
  int batch;
  int head;
  int first_query;

  __device__ BlockPlace(const AttentionParams& params, int rows) {
    const int64_t index =
        int64_t{blockIdx.y} * gridDim.x + static_cast<unsigned>(recomputed(blockIdx.x));
    const int64_t num_blocks = ceil_div<int64_t>(params.q_grid.sizes[2], rows);
    const int64_t num_heads = params.q_grid.sizes[1];
    batch = static_cast<int>(index / num_blocks / num_heads);
    head = static_cast<int>(index / num_blocks % num_heads);
    first_query = static_cast<int>((num_blocks - 1 - index % num_blocks) * rows);
  }

  // The grid may have blocks to spare.
  __device__ bool is_inside(const AttentionParams& params) const {
    return batch < params.q_grid.sizes[0];
  }
};

// A thread's part of its block.
struct ThreadPlace {
  int lane;
  int warp_row;  // the warp's first row in the block
  int row;       // in mma's accumulators, the lane's first; the second is half a tile below
  int key;       // and the first of its two neighbouring columns

  // Where it is not for long, `thread` is a recomputed one.
  __device__ ThreadPlace(int thread, int warp_rows)
      : lane(thread % 32), warp_row(thread / 32 * warp_rows), row(lane / 4), key(lane % 4 * 2) {}
};

// Along x alone the blocks may be too many.
inline dim3 block_grid(const AttentionParams& params, int rows) {
  const int64_t blocks = params.q_grid.sizes[0] * params.q_grid.sizes[1] *
                         ceil_div<int64_t>(params.q_grid.sizes[2], rows);
  const int64_t lines = ceil_div(blocks, kMaxGridBlocks);
  return dim3(static_cast<unsigned>(ceil_div(blocks, lines)), static_cast<unsigned>(lines));
}

}  // namespace ww
