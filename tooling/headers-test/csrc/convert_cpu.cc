// Every conversion of dtype.h, compiled for this processor as kernels compile theirs; those of
// float16 that are not in pairs as blocks_cpu.h has them.

#include "convert.h"
#include "warpwright/blocks_cpu.h"

namespace ww {
namespace {

WW_VECTORISED inline void convert_pairs(const ConvertParams& params, int64_t begin, int64_t end) {
  const int64_t first = 2 * begin;
  const int count = static_cast<int>(2 * (end - begin));
  if (params.conversion == Conversion::f16_to_f32)
    return widen(static_cast<const float16*>(params.src) + first, count,
                 static_cast<float*>(params.dst) + first);
  if (params.conversion == Conversion::f32_to_f16)
    return narrow(static_cast<const float*>(params.src) + first, count,
                  static_cast<float16*>(params.dst) + first);
  for (int64_t pair = begin; pair < end; ++pair) convert_pair(params, pair);
}

}  // namespace

cudaError_t convert_fwd_cpu(const ConvertParams& params, const ThreadPool& pool) {
  pool.parallel_for(params.num_pairs, 1024, [&](int64_t begin, int64_t end) {
    vectorised([&]() WW_VECTORISED { convert_pairs(params, begin, end); });
  });
  return cudaSuccess;
}

}  // namespace ww
