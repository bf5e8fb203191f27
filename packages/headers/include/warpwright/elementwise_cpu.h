// out = op(x) and out = op(gate, up) over rows, on the CPU. Pieces of rows are shared out over the
// threads; dense tensors are one long row.
#pragma once

#include <algorithm>

#include "warpwright/blocks_cpu.h"
#include "warpwright/cpu.h"
#include "warpwright/dispatch.h"
#include "warpwright/elementwise.h"

namespace ww {
namespace detail {

// Elements that make waking another thread worth while, and that a piece of a row has.
inline constexpr int64_t kPieceElements = 16384;

template <typename T, Operands kOperands, bool kSwapped, typename Op>
WW_OP void evaluate_block(const InLoop<T>* first, const InLoop<T>* second, InLoop<T>* out,
                          int count, const Op& op) {
#pragma omp simd
  for (int i = 0; i < count; ++i) {
    float result;
    if constexpr (kOperands == Operands::one) {
      result = apply<T>(op, to_float(first[i]));
    } else if constexpr (kOperands == Operands::two) {
      result = apply<T>(op, to_float(first[i]), to_float(second[i]));
    } else {
      const float front = to_float(first[2 * i]);
      const float behind = to_float(first[2 * i + 1]);
      result = kSwapped ? apply<T>(op, behind, front) : apply<T>(op, front, behind);
    }
    out[i] = from_float<InLoop<T>>(result);
  }
}

template <typename T, Operands kOperands, bool kSwapped, typename Op>
WW_OP void evaluate_piece(const T* first, const T* second, T* out, int64_t count, const Op& op) {
  constexpr int kStep = kOperands == Operands::interleaved ? 2 : 1;
  constexpr int kBlock = kBlockFloats / kStep;
  FloatBlock firsts;
  FloatBlock seconds;
  FloatBlock outs;
  for (int64_t at = 0; at < count; at += kBlock) {
    const int size = static_cast<int>(std::min<int64_t>(count - at, kBlock));
    const auto* xs = read_block(first + kStep * at, kStep * size, firsts);
    const InLoop<T>* ys = nullptr;
    if constexpr (kOperands == Operands::two) ys = read_block(second + at, size, seconds);
    auto* results = block_for(out + at, outs);
    evaluate_block<T, kOperands, kSwapped>(xs, ys, results, size, op);
    write_block(results, size, out + at);
  }
}

template <Operands kOperands, bool kSwapped = false, typename Op>
cudaError_t run_elementwise(const OperandRows& given, Dtype dtype, const Op& op,
                            const ThreadPool& pool) {
  const OperandRows rows = flattened<kOperands>(given);
  const int64_t num_rows = rows.grid.num_rows();
  if (num_rows == 0 || rows.row_size == 0) return cudaSuccess;
  const int64_t pieces = ceil_div(rows.row_size, kPieceElements);
  const int64_t grain = std::max<int64_t>(kPieceElements / rows.row_size, 1);
  return dispatch_dtype(dtype, [&]<typename T>(type_tag<T>) {
    constexpr int kStep = kOperands == Operands::interleaved ? 2 : 1;
    pool.parallel_for(num_rows * pieces, grain, [&](int64_t begin, int64_t end) {
      vectorised([&]() WW_VECTORISED {
        for (int64_t index = begin; index < end; ++index) {
          const int64_t row = index / pieces;
          const int64_t at = index % pieces * kPieceElements;
          const T* first = rows.inputs[0].row<const T>(rows.grid, row) + kStep * at;
          const T* second = kOperands == Operands::two
                                ? rows.inputs[1].row<const T>(rows.grid, row) + at
                                : nullptr;
          evaluate_piece<T, kOperands, kSwapped>(first, second,
                                                 rows.out.row<T>(rows.grid, row) + at,
                                                 std::min(rows.row_size - at, kPieceElements), op);
        }
      });
    });
    return cudaSuccess;
  });
}

}  // namespace detail

// out = op(x).
template <typename Op>
cudaError_t elementwise_rows_cpu(const ElementwiseRows& rows, const Op& op,
                                 const ThreadPool& pool) {
  using namespace detail;
  return run_elementwise<Operands::one>(operands_of(rows), rows.dtype, op, pool);
}

// out = op(gate, up).
template <typename Op>
cudaError_t gated_rows_cpu(const GatedRows& rows, const Op& op, const ThreadPool& pool) {
  using namespace detail;
  const OperandRows operands = operands_of(rows);
  if (!is_interleaved(rows)) return run_elementwise<Operands::two>(operands, rows.dtype, op, pool);
  return dispatch_bool(operands.swapped, [&](auto kSwapped) {
    return run_elementwise<Operands::interleaved, kSwapped>(operands, rows.dtype, op, pool);
  });
}

}  // namespace ww
