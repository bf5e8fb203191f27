// A block of many queries on the CPU, and some of its keys: panels of queries, each transposed,
// meet tiles of keys.
#pragma once

#include "gemm_cpu.h"
#include "mask_cpu.h"
#include "query_rows_cpu.h"

namespace ww {

// One thread's memory, in floats.
struct Scratch {
  float* q;       // (panels, head_dim, width)
  float* keys;    // a tile of k
  float* values;  // a tile of v
  float* scores;  // (kTileKeys, width)
};

template <int kLanes, int kVectors>
class QueryBlock : public QueryRows<Panel<kLanes, kVectors>, kLanes * kVectors> {
  using Base = QueryRows<Panel<kLanes, kVectors>, kLanes * kVectors>;

 public:
  using P = Panel<kLanes, kVectors>;
  using Base::kWidth;

  QueryBlock(const AttentionParams& params, const Plan& plan, int64_t index,
             const BlockSums<P>& sums)
      : Base(params, plan, index, padded(params.head_dim_v, kRowsMultiple), sums) {}

  // Sums over the keys of one part.
  WW_VECTORISED void sum_part(const Scratch& scratch, int part) {
    start(scratch);
    const KeyRange keys = this->part_keys(part);
    for (int key = keys.begin; key < keys.end; key += kTileKeys)
      add_tile(scratch, key, std::min(keys.end, key + kTileKeys));
  }

 private:
  using Base::at_row;
  using Base::num_panels_;
  using Base::num_rows_;
  using Base::params_;
  using Base::scales_late_;
  using Base::sums_;
  using Base::unit_;
  using Base::v_pitch_;

  WW_VECTORISED void start(const Scratch& scratch) {
    (void)dispatch_dtype(params_.dtype, [&]<typename T>(type_tag<T>) WW_VECTORISED {
      for (int row = 0; row < num_panels_ * kWidth; ++row)
        spread_row<kWidth>(this->template q_row<T>(row), params_.head_dim,
                           scratch.q + row / kWidth * kWidth * params_.head_dim + row % kWidth);
      return cudaSuccess;
    });
    for (int i = 0; i < num_panels_; ++i) this->start_panel(sums_.panels[i], i * kWidth);
    std::fill_n(sums_.out, int64_t{num_panels_} * v_pitch_ * kWidth, 0.0f);
  }

  WW_VECTORISED void add_tile(const Scratch& scratch, int key, int end) {
    const int count = end - key;
    bool finite = true;
    (void)dispatch_dtype(params_.dtype, [&]<typename T>(type_tag<T>) WW_VECTORISED {
      load_rows(this->template key_row<T>(params_.k, key), params_.k.strides[2], count,
                params_.head_dim, scratch.keys, params_.head_dim);
      finite = load_rows(this->template key_row<T>(params_.v, key), params_.v.strides[2], count,
                         params_.head_dim_v, scratch.values, v_pitch_);
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
    if (!scales_late_) adjust(panel, scratch.scores, keys);
    if (keys.begin < panel.all.begin || keys.end > panel.all.end)
      hide_scores(panel, scratch.scores, keys);
    panel.update(scratch.scores, count, unit_);
    if (finite) {
      multiply<kLanes, kVectors>(values, {1, v_pitch_}, v_pitch_, scratch.scores, count,
                                 at_row(sums_.out, index * kWidth), panel.rescale);
    } else {
      add_carefully(index, values, scratch.scores, count);
    }
  }

  WW_VECTORISED void adjust(const P& panel, float* scores, KeyRange keys) {
    adjust_scores(params_, scores, (keys.end - keys.begin) * kWidth);
    if (params_.mask.rows.data == nullptr) return;
    for (int lane = 0; lane < kWidth; ++lane)
      mask_scores<kWidth>(params_.mask, panel.mask[lane], scores + lane, keys);
  }

  // For tiles with infinities or NaN: a key of weight 0, such as a hidden one, has no part.
  WW_VECTORISED void add_carefully(int index, const float* values, const float* weights,
                                   int count) {
    const int rows = std::min(kWidth, num_rows_ - index * kWidth);
    for (int lane = 0; lane < rows; ++lane) {
      float* out = at_row(sums_.out, index * kWidth + lane);
      for (int i = 0; i < v_pitch_; ++i) out[i * kWidth] *= sums_.panels[index].rescale[lane];
      for (int key = 0; key < count; ++key) {
        const float weight = weights[key * kWidth + lane];
        if (weight == 0.0f) continue;
        for (int i = 0; i < v_pitch_; ++i) out[i * kWidth] += weight * values[key * v_pitch_ + i];
      }
    }
  }
};

}  // namespace ww
