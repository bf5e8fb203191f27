// Some queries of a head, or of the heads that share keys, on the CPU: where they are, what they
// may see, and what becomes of their sums.
#pragma once

#include <cmath>

#include "plan_cpu.h"
#include "softmax_cpu.h"
#include "tile_cpu.h"

namespace ww {

inline constexpr int kTileKeys = 64;

constexpr int padded(int size, int multiple) { return ceil_div(size, multiple) * multiple; }

inline int64_t head_offset(const Rows& rows, int64_t batch, int64_t head) {
  return batch * rows.strides[0] + head * rows.strides[1];
}

// What a block has summed up.
template <typename P>
struct BlockSums {
  P* panels;
  float* out;  // (panels, v_pitch, width), or (rows, v_pitch)
};

// kStep: from one element of a row of out to the next, the width of a panel or 1. v_pitch: columns
// of out, head_dim_v and what makes the loops over them even.
template <typename P, int kStep>
class QueryRows {
 public:
  static constexpr int kWidth = P::kWidth;
  static constexpr int kLanes = P::kVectorLanes;

  QueryRows(const AttentionParams& params, const Plan& plan, int64_t index, int v_pitch,
            const BlockSums<P>& sums)
      : params_(params), joined_(plan.joined), sums_(sums), v_pitch_(v_pitch) {
    // The last block first: under a causal mask it has the most keys.
    const int64_t block = plan.num_blocks - 1 - index % plan.num_blocks;
    first_ = block * plan.block;
    num_rows_ = static_cast<int>(std::min<int64_t>(plan.block, plan.num_rows - first_));
    num_panels_ = ceil_div(num_rows_, kWidth);
    scales_late_ = params.softcap == 0.0f && params.mask.rows.data == nullptr;
    unit_ = (scales_late_ ? params.softmax_scale : 1.0f) * kLog2E;

    const int64_t unit = index / plan.num_blocks;
    const int64_t group = params.q_grid.sizes[1] / params.k_grid.sizes[1];
    const int64_t heads = joined_ ? params.k_grid.sizes[1] : params.q_grid.sizes[1];
    batch_ = unit / heads;
    head_ = unit % heads * (joined_ ? group : 1);
    head_kv_ = head_ / group;
  }

  // Parts, from begin up to end, that have keys which some query may see; at least one.
  KeyRange seen_parts() const {
    const KeyRange seen = seen_keys();
    const int begin = seen.begin / kPartKeys;
    return {begin, std::max(begin + 1, ceil_div(seen.end, kPartKeys))};
  }

  // Takes in the sums of other keys.
  WW_VECTORISED void merge(const BlockSums<P>& other) {
    for (int i = 0; i < num_panels_; ++i) sums_.panels[i].merge(other.panels[i], unit_);
    if constexpr (kStep == 1) {
      for (int row = 0; row < num_rows_; ++row)
        for (int i = 0; i < v_pitch_; i += kLanes)
          merge_lanes(row * v_pitch_ + i, other, V{} + sums_.panels->rescale[row],
                      V{} + other.panels->rescale[row]);
    } else {
      for (int i = 0; i < num_panels_; ++i)
        for (int column = 0; column < v_pitch_; ++column)
          for (int lane = 0; lane < kWidth; lane += kLanes)
            merge_lanes((i * v_pitch_ + column) * kWidth + lane, other,
                        lanes<kLanes>(sums_.panels[i].rescale + lane),
                        lanes<kLanes>(other.panels[i].rescale + lane));
    }
  }

  WW_VECTORISED void finish() {
    for (int row = 0; row < num_rows_; ++row) finish_row(row);
  }

 protected:
  struct Place {
    int64_t head;
    int64_t query;
  };

  // What the first and the last query see; all of them, where heads are joined.
  KeyRange seen_keys() const {
    const bool wraps = joined_ && num_rows_ > 1;
    const int64_t last_query = wraps ? params_.q_grid.sizes[2] - 1 : place_of(num_rows_ - 1).query;
    return {visible_keys(params_, wraps ? 0 : place_of(0).query).begin,
            visible_keys(params_, last_query).end};
  }

