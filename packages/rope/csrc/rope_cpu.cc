// RoPE on the CPU: the same result as rope.cu within rounding. Tokens are shared out over the
// threads; a thread takes some at a time, brings their cosines and sines to float32 once unless the
// tables are, and turns all heads with them.

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "rope.h"
#include "warpwright/dispatch.h"

namespace ww {
namespace {

// Of 16-bit tables, a thread has so many numbers on its stack in float32, 32 KiB of both: of up to
// so many columns, of as many tokens as that leaves room for. Of float32 tables, whose numbers stay
// where they are, it takes as many tokens as let it go a long way through a head before it leaps to
// the next, and leave their rows of the tables in the second-level cache meanwhile.
constexpr int kAngles = 4096;
constexpr int kColumns = 256;
constexpr int kTokens = 512;

int tokens_at_once(const RopeParams& params) {
  if (params.tables.dtype == Dtype::f32) return kTokens;
  return std::min(kAngles / std::clamp(params.rotary_dim / 2, 1, kColumns), kTokens);
}

// Elements that make waking another thread worth while.
constexpr int64_t kGrainElements = 16384;

// Some tokens, one after the other, and where in the tables each is.
struct Tokens {
  int count;
  bool in_tables = true;  // all of them
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
      in_tables = in_tables && row[i] >= 0;
    }
  }
};

template <typename Entry>
WW_VECTORISED inline void widen(const Entry* entries, int count, float* values) {
#pragma omp simd
  for (int i = 0; i < count; ++i) values[i] = to_float(entries[i]);
}

// Cosines and sines of some columns at some tokens.
struct Angles {
  const float* cos[kTokens];
  const float* sin[kTokens];
  float sign;  // of the sines
};

// Those of `count` columns from `begin` on: where the tables are, or in `values`, token by token,
// in rows no wider, since rows 1 KiB apart would fall on each other in the cache.
template <typename Entry>
WW_VECTORISED inline void find_angles(const RopeParams& params, const Tokens& tokens, int begin,
                                      int count, float (&values)[2][kAngles], Angles& angles) {
  const RopeTables& tables = params.tables;
  for (int i = 0; i < tokens.count; ++i) {
    const int64_t row = tokens.row[i];
    if (row < 0) continue;
    const Entry* cos = static_cast<const Entry*>(tables.cos) + row * tables.cos_stride + begin;
    const Entry* sin = static_cast<const Entry*>(tables.sin) + row * tables.sin_stride + begin;
    if constexpr (std::is_same_v<Entry, float>) {
      angles.cos[i] = cos;
      angles.sin[i] = sin;
    } else {
      angles.cos[i] = values[0] + i * count;
      angles.sin[i] = values[1] + i * count;
      widen(cos, count, values[0] + i * count);
      widen(sin, count, values[1] + i * count);
    }
  }
}

// Pairs (x[i], x[i + half]); out may be x.
template <typename T>
WW_VECTORISED inline void turn_halves(const T* x, T* out, int64_t half, const float* cos,
                                      const float* sin, float sign, int count) {
#pragma omp simd
  for (int i = 0; i < count; ++i) {
    const float a = to_float(x[i]);
    const float b = to_float(x[half + i]);
    const float s = sign * sin[i];
    out[i] = from_float<T>(a * cos[i] - b * s);
    out[half + i] = from_float<T>(b * cos[i] + a * s);
  }
}

// Pairs (x[2i], x[2i + 1]); out may be x.
template <typename T>
WW_VECTORISED inline void turn_neighbours(const T* x, T* out, const float* cos, const float* sin,
                                          float sign, int count) {
#pragma omp simd
  for (int i = 0; i < count; ++i) {
    const float a = to_float(x[2 * i]);
    const float b = to_float(x[2 * i + 1]);
    const float s = sign * sin[i];
    out[2 * i] = from_float<T>(a * cos[i] - b * s);
    out[2 * i + 1] = from_float<T>(b * cos[i] + a * s);
  }
}

// f(x, out, i) for every head of every token, in the order in which x has them in memory.
template <typename T, typename F>
WW_VECTORISED inline void each_head(const RopeHeads& heads, const Tokens& tokens, F&& f) {
  const auto at = [&](const Rows& rows, int64_t head, int i) WW_VECTORISED {
    return static_cast<T*>(rows.data) + tokens.batch[i] * rows.strides[0] +
           tokens.place[i] * rows.strides[1] + head * rows.strides[2];
  };
  const int64_t num_heads = heads.grid.sizes[2];
  if (heads.x.strides[2] <= heads.x.strides[1]) {
    for (int i = 0; i < tokens.count; ++i)
      for (int64_t head = 0; head < num_heads; ++head)
        f(static_cast<const T*>(at(heads.x, head, i)), at(heads.out, head, i), i);
    return;
  }
  for (int64_t head = 0; head < num_heads; ++head) {
    const T* x = nullptr;
    T* out = nullptr;
    for (int i = 0; i < tokens.count; ++i) {
      const bool follows = i > 0 && tokens.place[i] > 0;
      x = follows ? x + heads.x.strides[1] : at(heads.x, head, i);
      out = follows ? out + heads.out.strides[1] : at(heads.out, head, i);
      f(x, out, i);
    }
  }
}

template <typename T>
WW_VECTORISED inline void turn(const RopeParams& params, const RopeHeads& heads,
                               const Tokens& tokens, const Angles& angles, int begin, int count) {
  const int half = params.rotary_dim / 2;
  each_head<T>(heads, tokens, [&](const T* x, T* out, int i) WW_VECTORISED {
    if (tokens.row[i] < 0) return;
    const int column = params.rotary_offset + (params.interleaved ? 2 * begin : begin);
    const float* cos = angles.cos[i];
    const float* sin = angles.sin[i];
    if (params.interleaved)
      turn_neighbours(x + column, out + column, cos, sin, angles.sign, count);
    else
      turn_halves(x + column, out + column, half, cos, sin, angles.sign, count);
  });
}

// What is not rotated, bit for bit.
template <typename T>
void copy_rest(const RopeParams& params, const RopeHeads& heads, const Tokens& tokens) {
  if (is_in_place(heads) || (tokens.in_tables && params.rotary_dim == params.head_dim)) return;
  const int end = params.rotary_offset + params.rotary_dim;
  each_head<T>(heads, tokens, [&](const T* x, T* out, int i) WW_VECTORISED {
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
  alignas(64) float values[2][kAngles];
  Angles angles;
  angles.sign = params.inverse ? -1.0f : 1.0f;
  for (int begin = 0; begin < half; begin += kColumns) {
    const int count = std::min(kColumns, half - begin);
    const auto find = [&]<typename Entry>(type_tag<Entry>) WW_VECTORISED {
      find_angles<Entry>(params, tokens, begin, count, values, angles);
    };
    if (params.tables.dtype == Dtype::f32)
      find(type_tag<float>{});
    else if (params.tables.dtype == Dtype::f16)
      find(type_tag<float16>{});
    else
      find(type_tag<bfloat16>{});
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
    const int step = tokens_at_once(params);
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
