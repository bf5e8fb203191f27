// Few queries and their keys on the CPU, where reading k and v is what takes the time: heads that
// lie side by side have some keys in turn, so that memory is read in the order it lies in.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "few_products_cpu.h"
#include "mask_cpu.h"
#include "query_rows_cpu.h"

namespace ww {

// Of these the rows of a group of keys stay in the second-level cache.
inline constexpr int kMostHeads = 32;

// Rows of floats in scratch and out end where a group of keys does.
constexpr int few_pitch(int columns) { return padded(columns, kGroupKeys); }

// The queries that share one head's keys, kRows or fewer.
template <int kLanes, int kRows>
class FewRows : public QueryRows<Panel<kLanes, 1>, 1> {
  using Base = QueryRows<Panel<kLanes, 1>, 1>;

 public:
  using P = Panel<kLanes, 1>;

  FewRows(const AttentionParams& params, const Plan& plan, int64_t index, const BlockSums<P>& sums)
      : Base(params, plan, index, few_pitch(params.head_dim_v), sums) {}

  using Base::key_row;
  using Base::part_keys;

  // q (kRows, pitch) in floats, and sums of nothing.
  template <typename T>
  WW_VECTORISED void start(float* q, int pitch) const {
    for (int row = 0; row < kRows; ++row) {
      widen(this->template q_row<T>(row), this->params_.head_dim, q + row * pitch);
      std::fill(q + row * pitch + this->params_.head_dim, q + (row + 1) * pitch, 0.0f);
    }
    this->start_panel(*this->sums_.panels, 0);
    std::fill_n(this->sums_.out, kRows * this->v_pitch_, 0.0f);
  }

  // Scores (kRows, kTileKeys) become weights.
  WW_VECTORISED void weigh(float* scores, KeyRange keys) const {
    P& panel = *this->sums_.panels;
    const int count = keys.end - keys.begin;
    for (int row = 0; row < kRows; ++row, scores += kTileKeys) {
      if (!this->scales_late_) {
        adjust_scores(this->params_, scores, count);
        if (this->params_.mask.rows.data != nullptr)
          mask_scores<1>(this->params_.mask, panel.mask[row], scores, keys);
      }
      std::fill(scores, scores + std::clamp(panel.begin[row] - keys.begin, 0, count), kMinusInf);
      std::fill(scores + std::clamp(panel.end[row] - keys.begin, 0, count),
                scores + padded(count, kGroupKeys), kMinusInf);
      panel.update_lane(row, scores, padded(count, kGroupKeys), this->unit_);
    }
  }
};

// Asks for heads' rows of one key after the other, for the second-level cache: all of them are more
// than the first one holds.
template <typename T>
class Fetch {
 public:
  Fetch(const T* at, const Rows& rows, int num_heads, int columns)
      : at_(at), rows_(rows), num_heads_(num_heads), columns_(columns) {}

  WW_VECTORISED void next_rows(int count) {
    constexpr int kLine = 64 / sizeof(T);
    for (int i = 0; i < count; ++i) {
      const T* row = at_ + head_ * rows_.strides[1];
      for (int column = 0; column < columns_; column += kLine)
        __builtin_prefetch(row + column, 0, 2);
      if (++head_ < num_heads_) continue;
      head_ = 0;
      at_ += rows_.strides[2];
    }
  }

 private:
  const T* at_;
  const Rows& rows_;
  int num_heads_;
  int columns_;
  int head_ = 0;
};

// How many heads to take together: those whose rows of a key lie side by side.
inline int64_t heads_together(const AttentionParams& params) {
  const auto side_by_side = [](const Rows& rows) { return rows.strides[1] < rows.strides[2]; };
  return side_by_side(params.k) && side_by_side(params.v) ? kMostHeads : 1;
}

// Heads that meet one part of the keys together.
template <int kLanes, int kRows, typename T>
class FewRowsOfHeads {
 public:
  using Block = FewRows<kLanes, kRows>;

  // Floats of scratch for so many heads.
  static int64_t scratch_size(const AttentionParams& params, int num_heads) {
    const int k_pitch = few_pitch(params.head_dim);
    const int v_pitch = few_pitch(params.head_dim_v);
    return int64_t{kGroupKeys} * std::max(k_pitch, v_pitch) +
           int64_t{num_heads} * kRows * (k_pitch + v_pitch + kTileKeys);
  }

  WW_VECTORISED FewRowsOfHeads(const AttentionParams& params, float* scratch)
      : params_(params),
        k_pitch_(few_pitch(params.head_dim)),
        v_pitch_(few_pitch(params.head_dim_v)),
        widened_(scratch),
        next_scratch_(scratch + kGroupKeys * std::max(k_pitch_, v_pitch_)) {}

  WW_VECTORISED void add_head(const Block& block, const BlockSums<typename Block::P>& sums) {
    Head& head = heads_[num_heads_++];
    head.q = next_scratch_;
    head.scores = head.q + kRows * k_pitch_;
    head.before = head.scores + kRows * kTileKeys;
    next_scratch_ = head.before + kRows * v_pitch_;
    block.template start<T>(head.q, k_pitch_);
    head.k = block.template key_row<T>(params_.k, 0);
    head.v = block.template key_row<T>(params_.v, 0);
    head.sums = sums;
  }

