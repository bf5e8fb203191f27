// Attention on the CPU: the same result as attention.cu within rounding. A thread has a block of
// queries of one head and some of the keys; if that is not all of them, the parts' sums are merged.

#include <atomic>
#include <memory>
#include <new>

#include "attention.h"
#include "few_rows_cpu.h"
#include "query_block_cpu.h"
#include "warpwright/dispatch.h"

namespace ww {
namespace {

// Floats at a cache line's beginning, or null.
class AlignedFloats {
 public:
  explicit AlignedFloats(int64_t count)
      : memory_(
            static_cast<float*>(::operator new(count * sizeof(float), kAlignment, std::nothrow))) {}

  float* get() const { return memory_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};

  struct Free {
    void operator()(float* memory) const { ::operator delete(memory, kAlignment); }
  };

  std::unique_ptr<float, Free> memory_;
};

constexpr int64_t padded_to_line(int64_t count) { return ceil_div<int64_t>(count, 16) * 16; }

// How many floats a block's sums and a thread's scratch take, and where what is in them.
template <typename P>
struct MemoryMap {
  int num_panels;
  int64_t panels;  // floats of all of them
  int64_t out;
  int64_t q;
  int64_t keys;
  int64_t values;
  int64_t scores;

  MemoryMap(const AttentionParams& params, const Plan& plan)
      : num_panels(static_cast<int>(
            ceil_div<int64_t>(std::min<int64_t>(plan.block, plan.num_rows), P::kWidth))),
        panels(int64_t{num_panels} * sizeof(P) / sizeof(float)),
        out(int64_t{num_panels} * padded(params.head_dim_v, kRowsMultiple) * P::kWidth),
        q(int64_t{num_panels} * params.head_dim * P::kWidth),
        keys(padded_to_line(int64_t{kTileKeys} * params.head_dim)),
        values(int64_t{kTileKeys} * padded(params.head_dim_v, kRowsMultiple)),
        scores(int64_t{kTileKeys} * P::kWidth) {}

  int64_t sums_size() const { return panels + out; }
  int64_t scratch_size() const { return q + keys + values + scores; }

  BlockSums<P> sums(float* at) const { return {reinterpret_cast<P*>(at), at + panels}; }
  Scratch scratch(float* at) const { return {at, at + q, at + q + keys, at + q + keys + values}; }
};

template <int kLanes, int kVectors>
bool run_whole(const AttentionParams& params, const Plan& plan, const ThreadPool& pool) {
  using Block = QueryBlock<kLanes, kVectors>;
  const MemoryMap<typename Block::P> map(params, plan);
  std::atomic<bool> out_of_memory = false;
  pool.parallel_for(plan.num_items(), 1, [&](int64_t begin, int64_t end) {
    const AlignedFloats memory(2 * map.sums_size() + map.scratch_size());
    if (memory.get() == nullptr) {
      out_of_memory = true;
      return;
    }
    const auto sums = map.sums(memory.get());
    const auto more_sums = map.sums(memory.get() + map.sums_size());
    const Scratch scratch = map.scratch(memory.get() + 2 * map.sums_size());
    vectorised_for<kLanes>([&]() WW_VECTORISED {
      for (int64_t index = begin; index < end; ++index) {
        Block block(params, plan, index, sums);
        const KeyRange parts = block.seen_parts();
        block.sum_part(scratch, parts.begin);
        for (int part = parts.begin + 1; part < parts.end; ++part) {
          Block(params, plan, index, more_sums).sum_part(scratch, part);
          block.merge(more_sums);
        }
        block.finish();
      }
    });
  });
  return !out_of_memory;
}

// The parts' sums, one block's after the other's, to results.
template <int kLanes, typename Block, typename SumsOf>
void merge_parts(const AttentionParams& params, const Plan& plan, const ThreadPool& pool,
                 SumsOf&& sums_of) {
  pool.parallel_for(plan.num_units * plan.num_blocks, 1, [&](int64_t begin, int64_t end) {
    vectorised_for<kLanes>([&]() WW_VECTORISED {
      for (int64_t index = begin; index < end; ++index) {
        const int64_t item = index * plan.num_parts;
        Block block(params, plan, index, sums_of(item));
        for (int part = 1; part < plan.num_parts; ++part) block.merge(sums_of(item + part));
        block.finish();
      }
    });
  });
}

// Parts of the keys into memory of their own, and then together.
template <int kLanes, int kVectors>
bool run_parts(const AttentionParams& params, const Plan& plan, const ThreadPool& pool) {
  using Block = QueryBlock<kLanes, kVectors>;
  const MemoryMap<typename Block::P> map(params, plan);
  const AlignedFloats all_sums(map.sums_size() * plan.num_items());
  std::atomic<bool> out_of_memory = all_sums.get() == nullptr;
  if (out_of_memory) return false;
  const auto sums_of = [&](int64_t item) {
    return map.sums(all_sums.get() + item * map.sums_size());
  };
  pool.parallel_for(plan.num_items(), 1, [&](int64_t begin, int64_t end) {
    const AlignedFloats memory(map.scratch_size());
    if (memory.get() == nullptr) {
      out_of_memory = true;
      return;
    }
    const Scratch scratch = map.scratch(memory.get());
    vectorised_for<kLanes>([&]() WW_VECTORISED {
      for (int64_t item = begin; item < end; ++item)
        Block(params, plan, item / plan.num_parts, sums_of(item))
            .sum_part(scratch, static_cast<int>(item % plan.num_parts));
    });
  });
  if (out_of_memory) return false;
  merge_parts<kLanes, Block>(params, plan, pool, sums_of);
  return true;
}

template <int kLanes, int kVectors>
cudaError_t run(const AttentionParams& params, const Plan& plan, const ThreadPool& pool) {
  const bool done = plan.by_parts ? run_parts<kLanes, kVectors>(params, plan, pool)
                                  : run_whole<kLanes, kVectors>(params, plan, pool);
  return done ? cudaSuccess : cudaErrorMemoryAllocation;
}

// Items from `begin` up to `end`: each a part of the keys of a head, and the next one the same part
// of the next head. Which of them a thread takes together leaves the results alone.
template <int kLanes, int kRows, typename SumsOf>
WW_VECTORISED inline void run_few_items(const AttentionParams& params, const Plan& plan,
                                        int64_t begin, int64_t end, float* scratch,
                                        SumsOf&& sums_of) {
  const int64_t heads = params.k_grid.sizes[1];
  (void)dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) WW_VECTORISED {
    for (int64_t item = begin; item < end;) {
      const int64_t row = item / heads;
      const int64_t first = row / plan.num_parts * heads + item % heads;
      const int part = static_cast<int>(row % plan.num_parts);
      const int64_t count = std::min({end - item, heads - item % heads, heads_together(params)});
      const auto block_of = [&](int64_t i) {
        return FewRows<kLanes, kRows>(params, plan, first + i,
                                      sums_of((first + i) * plan.num_parts + part));
      };
      FewRowsOfHeads<kLanes, kRows, T> group(params, scratch);
      for (int64_t i = 0; i < count; ++i)
        group.add_head(block_of(i), sums_of((first + i) * plan.num_parts + part));
      group.sum_part(part, block_of);
      item += count;
    }
    return cudaSuccess;
  });
}

