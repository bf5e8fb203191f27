// Attention on the CPU: the same result as attention.cu within rounding. A thread has a block of
// queries of one head and some of the keys; if that is not all of them, the parts' sums are merged.

#include <atomic>
#include <memory>
#include <new>

#include "attention.h"
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

template <int kLanes, int kVectors, bool kFewRows>
bool run_whole(const AttentionParams& params, const Plan& plan, const ThreadPool& pool) {
  using Block = QueryBlock<kLanes, kVectors, kFewRows>;
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

// Parts of the keys into memory of their own, and then together.
template <int kLanes, int kVectors, bool kFewRows>
bool run_parts(const AttentionParams& params, const Plan& plan, const ThreadPool& pool) {
  using Block = QueryBlock<kLanes, kVectors, kFewRows>;
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
  return !out_of_memory;
}

template <int kLanes, int kVectors, bool kFewRows>
cudaError_t run(const AttentionParams& params, const Plan& plan, const ThreadPool& pool) {
  const bool done = plan.by_parts ? run_parts<kLanes, kVectors, kFewRows>(params, plan, pool)
                                  : run_whole<kLanes, kVectors, kFewRows>(params, plan, pool);
  return done ? cudaSuccess : cudaErrorMemoryAllocation;
}

}  // namespace

cudaError_t attention_fwd_cpu(const AttentionParams& params, const ThreadPool& pool) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (has_no_queries(params)) return cudaSuccess;
  return dispatch_int<4, 8, 16>(vector_lanes(), [&](auto kLanes) {
    // Lanes that nobody uses cost as much as the others.
    constexpr int kFewRows = 4;
    const Plan plan = make_plan(params, 2 * kLanes);
    if (plan.num_rows <= kFewRows) return run<kLanes, 1, true>(params, plan, pool);
    if (plan.num_rows <= kLanes) return run<kLanes, 1, false>(params, plan, pool);
    return run<kLanes, 2, false>(params, plan, pool);
  });
}

}  // namespace ww
