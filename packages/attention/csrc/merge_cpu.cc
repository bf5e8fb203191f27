// The merge of two attentions on the CPU: the same result as merge.cu within rounding.

#include <algorithm>

#include "merge.h"
#include "warpwright/dispatch.h"

namespace ww {
namespace {

template <typename T>
WW_VECTORISED inline void merge_row(const MergeParams& params, int64_t row) {
  const MergeWeights weights = merge_weights(*params.lse_a.row<const float>(params.grid, row),
                                             *params.lse_b.row<const float>(params.grid, row));
  const T* a = params.out_a.row<const T>(params.grid, row);
  const T* b = params.out_b.row<const T>(params.grid, row);
  T* out = params.out.row<T>(params.grid, row);
  for (int i = 0; i < params.head_dim; ++i)
    out[i] = from_float<T>(merged(weights, to_float(a[i]), to_float(b[i])));
  *params.lse.row<float>(params.grid, row) = weights.lse;
}

}  // namespace

cudaError_t merge_fwd_cpu(const MergeParams& params, const ThreadPool& pool) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  // Elements that make waking another thread worth while.
  constexpr int64_t kGrainElements = 16384;
  const int64_t grain = std::max<int64_t>(kGrainElements / std::max(params.head_dim, 1), 1);
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    pool.parallel_for(params.grid.num_rows(), grain, [&](int64_t begin, int64_t end) {
      vectorised([&]() WW_VECTORISED {
        for (int64_t row = begin; row < end; ++row) merge_row<T>(params, row);
      });
    });
    return cudaSuccess;
  });
}

}  // namespace ww
