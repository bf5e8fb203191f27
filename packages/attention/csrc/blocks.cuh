// Which queries a block has, and which of them a thread.
#pragma once

#include <algorithm>

#include "attention.h"
#include "warpwright/dispatch.h"
#include "warpwright/divisor.h"
#include "warpwright/launch.h"

namespace ww {

// x, of which the compiler does not know that it is x: what follows from it is worked out here and
// again each time, instead of once before a loop that has no registers to keep it in.
__device__ inline int recomputed(int x) {
  asm volatile("" : "+r"(x));
  return x;
}

struct BlockPlace {
  int batch;
  int head;
  int first_query;
};

// The order of the blocks. Where queries see no keys behind some position or before one, heads are
// taken in sections whose k and v stay in L2 together, and a section's last queries come first:
// under a causal mask they have the most keys, and what is left for the end is short. Otherwise one
// head follows the other.
class BlockOrder {
 public:
  BlockOrder(const AttentionParams& params, int rows) : rows_(rows) {
    const auto& [batch_size, num_heads, seqlen_q] = params.q_grid.sizes;
    num_blocks_ = static_cast<int>(ceil_div<int64_t>(seqlen_q, rows));
    total_heads_ = batch_size * num_heads;
    num_heads_ = Divisor(static_cast<uint32_t>(num_heads));
    const int64_t most = std::min(kMaxGridBlocks / num_blocks_, total_heads_);
    const bool differ_in_length = params.window.left >= 0 || params.window.right >= 0;
    const int64_t wanted = differ_in_length ? heads_in_l2(params) : 1;
    int64_t sections = ceil_div(total_heads_, std::min(wanted, most));
    sections = std::min<int64_t>(sections, kMaxGridLines);
    section_heads_ = Divisor(static_cast<uint32_t>(ceil_div(total_heads_, sections)));
  }

  dim3 grid() const {
    return dim3(section_heads_.value() * static_cast<unsigned>(num_blocks_),
                static_cast<unsigned>(ceil_div<int64_t>(total_heads_, section_heads_.value())));
  }

  // Returns whether there is one: the last section may have fewer heads.
  __device__ bool find_place(BlockPlace& place) const {
    uint32_t block = blockIdx.x;
    const uint32_t head_in_section = section_heads_.take(block);
    const int64_t head = int64_t{blockIdx.y} * section_heads_.value() + head_in_section;
    if (head >= total_heads_) return false;
    if (total_heads_ <= kMaxGridBlocks) {
      auto batch = static_cast<uint32_t>(head);
      place.head = static_cast<int>(num_heads_.take(batch));
      place.batch = static_cast<int>(batch);
    } else {
      place.head = static_cast<int>(head % num_heads_.value());
      place.batch = static_cast<int>(head / num_heads_.value());
    }
    place.first_query = (num_blocks_ - 1 - static_cast<int>(block)) * rows_;
    return true;
  }

 private:
  static constexpr int64_t kMaxGridLines = 65535;  // CUDA's limit along y

  // Of q, whose k and v take 16 MiB: a third of the H200's L2, two fifths of the A100's.
  static int64_t heads_in_l2(const AttentionParams& params) {
    constexpr int64_t kSectionBytes = 16 << 20;
    const auto& [batch_size, num_heads_kv, seqlen_k] = params.k_grid.sizes;
    const int64_t bytes =
        seqlen_k * (params.head_dim + params.head_dim_v) * (params.dtype == Dtype::f32 ? 4 : 2);
    const int64_t group = params.q_grid.sizes[1] / num_heads_kv;
    return std::max<int64_t>(kSectionBytes / std::max<int64_t>(bytes, 1), 1) * group;
  }

  int rows_;
  int num_blocks_;  // of a head
  int64_t total_heads_;
  Divisor num_heads_;
  Divisor section_heads_;
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

}  // namespace ww