// A few queries of a head, or of the heads that share keys.
template <int kLanes, int kRows>
cudaError_t run_few(const AttentionParams& params, const Plan& plan, const ThreadPool& pool) {
  using Block = FewRows<kLanes, kRows>;
  using P = typename Block::P;
  constexpr int64_t kPanel = sizeof(P) / sizeof(float);
  const int64_t sums_size = kPanel + kRows * few_pitch(params.head_dim_v);
  const int64_t num_items = plan.num_units * plan.num_parts;
  const AlignedFloats all_sums(sums_size * num_items);
  std::atomic<bool> out_of_memory = all_sums.get() == nullptr;
  if (out_of_memory) return cudaErrorMemoryAllocation;
  const auto sums_of = [&](int64_t item) {
    float* at = all_sums.get() + item * sums_size;
    return BlockSums<P>{reinterpret_cast<P*>(at), at + kPanel};
  };
  pool.parallel_for(num_items, 1, [&](int64_t begin, int64_t end) {
    const int64_t heads = std::min({end - begin, params.k_grid.sizes[1], heads_together(params)});
    const AlignedFloats memory(
        FewRowsOfHeads<kLanes, kRows, float>::scratch_size(params, static_cast<int>(heads)));
    if (memory.get() == nullptr) {
      out_of_memory = true;
      return;
    }
    vectorised_for<kLanes>([&]() WW_VECTORISED {
      run_few_items<kLanes, kRows>(params, plan, begin, end, memory.get(), sums_of);
    });
  });
  if (out_of_memory) return cudaErrorMemoryAllocation;
  merge_parts<kLanes, Block>(params, plan, pool, sums_of);
  return cudaSuccess;
}

}  // namespace

cudaError_t attention_fwd_cpu(const AttentionParams& params, const ThreadPool& pool) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (has_no_queries(params)) return cudaSuccess;
  return dispatch_int<4, 8, 16>(vector_lanes(), [&](auto kLanes) {
    const Plan plan = make_plan(params, 2 * kLanes);
    // Lanes that nobody uses cost as much as the others.
    if (plan.num_rows == 1) return run_few<kLanes, 1>(params, plan, pool);
    if (plan.num_rows == 2) return run_few<kLanes, 2>(params, plan, pool);
    if (plan.num_rows <= 4) return run_few<kLanes, 4>(params, plan, pool);
    if (plan.num_rows <= kLanes) return run<kLanes, 1>(params, plan, pool);
    return run<kLanes, 2>(params, plan, pool);
  });
}

}  // namespace ww
