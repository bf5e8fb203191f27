// A block of queries on the CPU, and some of its keys: panels of queries, each transposed, meet
// tiles of keys.
#pragma once

#include <cmath>

#include "gemm_cpu.h"
#include "mask_cpu.h"
#include "plan_cpu.h"
#include "softmax_cpu.h"
#include "tile_cpu.h"

namespace ww {

inline constexpr int kTileKeys = 64;

constexpr int padded(int size, int multiple) { return ceil_div(size, multiple) * multiple; }

inline int64_t head_offset(const Rows& rows, int64_t batch, int64_t head) {
  return batch * rows.strides[0] + head * rows.strides[1];
}

// One thread's memory, in floats.
struct Scratch {
  float* q;       // (panels, head_dim, width)
  float* keys;    // a tile of k
  float* values;  // a tile of v
  float* scores;  // (kTileKeys, width)
};

// What a block has summed up.
template <typename P>
struct BlockSums {
  P* panels;
  float* out;  // (panels, v_pitch, width), or (rows, v_pitch) if there are few
};

template <int kLanes, int kVectors, bool kFewRows>
class QueryBlock {
 public:
  using P = Panel<kLanes, kVectors>;
  static constexpr int kWidth = P::kWidth;

  QueryBlock(const AttentionParams& params, const Plan& plan, int64_t index,
             const BlockSums<P>& sums)
      : params_(params), joined_(plan.joined), sums_(sums) {
    // The last block first: under a causal mask it has the most keys.
    const int64_t block = plan.num_blocks - 1 - index % plan.num_blocks;
    first_ = block * plan.block;
    num_rows_ = static_cast<int>(std::min<int64_t>(plan.block, plan.num_rows - first_));
    num_panels_ = ceil_div(num_rows_, kWidth);
    v_pitch_ = padded(params.head_dim_v, kRowsMultiple);
    scales_late_ = params.softcap == 0.0f && params.mask.rows.data == nullptr;
    unit_ = (scales_late_ ? params.softmax_scale : 1.0f) * kLog2E;

    const int64_t unit = index / plan.num_blocks;
    const int64_t group = params.q_grid.sizes[1] / params.k_grid.sizes[1];
    const int64_t heads = joined_ ? params.k_grid.sizes[1] : params.q_grid.sizes[1];
    batch_ = unit / heads;
    head_ = unit % heads * (joined_ ? group : 1);
    head_kv_ = head_ / group;
  }

  // Sums over the keys of one part.
  WW_VECTORISED void sum_part(const Scratch& scratch, int part) {
    start(scratch);
    const KeyRange seen = seen_keys();
    const int64_t part_end = (int64_t{part} + 1) * kPartKeys;
    // Tiles begin at the same keys for every block.
    const int64_t first = std::max(seen.begin / kTileKeys * kTileKeys, part * kPartKeys);
    const int64_t last = std::min<int64_t>(seen.end, part_end);
    for (int64_t key = first; key < last; key += kTileKeys)
      add_tile(scratch, static_cast<int>(key),
               static_cast<int>(std::min<int64_t>(last, key + kTileKeys)));
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
    for (int row = 0; row < num_rows_; ++row) {
      const float factor = sums_.panels[row / kWidth].rescale[row % kWidth];
      const float other_factor = other.panels[row / kWidth].rescale[row % kWidth];
      float* to = at_row(sums_.out, row);
      const float* from = at_row(other.out, row);
      for (int i = 0; i < v_pitch_ * kStep; i += kStep)
        to[i] = to[i] * factor + from[i] * other_factor;
    }
  }

  WW_VECTORISED void finish() {
    for (int row = 0; row < num_rows_; ++row) finish_row(row);
  }

 private:
  // From one element of a row of out to the next.
  static constexpr int kStep = kFewRows ? 1 : kWidth;

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

  // Of a row of the block; rows behind the last are like that one.
  Place place_of(int row) const {
    const int64_t at = first_ + std::min(row, num_rows_ - 1);
    const int64_t seqlen = params_.q_grid.sizes[2];
    if (!joined_) return {head_, at};
    return {head_ + at / seqlen, at % seqlen};
  }

  // The first element of a row of out.
  float* at_row(float* out, int row) const {
    if constexpr (kFewRows) return out + row * v_pitch_;
    return out + row / kWidth * kWidth * v_pitch_ + row % kWidth;
  }

