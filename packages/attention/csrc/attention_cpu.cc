// Attention on the CPU: the same result as attention.cu within rounding. A thread has a block of
// queries of one head; keys and values pass by in tiles, which are converted to float32 once for
// the block. Scores exist for six queries and one tile at a time.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <new>

#include "attention.h"
#include "gemm_cpu.h"
#include "softmax_cpu.h"
#include "warpwright/dispatch.h"

namespace ww {
namespace {

constexpr int kTileKeys = 64;
// A tile is converted for this many queries; short ones leave work for more threads.
constexpr int kLargeBlock = 32 * kPanelRows;
constexpr int kSmallBlock = 8 * kPanelRows;
constexpr int64_t kEnoughBlocks = 256;

constexpr int padded(int size, int multiple) { return ceil_div(size, multiple) * multiple; }

// One thread's memory, in floats.
struct Scratch {
  float* q;        // (block, q_pitch)
  float* out;      // (block, v_pitch)
  float* keys;     // panels of a tile of k
  float* values;   // panels of a tile of v
  float* scores;   // (kPanelRows, kTileKeys)
  RowState* rows;  // (block)
};

class Workspace {
 public:
  Workspace(const AttentionParams& params, int block)
      : q_pitch(std::max(params.head_dim, 1)), v_pitch(padded(params.head_dim_v, kPanelColumns)) {
    const int64_t sizes[] = {int64_t{block} * q_pitch, int64_t{block} * v_pitch,
                             int64_t{kTileKeys} * q_pitch, int64_t{kTileKeys} * v_pitch,
                             int64_t{kPanelRows} * kTileKeys};
    int64_t total = 0;
    for (const int64_t size : sizes) total += padded(static_cast<int>(size), kAlign);
    memory_.reset(new (std::nothrow) float[total + kAlign]);
    states_.reset(new (std::nothrow) RowState[block]);
    if (!is_there()) return;
    void* start = memory_.get();
    size_t space = (total + kAlign) * sizeof(float);
    auto* next = static_cast<float*>(std::align(kAlign * sizeof(float), 1, start, space));
    float** parts[] = {&scratch.q, &scratch.out, &scratch.keys, &scratch.values, &scratch.scores};
    for (int i = 0; i < 5; ++i) {
      *parts[i] = next;
      next += padded(static_cast<int>(sizes[i]), kAlign);
    }
    scratch.rows = states_.get();
  }

  bool is_there() const { return memory_ != nullptr && states_ != nullptr; }

  const int q_pitch;
  const int v_pitch;
  Scratch scratch{};

 private:
  static constexpr int kAlign = 16;  // a cache line of floats
  std::unique_ptr<float[]> memory_;
  std::unique_ptr<RowState[]> states_;
};

int64_t head_offset(const Rows& rows, int64_t batch, int64_t head) {
  return batch * rows.strides[0] + head * rows.strides[1];
}

// The queries [first, last) of one head.
template <typename T>
class QueryBlock {
 public:
  QueryBlock(const AttentionParams& params, const Workspace& work, int64_t index, int block)
      : params_(params), s_(work.scratch), q_pitch_(work.q_pitch), v_pitch_(work.v_pitch) {
    const auto& sizes = params.q_grid.sizes;
    const int64_t num_blocks = ceil_div<int64_t>(sizes[2], block);
    // The last block first: under a causal mask it has the most keys.
    first_ = static_cast<int>((num_blocks - 1 - index % num_blocks) * block);
    last_ = static_cast<int>(std::min<int64_t>(sizes[2], int64_t{first_} + block));
    head_ = index / num_blocks % sizes[1];
    batch_ = index / num_blocks / sizes[1];
    const int64_t head_kv = head_ / (sizes[1] / params.k_grid.sizes[1]);
    k_ = static_cast<const T*>(params.k.data) + head_offset(params.k, batch_, head_kv);
    v_ = static_cast<const T*>(params.v.data) + head_offset(params.v, batch_, head_kv);
  }

