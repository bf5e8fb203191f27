// How a row-wise CPU backend shares its rows out: over the threads, a few long ones part by part.
// What a kernel does with a row is written once, for both ways.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "warpwright/blocks_cpu.h"
#include "warpwright/cpu.h"
#include "warpwright/dispatch.h"
#include "warpwright/rows.h"

namespace ww {

// A kernel sums in float over this many elements and those sums in double, so that the error does
// not grow with the row.
inline constexpr int kSumBlock = kBlockFloats;

// f(at, count) for the blocks of a row's elements [begin, end).
template <int kSize = kBlockFloats, typename F>
WW_VECTORISED inline void each_block(int begin, int end, F&& f) {
  for (int at = begin; at < end; at += kSize) f(at, std::min(end - at, kSize));
}

namespace detail {

// A row is summed in at most this many parts, whichever way it is shared out, so that its bits do
// not depend on that.
inline constexpr int kMaxRowParts = 64;

inline int row_part_size(int hidden_size) {
  return ceil_div(ceil_div(hidden_size, kMaxRowParts), kSumBlock) * kSumBlock;
}

}  // namespace detail

// A row that one thread has by itself, inside vectorised().
class OwnRow {
 public:
  explicit OwnRow(int hidden_size)
      : size_(hidden_size), part_size_(detail::row_part_size(hidden_size)) {}

  // f(begin, end) over ranges that cover the row.
  template <typename F>
  WW_VECTORISED void each(F&& f) const {
    f(0, size_);
  }

  // The sum of f(begin, end) over the parts of the row.
  template <typename F>
  WW_VECTORISED auto sum(F&& f) const {
    std::invoke_result_t<F, int, int> total{};
    for (int begin = 0; begin < size_; begin += part_size_)
      total += f(begin, std::min(begin + part_size_, size_));
    return total;
  }

 private:
  int size_;
  int part_size_;
};

// A row that all threads have together, each some of its parts.
class SharedRow {
 public:
  SharedRow(int hidden_size, const ThreadPool& pool)
      : size_(hidden_size), part_size_(detail::row_part_size(hidden_size)), pool_(pool) {}

  template <typename F>
  WW_VECTORISED void each(F&& f) const {
    each_part([&](int, int begin, int end) WW_VECTORISED { f(begin, end); });
  }

  template <typename F>
  WW_VECTORISED auto sum(F&& f) const {
    using Value = std::invoke_result_t<F, int, int>;
    std::array<Value, detail::kMaxRowParts> partials{};
    each_part([&](int part, int begin, int end) WW_VECTORISED { partials[part] = f(begin, end); });
    Value total{};
    for (int part = 0; part < num_parts(); ++part) total += partials[part];
    return total;
  }

 private:
  int num_parts() const { return ceil_div(size_, part_size_); }

  template <typename F>
  void each_part(F&& f) const {
    pool_.parallel_for(num_parts(), 1, [&](int64_t first, int64_t last) {
      vectorised([&]() WW_VECTORISED {
        for (int part = static_cast<int>(first); part < last; ++part)
          f(part, part * part_size_, std::min((part + 1) * part_size_, size_));
      });
    });
  }

  int size_;
  int part_size_;
  const ThreadPool& pool_;
};

// f(first, count, parts) for groups of at most `size` rows, that cover all, with an OwnRow or a
// SharedRow for each of the group; f is a lambda marked WW_VECTORISED.
template <RowParams P, typename F>
void for_each_group(const P& params, const ThreadPool& pool, int size, F&& f) {
  // Elements that make waking another thread worth while.
  constexpr int64_t kGrainElements = 16384;
  // Fewer rows than that, of at least that many elements, are shared out part by part.
  constexpr int64_t kFewRows = 32;
  constexpr int kLongRow = 4 * kGrainElements;

  const int64_t num_rows = params.grid.num_rows();
  if (num_rows < kFewRows && params.hidden_size >= kLongRow) {
    const SharedRow parts(params.hidden_size, pool);
    for (int64_t row = 0; row < num_rows; ++row) f(row, 1, parts);
    return;
  }
  const int64_t grain = std::max<int64_t>(kGrainElements / params.hidden_size, 1);
  pool.parallel_for(num_rows, grain, [&](int64_t begin, int64_t end) {
    const OwnRow parts(params.hidden_size);
    vectorised([&]() WW_VECTORISED {
      for (int64_t row = begin; row < end; row += size)
        f(row, static_cast<int>(std::min<int64_t>(size, end - row)), parts);
    });
  });
}

// f(row, parts) for every row.
template <RowParams P, typename F>
void for_each_row(const P& params, const ThreadPool& pool, F&& f) {
  for_each_group(params, pool, 1,
                 [&](int64_t row, int, const auto& parts) WW_VECTORISED { f(row, parts); });
}

namespace detail {

// Apart, for the compiler to see that no pointer changes.
template <typename T>
WW_VECTORISED inline void add_rounded(const T* x, const T* residual, T* sum, int begin, int end) {
  FloatBlock xs;
  FloatBlock residuals;
  FloatBlock sums;
  each_block(begin, end, [&](int at, int count) WW_VECTORISED {
    const auto* a = read_block(x + at, count, xs);
    const auto* b = read_block(residual + at, count, residuals);
    auto* results = block_for(sum + at, sums);
#pragma omp simd
    for (int i = 0; i < count; ++i)
      results[i] = from_float<InLoop<T>>(to_float(a[i]) + to_float(b[i]));
    write_block(results, count, sum + at);
  });
}

}  // namespace detail

// One row of h = x, or of h = x + residual rounded, which add() writes to residual_out.
template <typename T>
struct AddedRow {
  const T* x;
  const T* residual = nullptr;
  T* sum = nullptr;
  const T* h;

  template <AddedRowParams P>
  AddedRow(const P& params, int64_t row)
      : x(params.x.template row<const T>(params.grid, row)), h(x) {
    if (params.residual.data == nullptr) return;
    residual = params.residual.template row<const T>(params.grid, row);
    h = sum = params.residual_out.template row<T>(params.grid, row);
  }

  WW_VECTORISED void add(int begin, int end) const {
    if (sum != nullptr) detail::add_rounded(x, residual, sum, begin, end);
  }
};

// Stands for the elements of a parameter that is left out.
struct NoParam {};

// read_block() of the elements of a parameter from `at` on.
template <typename W>
WW_VECTORISED inline const auto* read_param(const W* param, int at, int count, FloatBlock& block) {
  if constexpr (std::is_same_v<W, NoParam>)
    return param;
  else
    return read_block(param + at, count, block);
}

// f(param) for rows of T, with a pointer to NoParam, float or T.
template <typename T, typename F>
WW_VECTORISED inline void with_param(const void* param, Dtype dtype, F&& f) {
  if (param == nullptr) return f(static_cast<const NoParam*>(nullptr));
  if constexpr (!std::is_same_v<T, float>)
    if (dtype != Dtype::f32) return f(static_cast<const T*>(param));
  f(static_cast<const float*>(param));
}

}  // namespace ww
