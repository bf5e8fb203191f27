// The fused norm, transform and maximum on the CPU: the same result as rmsnorm_rht_amax.cu within
// rounding. Rows are shared out over the threads, a few long ones part by part; a row is read from
// memory once, and for the output from the cache.

#include <algorithm>
#include <atomic>

#include "rmsnorm_rht_amax.h"
#include "warpwright/dispatch.h"
#include "warpwright/mean_square_cpu.h"
#include "warpwright/rows_cpu.h"

namespace ww {
namespace {

// Four floats side by side, which every x64 processor adds at once.
typedef float Quad __attribute__((vector_size(16)));
typedef int32_t QuadBits __attribute__((vector_size(16)));
constexpr int kQuads = kRhtBlock / 4;

// Magnitudes are compared as integers, whose order is the same; NaN is above infinity, so that it
// propagates by itself, and is ignored where it is masked out.
constexpr int32_t kInfinityBits = 0x7f800000;
constexpr int32_t kNanBits = 0x7fc00000;
constexpr int32_t kMagnitude = 0x7fffffff;

// The largest magnitude found so far, NaN in one form: the maximum does not depend on an order.
struct Peak {
  int32_t bits = 0;

  Peak& operator+=(Peak other) {
    bits = std::max(bits, other.bits > kInfinityBits ? kNanBits : other.bits);
    return *this;
  }
};

// Threads that have rows of one group merge into its amax, which starts at 0.
void merge(float& amax, Peak peak) {
  std::atomic_ref<float> shared(amax);
  float held = shared.load(std::memory_order_relaxed);
  while (
      bits_of<int32_t>(held) < peak.bits &&
      !shared.compare_exchange_weak(held, bits_of<float>(peak.bits), std::memory_order_relaxed)) {
  }
}

// Sums and differences of neighbours 1, 2, 4 and 8 apart, in that order.
WW_VECTORISED inline void hadamard16(Quad (&y)[kQuads]) {
  constexpr QuadBits kSwap1 = {1, 0, 3, 2};
  constexpr QuadBits kSwap2 = {2, 3, 0, 1};
  constexpr Quad kSign1 = {1, -1, 1, -1};
  constexpr Quad kSign2 = {1, 1, -1, -1};
  for (Quad& quad : y) quad = quad * kSign1 + __builtin_shuffle(quad, kSwap1);
  for (Quad& quad : y) quad = quad * kSign2 + __builtin_shuffle(quad, kSwap2);
  const Quad sums[kQuads] = {y[0] + y[1], y[0] - y[1], y[2] + y[3], y[2] - y[3]};
  y[0] = sums[0] + sums[2];
  y[1] = sums[1] + sums[3];
  y[2] = sums[0] - sums[2];
  y[3] = sums[1] - sums[3];
}

// What flips the signs of a block's columns.
struct Flips {
  QuadBits quads[kQuads];

  explicit Flips(uint32_t signs) {
    for (int i = 0; i < kRhtBlock; ++i)
      quads[i / 4][i % 4] = static_cast<int32_t>(signs >> i << 31);
  }
};

// Transforms `count` columns, whole blocks, and returns their largest magnitude; NaN counts up to
// `limit`.
WW_VECTORISED inline Peak transform(float* columns, int count, const Flips& flips, int32_t limit) {
  QuadBits largest{};
  for (int begin = 0; begin < count; begin += kRhtBlock) {
    Quad y[kQuads];
    std::memcpy(y, columns + begin, sizeof(y));
    for (int i = 0; i < kQuads; ++i)
      y[i] = reinterpret_cast<Quad>(reinterpret_cast<QuadBits>(y[i]) ^ flips.quads[i]);
    hadamard16(y);
    for (const Quad& quad : y) {
      QuadBits magnitude = reinterpret_cast<QuadBits>(quad) & kMagnitude;
      magnitude &= magnitude <= limit;
      largest = magnitude > largest ? magnitude : largest;
    }
    std::memcpy(columns + begin, y, sizeof(y));
  }
  Peak peak;
  for (int i = 0; i < 4; ++i) peak += {largest[i]};
  return peak;
}

// out = the transform of x * rstd * weight, between begin and end.
template <typename T, typename W>
WW_VECTORISED inline Peak write_out(const T* x, const W* weight, T* out, int begin, int end,
                                    RowRstd norm, const Flips& flips, int32_t limit) {
  constexpr int kColumns = 512;  // at a time, as floats in the first-level cache
  constexpr float kScale = 0.25f;
  float columns[kColumns];
  const float factor = norm.rstd * norm.scaling * kScale;
  Peak peak;
  for (int first = begin; first < end; first += kColumns) {
    const int count = std::min(kColumns, end - first);
#pragma omp simd
    for (int i = 0; i < count; ++i) {
      const float y = (to_float(x[first + i]) * norm.scaling) * factor;
      columns[i] = y * to_float(weight[first + i]);
    }
    peak += transform(columns, count, flips, limit);
#pragma omp simd
    for (int i = 0; i < count; ++i) out[first + i] = from_float<T>(columns[i]);
  }
  return peak;
}

template <typename T>
struct Row {
  const RmsnormRhtAmaxParams& params;
  const Flips& flips;
  const int64_t row;
  const T* x = params.x.row<const T>(params.grid, row);
  RowRstd norm{};

  WW_VECTORISED double squares(int begin, int end) const {
    return sum_squares(x, begin, end, norm.scaling);
  }

  WW_VECTORISED Peak write(int begin, int end) const {
    T* out = params.out.row<T>(params.grid, row);
    const int32_t limit = params.ignore_nan ? kInfinityBits : kMagnitude;
    if (params.weight_dtype == params.dtype)
      return write_out(x, static_cast<const T*>(params.weight), out, begin, end, norm, flips,
                       limit);
    const auto* weight = static_cast<const float*>(params.weight);
    return write_out(x, weight, out, begin, end, norm, flips, limit);
  }
};

}  // namespace

cudaError_t rmsnorm_rht_amax_fwd_cpu(const RmsnormRhtAmaxParams& params, const ThreadPool& pool) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (has_no_rows(params)) return cudaSuccess;
  std::fill_n(params.amax, params.num_groups(), 0.0f);
  const Flips flips(params.signs);
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    for_each_row(params, pool, [&](int64_t index, const auto& parts) WW_VECTORISED {
      Row<T> row{params, flips, index};
      double sum_sq = 0.0;
      do {
        sum_sq =
            parts.sum([&](int begin, int end) WW_VECTORISED { return row.squares(begin, end); });
      } while (!row.norm.template settle<T>(params, sum_sq));
      const Peak peak =
          parts.sum([&](int begin, int end) WW_VECTORISED { return row.write(begin, end); });
      merge(params.amax[index / params.rows_per_cta], peak);
    });
    return cudaSuccess;
  });
}

}  // namespace ww
