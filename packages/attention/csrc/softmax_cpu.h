// The online softmax on the CPU, of as many queries at once as a panel has lanes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention.h"
#include "vector_cpu.h"

namespace ww {

inline constexpr float kLog2E = 1.44269504088896341f;
inline constexpr float kMinusInf = -std::numeric_limits<float>::infinity();

// What the queries of a panel have seen so far, one to a lane. Scores are in whatever unit the
// caller has; exp2(unit * score) is a weight.
template <int kLanes, int kVectors>
struct alignas(64) Panel {
  static constexpr int kWidth = kLanes * kVectors;
  static constexpr int kVectorLanes = kLanes;
  using V = Floats<kLanes>;

  float max[kWidth];      // the largest score
  float sum[kWidth];      // of the weights, relative to that one's
  float rescale[kWidth];  // for what was summed with earlier weights
  int begin[kWidth];      // keys that a query may see by its position
  int end[kWidth];
  int64_t mask[kWidth];  // where its row of the mask begins
  KeyRange some;         // keys that at least one may see
  KeyRange all;          // keys that all may see

  // Scores of `count` keys, (count, kWidth), become weights.
  WW_VECTORISED void update(float* scores, int count, float unit) {
    V largest[kVectors];
    V base[kVectors];
    V added[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) largest[v] = lanes<kLanes>(max + v * kLanes);
    for (int key = 0; key < count; ++key)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        const V score = lanes<kLanes>(scores + key * kWidth + v * kLanes);
        largest[v] = score > largest[v] ? score : largest[v];
      }
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      // Nothing visible yet: any finite number keeps -inf - base from being NaN.
      base[v] = largest[v] == kMinusInf ? V{} : largest[v];
      added[v] = V{};
    }
    for (int key = 0; key < count; ++key)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        V& score = lanes<kLanes>(scores + key * kWidth + v * kLanes);
        score = exp2((score - base[v]) * unit);
        added[v] += score;
      }
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      V& sums = lanes<kLanes>(sum + v * kLanes);
      const V factor = exp2((lanes<kLanes>(max + v * kLanes) - base[v]) * unit);
      sums = sums * factor + added[v];
      lanes<kLanes>(rescale + v * kLanes) = factor;
      lanes<kLanes>(max + v * kLanes) = largest[v];
    }
  }

  // The same for one query, whose scores lie side by side; `count` is a multiple of kLanes. Weights
  // are summed one after the other here too.
  WW_VECTORISED void update_lane(int lane, float* scores, int count, float unit) {
    V largest = V{} + kMinusInf;
    for (int key = 0; key < count; key += kLanes) {
      const V score = lanes<kLanes>(scores + key);
      largest = score > largest ? score : largest;
    }
    float top = max[lane];
    for (int i = 0; i < kLanes; ++i) top = largest[i] > top ? largest[i] : top;
    const float base = top == kMinusInf ? 0.0f : top;
    for (int key = 0; key < count; key += kLanes) {
      V& score = lanes<kLanes>(scores + key);
      score = exp2((score - base) * unit);
    }
    float added = 0.0f;
    for (int key = 0; key < count; ++key) added += scores[key];
    const V factor = exp2((V{} + max[lane] - base) * unit);
    sum[lane] = sum[lane] * factor[0] + added;
    rescale[lane] = factor[0];
    max[lane] = top;
  }

  // Takes in what other keys gave. What was summed with weights has to be multiplied by rescale
  // here, and by other.rescale there, to be added.
  WW_VECTORISED void merge(Panel& other, float unit) {
    for (int v = 0; v < kWidth; v += kLanes) {
      V& mine = lanes<kLanes>(max + v);
      const V theirs = lanes<kLanes>(other.max + v);
      const V largest = theirs > mine ? theirs : mine;
      const V base = largest == kMinusInf ? V{} : largest;
      const V factor = exp2((mine - base) * unit);
      const V other_factor = exp2((theirs - base) * unit);
      V& sums = lanes<kLanes>(sum + v);
      sums = rounded<kLanes>(sums * factor) + lanes<kLanes>(other.sum + v) * other_factor;
      lanes<kLanes>(rescale + v) = factor;
      lanes<kLanes>(other.rescale + v) = other_factor;
      mine = largest;
    }
  }

 private:
  WW_VECTORISED static V exp2(const V& x) { return exp2_nonpositive<kLanes>(x); }
};

// A row's largest logit and the sum of its weights, relative to that one's.
struct RowTotal {
  float max;
  float sum;

  // One more logit in the denominator. Returns what the earlier weights have to be multiplied by.
  float add(float logit) {
    const float largest = std::max(max, logit);
    const float base = largest == kMinusInf ? 0.0f : largest;
    const float factor = std::exp(max - base);
    sum = sum * factor + std::exp(logit - base);
    max = largest;
    return factor;
  }

  float lse() const { return sum == 0.0f ? kMinusInf : max + std::log(sum); }
};

}  // namespace ww
