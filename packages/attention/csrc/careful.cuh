// The slow way, for queries with NaN or infinity among their results: key by key, so that a key of
// weight 0, such as a hidden one, has no part in its query's result. On the tensor cores it has, if
// its value is infinite or NaN: 0 * NaN is NaN. Weights are at most 1 here, and relative to the
// largest score however large that is.
#pragma once

#include "head.cuh"
#include "softmax.cuh"
#include "store.cuh"

namespace ww {

// The result of one query, by one warp; each lane has every 32nd column.
template <typename T>
class CarefulQuery {
 public:
  __device__ CarefulQuery(const Head<T>& head, int query)
      : params_(head.params), head_(head), query_(query), lane_(threadIdx.x % kWarp) {}

  __device__ void run() {
    const KeyRange range = visible_keys(params_, query_);
    for (int first = range.begin; first < range.end; first += kWarp) add_keys(first, range.end);
    const float* sink = params_.sinks == nullptr ? nullptr : params_.sinks + head_.index;
    for (int lanes = kWarp / 2; lanes > 0; lanes /= 2)
      sum_ += __shfl_xor_sync(kAllLanes, sum_, lanes);
    const RowTotals totals = row_totals(max_, sum_, sink);
    if (lane_ == 0) store_lse(params_, head_.batch, head_.index, query_, totals.lse);
    for (int i = 0; i < kColumns; ++i) {
      const float result[1] = {sums_[i] * totals.factor};
      store_results(params_, head_.batch, head_.index, query_, lane_ + i * kWarp, result);
    }
  }

 private:
  static constexpr int kWarp = 32;
  static constexpr int kColumns = kMaxHeadDim / kWarp;

  // A key for each lane.
  __device__ void add_keys(int first, int end) {
    const int key = first + lane_;
    float score = kMinusInf;
    if (key < end) {
      const T* q = head_.q().row(query_);
      const T* k = head_.k().row(key);
      float product = 0.0f;
      for (int i = 0; i < params_.head_dim; ++i) product += to_float(q[i]) * to_float(k[i]);
      const HeadMask mask(params_.mask, head_.batch, head_.index);
      score = score_of<T>(params_, mask, product, query_, key);
    }
    float largest = fmaxf(max_, score);
    for (int lanes = kWarp / 2; lanes > 0; lanes /= 2)
      largest = fmaxf(largest, __shfl_xor_sync(kAllLanes, largest, lanes));
    const float base = finite_max(largest);
    const float rescale = exp2_approx((max_ - base) * kLog2E);
    const float weight = exp2_approx((score - base) * kLog2E);
    max_ = largest;
    sum_ = sum_ * rescale + weight;
    for (int i = 0; i < kColumns; ++i) sums_[i] *= rescale;
    for (int lane = 0; lane < min(kWarp, end - first); ++lane)
      add_value(__shfl_sync(kAllLanes, weight, lane), first + lane);
  }

  __device__ void add_value(float weight, int key) {
    if (weight == 0.0f) return;
    const T* v = head_.v().row(key);
    for (int i = 0; i < kColumns; ++i) {
      const int column = lane_ + i * kWarp;
      if (column < params_.head_dim_v) sums_[i] += weight * to_float(v[column]);
    }
  }

  const AttentionParams& params_;
  const Head<T> head_;
  int query_;
  int lane_;
  float max_ = kMinusInf;
  float sum_ = 0.0f;
  float sums_[kColumns] = {};
};

// Repeats those of a warp's queries, from `first` on, whose bits in odd_rows some lane has set,
// once the warp has stored them. A query is repeated for its own sake alone: the other ones of a
// block have the bits that they have without it.
template <typename T>
__device__ void repeat_carefully(const Head<T>& head, int first, uint32_t odd_rows) {
  for (int lanes = 16; lanes > 0; lanes /= 2)
    odd_rows |= __shfl_xor_sync(kAllLanes, odd_rows, lanes);
  // Orders what other lanes have stored before what follows.
  __syncwarp();
  for (; odd_rows != 0; odd_rows >>= 1, ++first)
    if ((odd_rows & 1) != 0) CarefulQuery<T>(head, first).run();
}

}  // namespace ww
