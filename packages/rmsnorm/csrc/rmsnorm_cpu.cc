// RMSNorm on the CPU: the same result as rmsnorm.cu within rounding. Rows are shared out over the
// threads, a few long ones part by part; a row is read from memory once, and for the output from
// the cache.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "rmsnorm.h"
#include "warpwright/dispatch.h"

namespace ww {
namespace {

// Squares are summed in float over this many elements and those sums in double, so that the error
// does not grow with the row.
constexpr int kSumBlock = 1024;
// A row is summed in at most this many parts, whichever way it is shared out, so that its bits do
// not depend on that.
constexpr int kMaxParts = 64;
// Elements that make waking another thread worth while.
constexpr int64_t kGrainElements = 16384;
// Fewer rows than that, of at least that many elements, are shared out part by part.
constexpr int64_t kFewRows = 32;
constexpr int kLongRow = 4 * kGrainElements;

int part_size(int size) { return ceil_div(ceil_div(size, kMaxParts), kSumBlock) * kSumBlock; }

// h = x + residual, rounded once.
template <typename T>
WW_VECTORISED inline void add_residual(const T* x, const T* residual, T* h, int begin, int end) {
  for (int i = begin; i < end; ++i) h[i] = from_float<T>(to_float(x[i]) + to_float(residual[i]));
}

template <typename T>
WW_VECTORISED inline double sum_squares(const T* h, int begin, int end, float scaling) {
  double total = 0.0;
  for (int block = begin; block < end; block += kSumBlock) {
    const int block_end = std::min(block + kSumBlock, end);
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int i = block; i < block_end; ++i) {
      const float value = to_float(h[i]) * (scaling * scaling);
      sum += value * value;
    }
    total += sum;
  }
  return total;
}

// A missing weight, for which no product is formed.
struct NoWeight {};

// out = h * rstd * (weight + weight_offset); with llama casting the first product and the weight
// are rounded to T.
template <typename T, typename W, bool kLlama>
WW_VECTORISED inline void write_out(const T* h, const W* weight, T* out, int begin, int end,
                                    float scaling, float rstd, float weight_offset) {
#pragma omp simd
  for (int i = begin; i < end; ++i) {
    float y = (to_float(h[i]) * scaling) * (rstd * scaling);
    if constexpr (kLlama) y = to_float(from_float<T>(y));
    if constexpr (!std::is_same_v<W, NoWeight>) {
      float scale = to_float(weight[i]) + weight_offset;
      if constexpr (kLlama) scale = to_float(from_float<T>(scale));
      y *= scale;
    }
    out[i] = from_float<T>(y);
  }
}

// One row, and the steps of its norm over any part of it.
template <typename T, typename W>
struct Row {
  const RmsNormParams& params;
  const int64_t row;
  const int size = params.hidden_size;
  const T* x = params.x.row<const T>(params.grid, row);
  T* sum = params.residual.data == nullptr ? nullptr : params.residual_out.row<T>(params.grid, row);
  const T* h = sum == nullptr ? x : sum;
  float scaling = 1.0f;
  float rstd = 0.0f;

  WW_VECTORISED void add(int begin, int end) const {
    if (sum == nullptr) return;
    add_residual(x, params.residual.row<const T>(params.grid, row), sum, begin, end);
  }

  WW_VECTORISED double squares(int begin, int end) const {
    return sum_squares(h, begin, end, scaling);
  }

  // Takes the sum of all squares; false if they have to be summed again, with another scaling.
  bool settle(double sum_sq) {
    const double eps = static_cast<double>(params.eps) * std::pow(scaling, 4);
    const double mean_sq = sum_sq / size + eps;
    if (scaling == 1.0f && !std::is_same_v<T, float16>) {
      scaling = rescaling(static_cast<float>(mean_sq));
      if (scaling != 1.0f) return false;
    }
    rstd = static_cast<float>(1.0 / std::sqrt(mean_sq));
    if (params.rstd != nullptr) params.rstd[row] = rstd * scaling * scaling;
    return true;
  }

  WW_VECTORISED void write(int begin, int end) const {
    const auto* weight = static_cast<const W*>(params.weight);
    T* out = params.out.row<T>(params.grid, row);
    const float offset = params.weight_offset;
    if (params.casting == RmsNormCasting::llama && !std::is_same_v<T, float>)
      write_out<T, W, true>(h, weight, out, begin, end, scaling, rstd, offset);
    else
      write_out<T, W, false>(h, weight, out, begin, end, scaling, rstd, offset);
  }
};

template <typename T, typename W>
void normalize_rows(const RmsNormParams& params, int64_t begin, int64_t end) {
  const int size = params.hidden_size;
  const int step = part_size(size);
  vectorised([&]() WW_VECTORISED {
    for (int64_t index = begin; index < end; ++index) {
      Row<T, W> row{params, index};
      row.add(0, size);
      double sum_sq = 0.0;
      do {
        sum_sq = 0.0;
        for (int part = 0; part < size; part += step)
          sum_sq += row.squares(part, std::min(part + step, size));
      } while (!row.settle(sum_sq));
      row.write(0, size);
    }
  });
}

// One long row on all threads.
template <typename T, typename W>
void normalize_shared(const RmsNormParams& params, int64_t index, const ThreadPool& pool) {
  const int size = params.hidden_size;
  const int step = part_size(size);
  const int num_parts = ceil_div(size, step);
  Row<T, W> row{params, index};
  const auto each_part = [&](auto&& visit) {
    pool.parallel_for(num_parts, 1, [&](int64_t first, int64_t last) {
      vectorised([&]() WW_VECTORISED {
        for (int part = static_cast<int>(first); part < last; ++part)
          visit(part, part * step, std::min((part + 1) * step, size));
      });
    });
  };

  std::array<double, kMaxParts> squares{};
  each_part([&](int, int begin, int end) WW_VECTORISED { row.add(begin, end); });
  do {
    each_part([&](int part, int begin, int end)
                  WW_VECTORISED { squares[part] = row.squares(begin, end); });
  } while (!row.settle(std::accumulate(squares.begin(), squares.begin() + num_parts, 0.0)));
  each_part([&](int, int begin, int end) WW_VECTORISED { row.write(begin, end); });
}

template <typename T, typename W>
void normalize_all(const RmsNormParams& params, const ThreadPool& pool) {
  const int64_t num_rows = params.grid.num_rows();
  if (num_rows < kFewRows && params.hidden_size >= kLongRow) {
    for (int64_t row = 0; row < num_rows; ++row) normalize_shared<T, W>(params, row, pool);
    return;
  }
  const int64_t grain = std::max<int64_t>(kGrainElements / params.hidden_size, 1);
  pool.parallel_for(num_rows, grain,
                    [&](int64_t begin, int64_t end) { normalize_rows<T, W>(params, begin, end); });
}

}  // namespace

cudaError_t rmsnorm_fwd_cpu(const RmsNormParams& params, const ThreadPool& pool) {
  if (!is_valid(params)) return cudaErrorInvalidValue;
  if (params.grid.num_rows() == 0 || params.hidden_size == 0) return cudaSuccess;
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    if (params.weight == nullptr)
      normalize_all<T, NoWeight>(params, pool);
    else if (params.weight_dtype == Dtype::f32)
      normalize_all<T, float>(params, pool);
    else
      normalize_all<T, T>(params, pool);
    return cudaSuccess;
  });
}

}  // namespace ww
