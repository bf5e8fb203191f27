#include <algorithm>

#include "convert.h"
#include "normal.h"
#include "random.h"
#include "warpwright/cpu.h"
#include "warpwright/dispatch.h"

namespace ww {
namespace {

constexpr int64_t kGrain = 4096;  // blocks: about 0.2 ms
// Blocks whose elements wait in the cache between being computed and being rounded.
constexpr int kTile = 128;

// values[i][j] is element i of block first + j.
WW_VECTORISED inline void normal_tile(int64_t first, int count, uint64_t seed,
                                      double (&values)[kNormalBlock][kTile]) {
#pragma omp simd
  for (int j = 0; j < count; ++j) {
    double block[kNormalBlock];
    normal_block(static_cast<uint64_t>(first) + j, seed, block);
    for (int i = 0; i < kNormalBlock; ++i) values[i][j] = block[i];
  }
}

template <typename T>
WW_VECTORISED inline void round_tile(const double (&values)[kNormalBlock][kTile], T* out,
                                     int64_t count) {
  const int64_t full = count / kNormalBlock;
  for (int64_t j = 0; j < full; ++j)
    for (int i = 0; i < kNormalBlock; ++i) out[j * kNormalBlock + i] = narrow<T>(values[i][j]);
  for (int64_t i = full * kNormalBlock; i < count; ++i)
    out[i] = narrow<T>(values[i % kNormalBlock][full]);
}

}  // namespace

cudaError_t randn_fwd_cpu(const RandnParams& params, const ThreadPool& pool) {
  const auto num_blocks = ceil_div<int64_t>(params.count, kNormalBlock);
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    pool.parallel_for(num_blocks, kGrain, [&](int64_t begin, int64_t end) {
      vectorised([&]() WW_VECTORISED {
        double values[kNormalBlock][kTile];
        for (int64_t block = begin; block < end; block += kTile) {
          const int count = static_cast<int>(std::min<int64_t>(end - block, kTile));
          normal_tile(block, count, params.seed, values);
          const int64_t first = block * kNormalBlock;
          round_tile(values, static_cast<T*>(params.out) + first,
                     std::min<int64_t>(count * kNormalBlock, params.count - first));
        }
      });
    });
    return cudaSuccess;
  });
}

}  // namespace ww
