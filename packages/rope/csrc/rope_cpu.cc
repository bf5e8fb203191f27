// RoPE on the CPU: the same result as rope.cu within rounding. Tokens are shared out over the
// threads; a thread takes some at a time, brings their cosines and sines to float32 once, and turns
// all heads with them.

#include <algorithm>
#include <cstring>

#include "rope.h"
#include "warpwright/dispatch.h"

namespace ww {
namespace {

// Of the tables, a thread has so many numbers on its stack in float32, 32 KiB of both: of up to so
// many columns, of as many tokens as that leaves room for.
constexpr int kAngles = 4096;
constexpr int kColumns = 256;
constexpr int kTokens = 64;

int tokens_at_once(int half) { return std::min(kAngles / std::clamp(half, 1, kColumns), kTokens); }

// Elements that make waking another thread worth while.
constexpr int64_t kGrainElements = 16384;

// Cosines and sines of some columns at some tokens, token by token: a row no wider than what it
// holds, since rows 1 KiB apart would fall on each other in the cache.
class Angles {
 public:
  void resize(int columns) { columns_ = columns; }
  float* cos(int token) { return cos_ + token * columns_; }
  float* sin(int token) { return sin_ + token * columns_; }
  const float* cos(int token) const { return cos_ + token * columns_; }
  const float* sin(int token) const { return sin_ + token * columns_; }

 private:
  int columns_ = 0;
  float cos_[kAngles];
  float sin_[kAngles];
};

template <typename Entry>
WW_VECTORISED inline void widen(const void* table, int64_t begin, int count, float sign,
                                float* values) {
  const Entry* entries = static_cast<const Entry*>(table) + begin;
#pragma omp simd
  for (int i = 0; i < count; ++i) values[i] = sign * to_float(entries[i]);
}

// `count` columns from `begin` on of one row of the tables.
WW_VECTORISED inline void load_angles(const RopeParams& params, int64_t row, int begin, int count,
                                      float* cos, float* sin) {
  const RopeTables& tables = params.tables;
  const int64_t cos_begin = row * tables.cos_stride + begin;
  const int64_t sin_begin = row * tables.sin_stride + begin;
  const float sign = params.inverse ? -1.0f : 1.0f;
  const auto load = [&]<typename Entry>(type_tag<Entry>) WW_VECTORISED {
    widen<Entry>(tables.cos, cos_begin, count, 1.0f, cos);
    widen<Entry>(tables.sin, sin_begin, count, sign, sin);
  };
  if (tables.dtype == Dtype::f32)
    load(type_tag<float>{});
  else if (tables.dtype == Dtype::f16)
    load(type_tag<float16>{});
  else
    load(type_tag<bfloat16>{});
}

// Pairs (x[i], x[i + half]); out may be x.
template <typename T>
WW_VECTORISED inline void turn_halves(const T* x, T* out, int64_t half, const float* cos,
                                      const float* sin, int count) {
#pragma omp simd
  for (int i = 0; i < count; ++i) {
    const float a = to_float(x[i]);
    const float b = to_float(x[half + i]);
    out[i] = from_float<T>(a * cos[i] - b * sin[i]);
    out[half + i] = from_float<T>(b * cos[i] + a * sin[i]);
  }
}

// Pairs (x[2i], x[2i + 1]); out may be x.
template <typename T>
WW_VECTORISED inline void turn_neighbours(const T* x, T* out, const float* cos, const float* sin,
                                          int count) {
#pragma omp simd
  for (int i = 0; i < count; ++i) {
    const float a = to_float(x[2 * i]);
    const float b = to_float(x[2 * i + 1]);
    out[2 * i] = from_float<T>(a * cos[i] - b * sin[i]);
    out[2 * i + 1] = from_float<T>(b * cos[i] + a * sin[i]);
  }
}

// Some tokens, one after the other, and where in the tables each is.
struct Tokens {
  int count;
  int64_t batch[kTokens];
  int64_t place[kTokens];
  int64_t row[kTokens];