  // block_of(i): the block of the head that was added after i others.
  template <typename BlockOf>
  WW_VECTORISED void sum_part(int part, BlockOf&& block_of) {
    const KeyRange all = block_of(0).part_keys(part);
    for (int key = all.begin; key < all.end; key += kTileKeys) {
      const KeyRange tile{key, std::min(all.end, key + kTileKeys)};
      score_tile(tile, all.end);
      for (int i = 0; i < num_heads_; ++i) {
        block_of(i).weigh(heads_[i].scores, tile);
        rescale(heads_[i]);
      }
      add_tile(tile, all.end);
      for (int i = 0; i < num_heads_; ++i)
        if (!is_finite(heads_[i].sums.out)) add_carefully(heads_[i], tile);
    }
  }

 private:
  struct Head {
    const T* k;
    const T* v;
    float* q;       // (kRows, k_pitch)
    float* scores;  // (kRows, kTileKeys)
    float* before;  // (kRows, v_pitch), out before a tile, rescaled
    BlockSums<typename Block::P> sums;
  };

  // What a group of keys has in k or in v.
  struct Source {
    const T* Head::* data;
    const Rows& rows;
    int columns;
    int pitch;
  };

  // f(head, place in the tile, count, rows) for groups of a tile's keys and every head, reading
  // ahead within the part.
  template <typename F>
  WW_VECTORISED void each_group(KeyRange tile, int end, const Source& source, F&& f) {
    const auto& [data, rows, columns, pitch] = source;
    const int64_t stride = rows.strides[2];
    for (int key = tile.begin; key < tile.end; key += kGroupKeys) {
      const int next = key + kGroupKeys;
      // Enough loads of many heads are in flight by themselves; more would stand in their way.
      const bool fetches = next < end && (num_heads_ == 1 || !is_read_in_place(columns));
      Fetch<T> fetch(heads_[0].*data + next * stride, rows, num_heads_, columns);
      for (int i = 0; i < num_heads_; ++i) {
        if (fetches) fetch.next_rows(kGroupKeys);
        const Head& head = heads_[i];
        const int count = std::min(kGroupKeys, tile.end - key);
        f(head, key - tile.begin, count,
          read(head.*data + key * stride, stride, count, columns, pitch));
      }
    }
  }

  static constexpr bool is_read_in_place(int columns) {
    return std::is_same_v<T, float> && columns == few_pitch(columns);
  }

  // Rows of x where they are, or widened and filled up with zeros.
  WW_VECTORISED FloatRows read(const T* x, int64_t stride, int count, int columns, int pitch) {
    if constexpr (std::is_same_v<T, float>)
      if (is_read_in_place(columns)) return {x, stride};
    for (int row = 0; row < count; ++row) {
      float* to = widened_ + row * pitch;
      widen(x + row * stride, columns, to);
      std::fill(to + columns, to + pitch, 0.0f);
    }
    return {widened_, pitch};
  }

  WW_VECTORISED void score_tile(KeyRange tile, int end) {
    each_group(tile, end, {&Head::k, params_.k, params_.head_dim, k_pitch_},
               [&](const Head& head, int at, int count, FloatRows keys) WW_VECTORISED {
                 score_keys<kLanes, kRows>(keys, count, head.q, k_pitch_, head.scores + at,
                                           kTileKeys);
               });
  }

  WW_VECTORISED void add_tile(KeyRange tile, int end) {
    each_group(tile, end, {&Head::v, params_.v, params_.head_dim_v, v_pitch_},
               [&](const Head& head, int at, int count, FloatRows values) WW_VECTORISED {
                 add_weighted<kLanes, kRows>(values, count, head.scores + at, kTileKeys,
                                             head.sums.out, v_pitch_);
               });
  }

  // Into memory, apart from the additions: rounded by itself, as with many queries.
  WW_VECTORISED void rescale(const Head& head) const {
    for (int row = 0; row < kRows; ++row) {
      const float factor = head.sums.panels->rescale[row];
      float* out = head.sums.out + row * v_pitch_;
      float* before = head.before + row * v_pitch_;
      for (int i = 0; i < v_pitch_; i += kLanes) {
        const Floats<kLanes> scaled = lanes<kLanes>(out + i) * factor;
        lanes<kLanes>(out + i) = scaled;
        lanes<kLanes>(before + i) = scaled;
      }
    }
  }

  WW_VECTORISED bool is_finite(const float* out) const {
    // 0 x is 0, or NaN, which stays in the sum.
    Floats<kLanes> zero{};
    for (int i = 0; i < kRows * v_pitch_; i += kLanes) zero += 0.0f * lanes<kLanes>(out + i);
    bool finite = true;
    for (int i = 0; i < kLanes; ++i) finite = finite && zero[i] == 0.0f;
    return finite;
  }

  // A tile again, from infinities or NaN: a key of weight 0, such as a hidden one, has no part.
  WW_VECTORISED void add_carefully(const Head& head, KeyRange tile) const {
    for (int row = 0; row < kRows; ++row) {
      float* out = head.sums.out + row * v_pitch_;
      std::copy_n(head.before + row * v_pitch_, v_pitch_, out);
      for (int key = tile.begin; key < tile.end; ++key) {
        const float weight = head.scores[row * kTileKeys + key - tile.begin];
        if (weight == 0.0f) continue;
        const T* value = head.v + key * params_.v.strides[2];
        for (int i = 0; i < params_.head_dim_v; ++i) out[i] += weight * to_float(value[i]);
      }
    }
  }

  const AttentionParams& params_;
  const int k_pitch_;
  const int v_pitch_;
  float* const widened_;
  float* next_scratch_;
  int num_heads_ = 0;
  std::array<Head, kMostHeads> heads_;
};

}  // namespace ww
