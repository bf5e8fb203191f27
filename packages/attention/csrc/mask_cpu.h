// What happens to the scores of queries between the products on the CPU.
#pragma once

#include <cmath>

#include "softmax_cpu.h"
#include "warpwright/dispatch.h"

namespace ww {

// Scale and cap, of any scores.
WW_VECTORISED inline void adjust_scores(const AttentionParams& params, float* scores, int count) {
  for (int i = 0; i < count; ++i) scores[i] *= params.softmax_scale;
  if (params.softcap > 0.0f)
    for (int i = 0; i < count; ++i)
      scores[i] = params.softcap * std::tanh(scores[i] / params.softcap);
}

// The mask's row that begins at `row`, for one query's scores, kStep floats apart.
template <int kStep>
WW_VECTORISED inline void mask_scores(const AttentionMask& mask, int64_t row, float* scores,
                                      KeyRange keys) {
  const auto each = [&](auto&& f) WW_VECTORISED {
    const int step = mask.columns == 1 ? 0 : 1;
    for (int key = keys.begin; key < keys.end; ++key)
      f(scores[(key - keys.begin) * kStep], row + step * key);
  };
  if (mask.dtype == Dtype::boolean) {
    const auto* seen = static_cast<const uint8_t*>(mask.rows.data);
    return each([&](float& score, int64_t at)
                    WW_VECTORISED { score = seen[at] != 0 ? score : kMinusInf; });
  }
  (void)dispatch_dtype(mask.dtype, [&]<typename M>(type_tag<M>) WW_VECTORISED {
    const auto* bias = static_cast<const M*>(mask.rows.data);
    each([&](float& score, int64_t at) WW_VECTORISED {
      const float term = to_float(bias[at]);
      // A hidden key's score may be NaN.
      score = term == kMinusInf ? kMinusInf : score + term;
    });
    return cudaSuccess;
  });
}

// What a query may not see by its position.
template <typename P>
WW_VECTORISED inline void hide_scores(const P& panel, float* scores, KeyRange keys) {
  constexpr int kWidth = P::kWidth;
  for (int key = keys.begin; key < keys.end; ++key) {
    float* row = scores + (key - keys.begin) * kWidth;
    for (int lane = 0; lane < kWidth; ++lane)
      row[lane] = key >= panel.begin[lane] && key < panel.end[lane] ? row[lane] : kMinusInf;
  }
}

}  // namespace ww