  Tokens(const RopeParams& params, int64_t begin, int64_t end)
      : count(static_cast<int>(end - begin)) {
    const int64_t seqlen = params.q.grid.sizes[1];
    for (int i = 0; i < count; ++i) {
      batch[i] = (begin + i) / seqlen;
      place[i] = (begin + i) % seqlen;
      row[i] = table_row(params, batch[i], place[i]);
    }
  }
};

// f(x, out, i) for every head of every token, in the order in which x has them in memory.
template <typename T, typename F>
WW_VECTORISED inline void each_head(const RopeHeads& heads, int head_dim, const Tokens& tokens,
                                    F&& f) {
  const auto at = [&](const Rows& rows, int64_t head, int i) WW_VECTORISED {
    return static_cast<T*>(rows.data) + tokens.batch[i] * rows.strides[0] +
           tokens.place[i] * rows.strides[1] + head * rows.strides[2];
  };
  const auto visit = [&](int64_t head, int i) WW_VECTORISED {
    f(static_cast<const T*>(at(heads.x, head, i)), at(heads.out, head, i), i);
  };
  const int64_t num_heads = heads.grid.sizes[2];
  if (heads.x.strides[2] <= heads.x.strides[1]) {
    for (int i = 0; i < tokens.count; ++i)
      for (int64_t head = 0; head < num_heads; ++head) visit(head, i);
    return;
  }
  // The processor does not expect the leap to the next head, so what comes after is asked for.
  constexpr int kAhead = 4;
  for (int64_t head = 0; head < num_heads; ++head)
    for (int i = 0; i < tokens.count; ++i) {
      const bool same_head = i + kAhead < tokens.count;
      const T* next = at(heads.x, same_head ? head : head + 1,
                         same_head ? i + kAhead : (i + kAhead) % tokens.count);
      for (int column = 0; column < head_dim; column += 64 / sizeof(T))
        __builtin_prefetch(next + column);
      visit(head, i);
    }
}

template <typename T>
WW_VECTORISED inline void turn(const RopeParams& params, const RopeHeads& heads,
                               const Tokens& tokens, const Angles& angles, int begin, int count) {
  const int half = params.rotary_dim / 2;
  each_head<T>(heads, params.head_dim, tokens, [&](const T* x, T* out, int i) WW_VECTORISED {
    if (tokens.row[i] < 0) return;
    const int column = params.rotary_offset + (params.interleaved ? 2 * begin : begin);
    if (params.interleaved)
      turn_neighbours(x + column, out + column, angles.cos(i), angles.sin(i), count);
    else
      turn_halves(x + column, out + column, half, angles.cos(i), angles.sin(i), count);
  });
}

// What is not rotated, bit for bit.
template <typename T>
void copy_rest(const RopeParams& params, const RopeHeads& heads, const Tokens& tokens) {
  if (is_in_place(heads)) return;
  const int end = params.rotary_offset + params.rotary_dim;
  each_head<T>(heads, params.head_dim, tokens, [&](const T* x, T* out, int i) WW_VECTORISED {
    const bool rotated = tokens.row[i] >= 0;
    const auto copy = [&](int first, int last) {
      std::memcpy(out + first, x + first, sizeof(T) * (last - first));
    };
    copy(0, rotated ? params.rotary_offset : params.head_dim);
    if (rotated) copy(end, params.head_dim);
  });
}

template <typename T>
WW_VECTORISED inline void turn_tokens(const RopeParams& params, const Tokens& tokens) {
  const int half = params.rotary_dim / 2;
  Angles angles;
  for (int begin = 0; begin < half; begin += kColumns) {
    const int count = std::min(kColumns, half - begin);
    angles.resize(count);
    for (int i = 0; i < tokens.count; ++i)
      if (tokens.row[i] >= 0)
        load_angles(params, tokens.row[i], begin, count, angles.cos(i), angles.sin(i));
    turn<T>(params, params.q, tokens, angles, begin, count);
    turn<T>(params, params.k, tokens, angles, begin, count);
  }
}

}  // namespace

cudaError_t rope_fwd_cpu(const RopeParams& params, const ThreadPool& pool) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (is_empty(params)) return cudaSuccess;
  const int64_t num_tokens = params.q.grid.sizes[0] * params.q.grid.sizes[1];
  const int64_t num_heads = params.q.grid.sizes[2] + params.k.grid.sizes[2];
  const int64_t grain = std::max<int64_t>(kGrainElements / params.head_dim / num_heads, 1);
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    const int step = tokens_at_once(params.rotary_dim / 2);
    pool.parallel_for(num_tokens, grain, [&](int64_t first, int64_t last) {
      for (int64_t begin = first; begin < last; begin += step) {
        const Tokens tokens(params, begin, std::min(begin + step, last));
        vectorised([&]() WW_VECTORISED { turn_tokens<T>(params, tokens); });
        copy_rest<T>(params, params.q, tokens);
        copy_rest<T>(params, params.k, tokens);
      }
    });
    return cudaSuccess;
  });
}

}  // namespace ww