  WW_VECTORISED void run() {
    load_queries();
    const int begin = visible_keys(params_, first_).begin;
    const int end = visible_keys(params_, last_ - 1).end;
    for (int key = begin; key < end; key += kTileKeys)
      add_tile(key, std::min(end, key + kTileKeys));
    for (int row = 0; row < last_ - first_; ++row) finish_row(row);
  }

 private:
  WW_VECTORISED void load_queries() {
    const int rows = last_ - first_;
    const T* q = static_cast<const T*>(params_.q.data) + head_offset(params_.q, batch_, head_);
    for (int row = 0; row < padded(rows, kPanelRows); ++row) {
      s_.rows[row] = RowState{};
      const T* from = q + (int64_t{first_} + row) * params_.q.strides[2];
      float* to = s_.q + int64_t{row} * q_pitch_;
      for (int i = 0; i < params_.head_dim; ++i) to[i] = row < rows ? to_float(from[i]) : 0.0f;
    }
    std::fill_n(s_.out, int64_t{padded(rows, kPanelRows)} * v_pitch_, 0.0f);
  }

  WW_VECTORISED void add_tile(int key, int end) {
    const int count = end - key;
    pack_rows(k_ + int64_t{key} * params_.k.strides[2], params_.k.strides[2], count,
              params_.head_dim, s_.keys);
    const bool finite = pack_columns(v_ + int64_t{key} * params_.v.strides[2], params_.v.strides[2],
                                     count, params_.head_dim_v, s_.values);
    for (int row = 0; row < last_ - first_; row += kPanelRows) {
      if (visible_keys(params_, first_ + std::min(row + kPanelRows, last_ - first_) - 1).end <= key)
        continue;
      multiply_scores(row, count);
      const int rows = std::min(kPanelRows, last_ - first_ - row);
      for (int i = 0; i < rows; ++i) weigh(row + i, s_.scores + i * kTileKeys, key, count);
      if (finite)
        add_values(row, count);
      else
        for (int i = 0; i < rows; ++i) add_values_carefully(row + i, i, count);
    }
  }

  WW_VECTORISED void multiply_scores(int row, int count) {
    const float* q = s_.q + int64_t{row} * q_pitch_;
    for (int i = 0; i < count; i += kPanelColumns)
      multiply_panel<false>(q, q_pitch_, s_.keys + int64_t{i} * params_.head_dim, params_.head_dim,
                            s_.scores + i, kTileKeys);
  }

  // From products to weights; what the row has so far is rescaled.
  WW_VECTORISED void weigh(int row, float* scores, int key, int count) {
    for (int i = 0; i < count; ++i) scores[i] *= params_.softmax_scale;
    const int64_t query = int64_t{first_} + row;
    if (params_.softcap > 0.0f)
      for (int i = 0; i < count; ++i)
        scores[i] = params_.softcap * std::tanh(scores[i] / params_.softcap);
    if (params_.mask.rows.data != nullptr) apply_mask(query, scores, key, count);
    const KeyRange range = visible_keys(params_, query);
    for (int i = 0; i < std::min(count, range.begin - key); ++i) scores[i] = kMinusInf;
    for (int i = std::max(0, range.end - key); i < count; ++i) scores[i] = kMinusInf;
    const float rescale = s_.rows[row].update(scores, count);
    if (rescale != 1.0f) multiply_row(row, rescale);
  }

  WW_VECTORISED void multiply_row(int row, float factor) {
    float* out = s_.out + int64_t{row} * v_pitch_;
    for (int i = 0; i < v_pitch_; ++i) out[i] *= factor;
  }