  WW_VECTORISED void start(const Scratch& scratch) {
    const auto* data = params_.q.data;
    (void)dispatch_dtype(params_.dtype, [&]<typename T>(type_tag<T>) WW_VECTORISED {
      for (int row = 0; row < num_panels_ * kWidth; ++row) {
        const Place place = place_of(row);
        const T* from = static_cast<const T*>(data) + head_offset(params_.q, batch_, place.head) +
                        place.query * params_.q.strides[2];
        spread_row<kWidth>(from, params_.head_dim,
                           scratch.q + row / kWidth * kWidth * params_.head_dim + row % kWidth);
      }
      return cudaSuccess;
    });
    for (int i = 0; i < num_panels_; ++i) start_panel(sums_.panels[i], i * kWidth);
    std::fill_n(sums_.out, int64_t{num_panels_} * v_pitch_ * kWidth, 0.0f);
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

  WW_VECTORISED void add_tile(const Scratch& scratch, int key, int end) {
    const int count = end - key;
    bool finite = true;
    (void)dispatch_dtype(params_.dtype, [&]<typename T>(type_tag<T>) WW_VECTORISED {
      const auto tile = [&](const Rows& rows) {
        return static_cast<const T*>(rows.data) + head_offset(rows, batch_, head_kv_) +
               key * rows.strides[2];
      };
      load_rows(tile(params_.k), params_.k.strides[2], count, params_.head_dim, scratch.keys,
                params_.head_dim);
      finite = load_rows(tile(params_.v), params_.v.strides[2], count, params_.head_dim_v,
                         scratch.values, v_pitch_);
      return cudaSuccess;
    });
    // Scores of a few rows too many are formed, and not looked at.
    std::fill(scratch.keys + count * params_.head_dim,
              scratch.keys + padded(count, kRowsMultiple) * params_.head_dim, 0.0f);
    for (int i = 0; i < num_panels_; ++i) {
      const KeyRange some = sums_.panels[i].some;
      const int first = std::max(0, (some.begin - key) / kRowsMultiple * kRowsMultiple);
      const int last = std::min(count, some.end - key);
      if (first < last) add_keys(scratch, i, key, {first, last}, finite);
    }
  }

  // Some keys of the tile that begins with `key`, for one panel.
  WW_VECTORISED void add_keys(const Scratch& scratch, int index, int key, KeyRange in_tile,
                              bool finite) {
    P& panel = sums_.panels[index];
    const int count = in_tile.end - in_tile.begin;
    const float* values = scratch.values + in_tile.begin * v_pitch_;
    const int dim = params_.head_dim;
    multiply<kLanes, kVectors>(scratch.keys + in_tile.begin * dim, {dim, 1},
                               padded(count, kRowsMultiple), scratch.q + index * dim * kWidth, dim,
                               scratch.scores, nullptr);
    const KeyRange keys{key + in_tile.begin, key + in_tile.end};
    if (!scales_late_) adjust_scores(params_, panel, scratch.scores, keys);
    if (keys.begin < panel.all.begin || keys.end > panel.all.end)
      hide_scores(panel, scratch.scores, keys);
    panel.update(scratch.scores, count, unit_);
    if (finite)
      add_values(index, values, scratch.scores, count);
    else
      add_carefully(index, values, scratch.scores, count);
  }

  WW_VECTORISED void add_values(int index, const float* values, const float* weights, int count) {
    const float* rescale = sums_.panels[index].rescale;
    if constexpr (kFewRows)
      for (int row = 0; row < num_rows_; ++row)
        add_weighted<kWidth>(values, count, weights + row, rescale[row], v_pitch_,
                             at_row(sums_.out, row));
    else
      multiply<kLanes, kVectors>(values, {1, v_pitch_}, v_pitch_, weights, count,
                                 at_row(sums_.out, index * kWidth), rescale);
  }

  // For tiles with infinities or NaN: a key of weight 0, such as a hidden one, has no part.
  WW_VECTORISED void add_carefully(int index, const float* values, const float* weights,
                                   int count) {
    const int rows = std::min(kWidth, num_rows_ - index * kWidth);
    for (int lane = 0; lane < rows; ++lane) {
      float* out = at_row(sums_.out, index * kWidth + lane);
      for (int i = 0; i < v_pitch_; ++i) out[i * kStep] *= sums_.panels[index].rescale[lane];
      for (int key = 0; key < count; ++key) {
        const float weight = weights[key * kWidth + lane];
        if (weight == 0.0f) continue;
        for (int i = 0; i < v_pitch_; ++i) out[i * kStep] += weight * values[key * v_pitch_ + i];
      }
    }
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

  const AttentionParams& params_;
  const bool joined_;
  const BlockSums<P> sums_;
  int64_t first_;
  int num_rows_;
  int num_panels_;
  int v_pitch_;
  bool scales_late_;  // nothing but the scale stands between the products and the softmax
  float unit_;
  int64_t batch_;
  int64_t head_;  // the first one of the block
  int64_t head_kv_;
};

}  // namespace ww
