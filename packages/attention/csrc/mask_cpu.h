// What happens to the scores of a panel of queries between the products on the CPU.
#pragma once

#include <cmath>

#include "softmax_cpu.h"
#include "warpwright/dispatch.h"

namespace ww {

// Scale, cap and mask.
template <typename P>
WW_VECTORISED inline void adjust_scores(const AttentionParams& params, const P& panel,
                                        float* scores, KeyRange keys) {
  constexpr int kWidth = P::kWidth;
  const int count = keys.end - keys.begin;
  for (int i = 0; i < count * kWidth; ++i) scores[i] *= params.softmax_scale;
  if (params.softcap > 0.0f)
    for (int i = 0; i < count * kWidth; ++i)
      scores[i] = params.softcap * std::tanh(scores[i] / params.softcap);
  const AttentionMask& mask = params.mask;
  if (mask.rows.data == nullptr) return;
  const auto each = [&](auto&& f) WW_VECTORISED {
    const int step = mask.columns == 1 ? 0 : 1;
    for (int lane = 0; lane < kWidth; ++lane)
      for (int i = 0; i < count; ++i)
        f(scores[i * kWidth + lane], panel.mask[lane] + step * (keys.begin + i));
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