  WW_VECTORISED void apply_mask(int64_t query, float* scores, int key, int count) {
    const AttentionMask& mask = params_.mask;
    const int64_t at = head_offset(mask.rows, batch_, head_) + query * mask.rows.strides[2];
    const int step = mask.columns == 1 ? 0 : 1;
    if (mask.dtype == Dtype::boolean) {
      const auto* seen = static_cast<const uint8_t*>(mask.rows.data) + at;
      for (int i = 0; i < count; ++i)
        scores[i] = seen[step * (key + i)] != 0 ? scores[i] : kMinusInf;
      return;
    }
    (void)dispatch_dtype(mask.dtype, [&]<typename M>(type_tag<M>) WW_VECTORISED {
      const auto* bias = static_cast<const M*>(mask.rows.data) + at;
      for (int i = 0; i < count; ++i) {
        const float term = to_float(bias[step * (key + i)]);
        // A hidden key's score may be NaN.
        scores[i] = term == kMinusInf ? kMinusInf : scores[i] + term;
      }
      return cudaSuccess;
    });
  }

  WW_VECTORISED void add_values(int row, int count) {
    float* out = s_.out + int64_t{row} * v_pitch_;
    for (int i = 0; i < params_.head_dim_v; i += kPanelColumns)
      multiply_panel<true>(s_.scores, kTileKeys, s_.values + int64_t{i} * count, count, out + i,
                           v_pitch_);
  }

  // For tiles with infinities or NaN: a key of weight 0, such as a hidden one, has no part.
  WW_VECTORISED void add_values_carefully(int row, int in_panel, int count) {
    const float* weights = s_.scores + in_panel * kTileKeys;
    float* out = s_.out + int64_t{row} * v_pitch_;
    for (int key = 0; key < count; ++key) {
      if (weights[key] == 0.0f) continue;
      for (int i = 0; i < params_.head_dim_v; ++i) {
        const int64_t panel = int64_t{i / kPanelColumns * kPanelColumns} * count;
        out[i] += weights[key] * s_.values[panel + key * kPanelColumns + i % kPanelColumns];
      }
    }
  }

  WW_VECTORISED void finish_row(int row) {
    RowState& state = s_.rows[row];
    const int64_t query = int64_t{first_} + row;
    float factor = 1.0f;
    if (params_.sinks != nullptr) factor = state.add_sink(params_.sinks[head_]);
    // A row without keys is 0, not 0 / 0.
    factor = state.sum == 0.0f ? 0.0f : factor / state.sum;
    const float* from = s_.out + int64_t{row} * v_pitch_;
    const int64_t at = head_offset(params_.out, batch_, head_) + query * params_.out.strides[2];
    (void)dispatch_dtype(params_.out_dtype, [&]<typename Out>(type_tag<Out>) WW_VECTORISED {
      Out* out = static_cast<Out*>(params_.out.data) + at;
      for (int i = 0; i < params_.head_dim_v; ++i) out[i] = from_float<Out>(from[i] * factor);
      return cudaSuccess;
    });
    if (params_.lse.data == nullptr) return;
    float* lse = static_cast<float*>(params_.lse.data) + head_offset(params_.lse, batch_, head_);
    lse[query * params_.lse.strides[2]] = state.lse();
  }

  const AttentionParams& params_;
  const Scratch& s_;
  int q_pitch_;
  int v_pitch_;
  int first_;
  int last_;
  int64_t head_;
  int64_t batch_;
  const T* k_;
  const T* v_;
};

}  // namespace

cudaError_t attention_fwd_cpu(const AttentionParams& params, const ThreadPool& pool) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (has_no_queries(params)) return cudaSuccess;
  const auto& sizes = params.q_grid.sizes;
  const auto blocks_of = [&](int block) {
    return sizes[0] * sizes[1] * ceil_div<int64_t>(sizes[2], block);
  };
  const int block = blocks_of(kLargeBlock) >= kEnoughBlocks ? kLargeBlock : kSmallBlock;
  std::atomic<bool> out_of_memory = false;
  const cudaError_t status = dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    pool.parallel_for(blocks_of(block), 1, [&](int64_t begin, int64_t end) {
      const Workspace work(params, block);
      if (!work.is_there()) {
        out_of_memory = true;
        return;
      }
      vectorised([&]() WW_VECTORISED {
        for (int64_t index = begin; index < end; ++index)
          QueryBlock<T>(params, work, index, block).run();
      });
    });
    return cudaSuccess;
  });
  return out_of_memory ? cudaErrorMemoryAllocation : status;
}

}  // namespace ww
