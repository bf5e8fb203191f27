// How attention on the CPU is cut into work for threads: by the shapes alone, so that the results
// are the same for any number of them.
#pragma once

#include <algorithm>

#include "attention.h"
#include "warpwright/dispatch.h"

namespace ww {

// A row's weights are summed over so many keys, counted from the first, and those sums merged in
// order, whoever has formed them: what a query gives does not depend on the other work.
inline constexpr int kPartKeys = 1024;

struct Plan {
  bool joined;       // the queries of all heads that share keys stand together
  int64_t num_rows;  // queries of a head, or of those heads
  int64_t num_units;
  int block;  // rows that share a tile of keys
  int64_t num_blocks;
  int num_parts;  // of the keys
  bool by_parts;  // each is a piece of work

  int64_t num_items() const { return num_units * num_blocks * (by_parts ? num_parts : 1); }
};

// For panels of up to max_width queries.
inline Plan make_plan(const AttentionParams& params, int max_width) {
  // Pieces of work that keep many threads busy.
  constexpr int64_t kEnoughItems = 64;
  constexpr int kLargeBlock = 256;

  const auto& sizes = params.q_grid.sizes;
  const int64_t num_heads_kv = params.k_grid.sizes[1];
  Plan plan{};
  // Few queries leave lanes idle, and the other heads' need the same keys.
  plan.joined = sizes[2] < max_width && num_heads_kv < sizes[1];
  plan.num_rows = plan.joined ? sizes[2] * (sizes[1] / num_heads_kv) : sizes[2];
  plan.num_units = sizes[0] * (plan.joined ? num_heads_kv : sizes[1]);
  for (plan.block = kLargeBlock; plan.block > max_width; plan.block /= 2)
    if (plan.num_units * ceil_div<int64_t>(plan.num_rows, plan.block) >= kEnoughItems) break;
  plan.num_blocks = ceil_div<int64_t>(plan.num_rows, plan.block);
  plan.num_parts =
      static_cast<int>(std::max<int64_t>(ceil_div<int64_t>(params.k_grid.sizes[2], kPartKeys), 1));
  plan.by_parts = plan.num_parts > 1 && plan.num_units * plan.num_blocks < kEnoughItems;
  return plan;
}

}  // namespace ww
