// Every conversion of dtype.h, compiled for this processor as kernels compile theirs.

#include "convert.h"

namespace ww {

cudaError_t convert_fwd_cpu(const ConvertParams& params, const ThreadPool& pool) {
  pool.parallel_for(params.num_pairs, 1024, [&](int64_t begin, int64_t end) {
    vectorised([&]() WW_VECTORISED {
      for (int64_t pair = begin; pair < end; ++pair) convert_pair(params, pair);
    });
  });
  return cudaSuccess;
}

}  // namespace ww