  // Those of one part, from a tile's beginning on: tiles begin at the same keys for every block.
  KeyRange part_keys(int part) const {
    const KeyRange seen = seen_keys();
    const int64_t part_end = (int64_t{part} + 1) * kPartKeys;
    return {std::max(seen.begin / kTileKeys * kTileKeys, part * kPartKeys),
            static_cast<int>(std::min<int64_t>(seen.end, part_end))};
  }

  // Of a row of the block; rows behind the last are like that one.
  Place place_of(int row) const {
    const int64_t at = first_ + std::min(row, num_rows_ - 1);
    const int64_t seqlen = params_.q_grid.sizes[2];
    if (!joined_) return {head_, at};
    return {head_ + at / seqlen, at % seqlen};
  }

  // The first element of a row of out.
  float* at_row(float* out, int row) const {
    if constexpr (kStep == 1) return out + row * v_pitch_;
    return out + row / kWidth * kWidth * v_pitch_ + row % kWidth;
  }

  // A row of q in elements of T.
  template <typename T>
  const T* q_row(int row) const {
    const Place place = place_of(row);
    return static_cast<const T*>(params_.q.data) + head_offset(params_.q, batch_, place.head) +
           place.query * params_.q.strides[2];
  }

  // A head's row of k or v in elements of T.
  template <typename T>
  const T* key_row(const Rows& rows, int64_t key) const {
    return static_cast<const T*>(rows.data) + head_offset(rows, batch_, head_kv_) +
           key * rows.strides[2];
  }

  void start_panel(P& panel, int row) const {
    panel.some = panel.all = visible_keys(params_, place_of(row).query);
    for (int lane = 0; lane < kWidth; ++lane) {
      const Place place = place_of(row + lane);
      const KeyRange range = visible_keys(params_, place.query);
      panel.max[lane] = kMinusInf;
      panel.sum[lane] = 0.0f;
      panel.begin[lane] = range.begin;
      panel.end[lane] = range.end;
      panel.mask[lane] = head_offset(params_.mask.rows, batch_, place.head) +
                         place.query * params_.mask.rows.strides[2];
      panel.some = {std::min(panel.some.begin, range.begin), std::max(panel.some.end, range.end)};
      panel.all = {std::max(panel.all.begin, range.begin), std::min(panel.all.end, range.end)};
    }
  }

  const AttentionParams& params_;
  const bool joined_;
  const BlockSums<P> sums_;
  const int v_pitch_;
  int64_t first_;
  int num_rows_;
  int num_panels_;
  bool scales_late_;  // nothing but the scale stands between the products and the softmax
  float unit_;
  int64_t batch_;
  int64_t head_;  // the first one of the block
  int64_t head_kv_;

 private:
  using V = Floats<kLanes>;

  WW_VECTORISED void merge_lanes(int at, const BlockSums<P>& other, const V& factor,
                                 const V& other_factor) {
    V& sums = lanes<kLanes>(sums_.out + at);
    sums = rounded<kLanes>(sums * factor) + lanes<kLanes>(other.out + at) * other_factor;
  }

  WW_VECTORISED void finish_row(int row) {
    const Place place = place_of(row);
    const P& panel = sums_.panels[row / kWidth];
    const int lane = row % kWidth;
    RowTotal total{panel.max[lane] * (scales_late_ ? params_.softmax_scale : 1.0f),
                   panel.sum[lane]};
    float factor = 1.0f;
    if (params_.sinks != nullptr) factor = total.add(params_.sinks[place.head]);
    // A row without keys is 0, not 0 / 0.
    factor = total.sum == 0.0f ? 0.0f : factor / total.sum;
    const auto at = [&](const Rows& rows) {
      return head_offset(rows, batch_, place.head) + place.query * rows.strides[2];
    };
    (void)dispatch_dtype(params_.out_dtype, [&]<typename Out>(type_tag<Out>) WW_VECTORISED {
      gather_row<kStep>(at_row(sums_.out, row), factor, params_.head_dim_v,
                        static_cast<Out*>(params_.out.data) + at(params_.out));
      return cudaSuccess;
    });
    if (params_.lse.data == nullptr) return;
    static_cast<float*>(params_.lse.data)[at(params_.lse)] = total.lse();
  }
};

}  // namespace ww
