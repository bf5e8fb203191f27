// The online softmax of a warp's rows, in the registers of mma's accumulators: of each 16 rows a
// lane has two, half a tile apart, and shares them with the other three lanes of its quad.
#pragma once

#include "head.cuh"
#include "tiles.cuh"

namespace ww {

inline constexpr unsigned kAllLanes = 0xffffffff;

__device__ inline float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, 1));
  return fmaxf(x, __shfl_xor_sync(kAllLanes, x, 2));
}

__device__ inline float quad_sum(float x) {
  x += __shfl_xor_sync(kAllLanes, x, 1);
  return x + __shfl_xor_sync(kAllLanes, x, 2);
}

// What a maximum is subtracted as: without a visible key yet any finite number will do, and -inf
// would give NaN.
__device__ inline float finite_max(float max) { return max == kMinusInf ? 0.0f : max; }

// kScores: where `of_scores`, what comes is no product but a score in its own unit, which may be
// near the largest float, so that only its difference to the largest may be scaled. Of products
// `scale` goes into one FMA with the subtraction.
template <typename Shape, bool kScores>
class OnlineSoftmax {
 public:
  // 2^(scale (score - max)) is a weight.
  __device__ OnlineSoftmax(float scale, bool of_scores)
      : scale_(scale), of_scores_(kScores && of_scores) {
#pragma unroll
    for (int i = 0; i < Shape::kRowTiles; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        base_[i][half] = kMinusInf;
        sum_[i][half] = 0.0f;
      }
  }

  // Scores become weights relative to a base; sums over earlier tiles follow where it moves. It
  // does so only where the largest score has left it far behind, in a row of its own: so most
  // tiles leave the sums alone, and yet no row depends on its neighbours.
  __device__ void update(typename Shape::Scores& scores, typename Shape::Sums& sums) {
    if (of_scores_)
      update_as<true>(scores, sums);
    else
      update_as<false>(scores, sums);
  }

  // The row's base, in the unit of a score, and, after the only reduction over lanes, the sum of
  // its weights.
  __device__ void finish(int i, int half, float& base, float& sum) const {
    base = base_[i][half] * (of_scores_ ? 1.0f : scale_ * kLn2);
    sum = quad_sum(sum_[i][half]);
  }

  // Whether the row's base, which `weight` scales and rounds before it subtracts it, may be off by
  // more than 1: all the row's weights by the same factor, but it may leave none of them.
  __device__ bool has_coarse_base(int i, int half) const {
    constexpr float kMost = 0x1p24f;
    const float base = base_[i][half];
    return !of_scores_ && base != kMinusInf && fabsf(base * scale_) > kMost;
  }

 private:
  // A weight may be 2^8, as in FlashAttention-4.
  static constexpr float kHeadroomLog2 = 8.0f;

  template <bool kOfScores>
  __device__ void update_as(typename Shape::Scores& scores, typename Shape::Sums& sums) {
    float largest[Shape::kRowTiles][2];
    bool moves = false;
#pragma unroll
    for (int i = 0; i < Shape::kRowTiles; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float& most = largest[i][half];
        most = kMinusInf;
#pragma unroll
        for (int j = 0; j < Shape::kKeyTiles; ++j)
          most = fmaxf(most, fmaxf(scores[i][j][2 * half], scores[i][j][2 * half + 1]));
        most = quad_max(most);
        moves |= is_far(most, base_[i][half]);
      }
    if (__any_sync(kAllLanes, moves)) move_bases<kOfScores>(largest, sums);
#pragma unroll
    for (int i = 0; i < Shape::kRowTiles; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        sum_[i][half] += make_weights<kOfScores>(scores[i], half, finite_max(base_[i][half]));
  }

  __device__ bool is_far(float score, float base) const {
    return (score - base) * scale_ > kHeadroomLog2;
  }

  template <bool kOfScores>
  __device__ void move_bases(const float (&largest)[Shape::kRowTiles][2],
                             typename Shape::Sums& sums) {
#pragma unroll
    for (int i = 0; i < Shape::kRowTiles; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float& base = base_[i][half];
        if (!is_far(largest[i][half], base)) continue;
        const float rescale = weight<kOfScores>(base, largest[i][half]);
        base = largest[i][half];
        sum_[i][half] *= rescale;
#pragma unroll
        for (int j = 0; j < Shape::kColumnTiles; ++j) {
          sums[i][j][2 * half] *= rescale;
          sums[i][j][2 * half + 1] *= rescale;
        }
      }
  }

  // Of half of a row tile; returns their sum.
  template <bool kOfScores>
  __device__ float make_weights(float (&scores)[Shape::kKeyTiles][4], int half, float base) const {
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < Shape::kKeyTiles; ++j)
#pragma unroll
      for (int e = 2 * half; e < 2 * half + 2; ++e) {
        scores[j][e] = weight<kOfScores>(scores[j][e], base);
        sum += scores[j][e];
      }
    return sum;
  }

  template <bool kOfScores>
  __device__ float weight(float score, float base) const {
    if constexpr (kOfScores) return exp2_approx((score - base) * scale_);
    return exp2_approx(fmaf(score, scale_, -base * scale_));
  }

  float scale_;
  const bool of_scores_;
  float base_[Shape::kRowTiles][2];
  float sum_[Shape::kRowTiles][2];
};

// A row's largest score and the sum of its weights, to which `sink` may add one more.
struct RowTotals {
  float factor;  // of the row's sums over values
  float lse;
};

__device__ inline RowTotals row_totals(float max, float sum, const float* sink) {
  float factor = 1.0f;
  if (sink != nullptr) {
    const float largest = fmaxf(max, *sink);
    const float base = finite_max(largest);
    factor = exp2_approx((max - base) * kLog2E);
    sum = sum * factor + exp2_approx((*sink - base) * kLog2E);
    max = largest;
  }
  // A row without keys is 0, not 0 / 0.
  if (sum == 0.0f) return {0.0f, kMinusInf};
  return {factor / sum, max + logf(sum)};
}

}  // namespace ww
