// out = op(x) and out = op(gate, up) over rows, on the GPU. A block takes a tile of neighbouring
// vectors of some rows after another; each thread has several vectors of a tile, whose loads are
// under way together. Dense tensors are one long row.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "warpwright/dispatch.h"
#include "warpwright/divisor.h"
#include "warpwright/elementwise.h"
#include "warpwright/launch.h"
#include "warpwright/ptx/griddepcontrol.cuh"
#include "warpwright/rows.h"
#include "warpwright/vec.cuh"

namespace ww {
namespace detail {

inline constexpr int kTileThreads = 256;

// Blocks on a multiprocessor at least. Told no number, the compiler saves registers by starting a
// load only when the one before has been used.
inline constexpr int kTileOccupancy = 4;

// Vectors of an input that a thread has of a tile, 64 bytes of all inputs: so 64 KiB are under way
// on a multiprocessor, twice what the memory's latency asks for.
template <Operands kOperands>
inline constexpr int kVecsPerThread = kOperands == Operands::one ? 4 : 2;

// Blocks beyond these, dozens for each multiprocessor, would only take their turn.
inline constexpr int64_t kMaxTileBlocks = 1 << 16;

// Where a thread's vectors in a tile begin: on the grid of rows, and in the row, of which `rest`
// elements are from there on. None if that is not positive.
struct Place {
  RowIndex index;
  int64_t element;
  int64_t rest;

  __device__ int64_t offset(const Rows& rows, int elements_per_element = 1) const {
    return rows.offset(index) + element * elements_per_element;
  }
};

// How tiles cover the rows. A tile is `vecs_per_thread` times 2^columns_log2 vectors wide, and the
// threads beyond take the next rows, of the grid's last dimension. Tiles are numbered along the
// rows.
class Tiling {
 public:
  Tiling(const RowGrid& grid, int64_t row_size, int vec_size, int vecs_per_thread)
      : num_rows_(grid.sizes[2]),
        row_size_(row_size),
        is_flat_(grid.sizes[0] == 1 && grid.sizes[1] == 1),
        vec_size_(vec_size) {
    const int64_t num_vecs = ceil_div<int64_t>(row_size, vec_size);
    columns_log2_ = best_columns_log2(num_vecs, vecs_per_thread);
    const int64_t width = int64_t{vecs_per_thread} << columns_log2_;
    const int64_t counts[] = {ceil_div(num_vecs, width),
                              ceil_div<int64_t>(num_rows_, kTileThreads >> columns_log2_),
                              grid.sizes[1], grid.sizes[0]};
    for (const int64_t count : counts)
      num_tiles_ = count < kMaxTiles ? std::min(num_tiles_ * count, kMaxTiles) : kMaxTiles;
    if (!is_valid()) return;
    tiles_per_row_ = Divisor(static_cast<uint32_t>(counts[0]));
    row_groups_ = Divisor(static_cast<uint32_t>(counts[1]));
    middle_ = Divisor(static_cast<uint32_t>(counts[2]));
  }

  // Tiles are numbered in 31 bits, which is 2^42 elements at least where the rows fill them.
  bool is_valid() const { return num_tiles_ < kMaxTiles; }

  __host__ __device__ uint32_t num_tiles() const { return static_cast<uint32_t>(num_tiles_); }

  // Elements between a thread's vectors.
  __device__ int step() const { return vec_size_ << columns_log2_; }

  __device__ Place place(uint32_t tile, int vecs_per_thread) const {
    const uint32_t tile_in_row = tiles_per_row_.take(tile);
    RowIndex index{0, 0, tile, is_flat_};
    if (!is_flat_) {
      index.inner = row_groups_.take(tile);
      index.middle = middle_.take(tile);
      index.outer = tile;
    }
    const uint32_t rows_per_group = kTileThreads >> columns_log2_;
    index.inner = index.inner * rows_per_group + (threadIdx.x >> columns_log2_);
    const uint32_t column = threadIdx.x & ((1u << columns_log2_) - 1);
    const uint32_t width = vecs_per_thread * step();
    const int64_t element = uint64_t{tile_in_row} * width + column * vec_size_;
    return {index, element, index.inner < num_rows_ ? row_size_ - element : 0};
  }

 private:
  static constexpr int64_t kMaxTiles = 0x7fffffff;

  // Of the powers of two that let each piece of a row be 128 bytes or more, the one that leaves the
  // fewest threads without a vector, and the widest of these.
  static int best_columns_log2(int64_t num_vecs, int vecs_per_thread) {
    constexpr int kWidest = std::bit_width(unsigned{kTileThreads}) - 1;
    constexpr int kNarrowest = 3;
    const int64_t columns = ceil_div<int64_t>(num_vecs, vecs_per_thread);
    const int whole_row = std::bit_width(static_cast<uint64_t>(columns - 1));
    if (whole_row <= kNarrowest) return whole_row;
    const auto covered = [&](int log2) { return ceil_div(columns, int64_t{1} << log2) << log2; };
    int best = kWidest;
    for (int log2 = kWidest - 1; log2 >= kNarrowest; --log2)
      if (covered(log2) < covered(best)) best = log2;
    return best;
  }

  int64_t num_rows_;
  int64_t row_size_;
  int64_t num_tiles_ = 1;
  Divisor tiles_per_row_;
  Divisor row_groups_;
  Divisor middle_;
  bool is_flat_;
  int vec_size_;
  int columns_log2_;
};

// What an operation reads for one vector of results, and how. kAligned: every row of every tensor
// begins at a 16-byte boundary.
template <typename T, Operands kOperands, bool kAligned>
class OperandVecs {
  static constexpr int kSize = Vec<T>::kSize;
  static constexpr int kCount = kOperands == Operands::one ? 1 : 2;

 public:
  // The first `count` of them.
  __device__ void load(const T* first, const T* second, int64_t count) {
    if constexpr (kOperands == Operands::interleaved) {
      vecs_[0] = load_part(first, 2 * count);
      vecs_[1] = load_part(first + kSize, 2 * count - kSize);
    } else {
      vecs_[0] = load_part(first, count);
      if constexpr (kOperands == Operands::two) vecs_[1] = load_part(second, count);
    }
  }

  template <typename Op>
  __device__ Vec<T> evaluate(const Op& op, bool swapped) const {
    float values[kCount][kSize];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      Vec<T> vec = vecs_[i];
      if (kOperands == Operands::interleaved && swapped) vec.swap_neighbours();
      vec.to_floats(values[i]);
    }
    float y[kSize];
#pragma unroll
    for (int j = 0; j < kSize; ++j) {
      if constexpr (kOperands == Operands::one) {
        y[j] = apply<T>(op, values[0][j]);
      } else if constexpr (kOperands == Operands::two) {
        y[j] = apply<T>(op, values[0][j], values[1][j]);
      } else {
        y[j] = apply<T>(op, values[2 * j / kSize][2 * j % kSize],
                        values[2 * j / kSize][2 * j % kSize + 1]);
      }
    }
    return Vec<T>::from_floats(y);
  }

 private:
  __device__ static Vec<T> load_part(const T* ptr, int64_t count) {
    if (count < kSize) return Vec<T>::load_tail(ptr, static_cast<int>(count), T{});
    if constexpr (kAligned)
      return Vec<T>::load(ptr);
    else
      return Vec<T>::load_misaligned(ptr);
  }

  Vec<T> vecs_[kCount];
};

template <typename T, bool kAligned>
__device__ void store_part(const Vec<T>& vec, T* ptr, int64_t count) {
  if (count < Vec<T>::kSize)
    vec.store_tail(ptr, static_cast<int>(count));
  else if constexpr (kAligned)
    vec.store_global(ptr);
  else
    vec.store_misaligned(ptr);
}

template <typename T, Operands kOperands, bool kAligned, typename Op>
__global__ void __launch_bounds__(kTileThreads, kTileOccupancy)
    elementwise_rows_kernel(const OperandRows rows, const Tiling tiling, const Op op) {
  using Operand = OperandVecs<T, kOperands, kAligned>;
  constexpr int kSize = Vec<T>::kSize;
  constexpr int kVecs = kVecsPerThread<kOperands>;
  constexpr int kWidth = kOperands == Operands::interleaved ? 2 : 1;
  const int step = tiling.step();
  griddepcontrol_wait();

  for (uint32_t tile = blockIdx.x; tile < tiling.num_tiles(); tile += gridDim.x) {
    const Place place = tiling.place(tile, kVecs);
    const auto* first =
        static_cast<const T*>(rows.inputs[0].data) + place.offset(rows.inputs[0], kWidth);
    const auto* second = static_cast<const T*>(rows.inputs[1].data) + place.offset(rows.inputs[1]);
    auto* out = static_cast<T*>(rows.out.data) + place.offset(rows.out);

    if (place.rest >= (kVecs - 1) * step + kSize) {
      Operand operands[kVecs];
#pragma unroll
      for (int i = 0; i < kVecs; ++i)
        operands[i].load(first + kWidth * i * step, second + i * step, kSize);
      griddepcontrol_launch_dependents();
#pragma unroll
      for (int i = 0; i < kVecs; ++i)
        store_part<T, kAligned>(operands[i].evaluate(op, rows.swapped), out + i * step, kSize);
      continue;
    }
#pragma unroll 1
    for (int64_t i = 0; i < kVecs && place.rest > i * step; ++i) {
      const int64_t count = place.rest - i * step;
      Operand operand;
      operand.load(first + kWidth * i * step, second + i * step, count);
      store_part<T, kAligned>(operand.evaluate(op, rows.swapped), out + i * step, count);
    }
  }
}

template <Operands kOperands>
bool is_aligned(const OperandRows& rows, int64_t element_bytes) {
  const auto on_boundary = [&](const Rows& each) {
    const auto is_whole = [&](int64_t stride) { return stride * element_bytes % kVecBytes == 0; };
    return is_vec_aligned(each.data) &&
           (rows.grid.num_rows() == 1 || std::ranges::all_of(each.strides, is_whole));
  };
  return on_boundary(rows.inputs[0]) && on_boundary(rows.out) &&
         (kOperands != Operands::two || on_boundary(rows.inputs[1]));
}

// The order of the grid's dimensions does not matter: where the last is too short to fill a block,
// the longest takes its place.
inline OperandRows with_long_rows_last(OperandRows rows) {
  auto& sizes = rows.grid.sizes;
  if (sizes[2] >= kTileThreads) return rows;
  const auto longest = std::ranges::max_element(sizes) - std::begin(sizes);
  std::swap(sizes[longest], sizes[2]);
  for (Rows* each : {&rows.inputs[0], &rows.inputs[1], &rows.out})
    std::swap(each->strides[longest], each->strides[2]);
  return rows;
}

template <Operands kOperands, typename Op>
cudaError_t launch_elementwise(const OperandRows& given, Dtype dtype, const Op& op,
                               cudaStream_t stream) {
  if (given.grid.num_rows() == 0 || given.row_size == 0) return cudaSuccess;
  const OperandRows rows = with_long_rows_last(flattened<kOperands>(given));
  return dispatch_dtype(dtype, [&]<typename T>(type_tag<T>) {
    const Tiling tiling(rows.grid, rows.row_size, Vec<T>::kSize, kVecsPerThread<kOperands>);
    if (!tiling.is_valid()) return cudaErrorInvalidValue;
    const auto grid = static_cast<unsigned>(std::min<int64_t>(tiling.num_tiles(), kMaxTileBlocks));
    return dispatch_bool(is_aligned<kOperands>(rows, sizeof(T)), [&](auto kAligned) {
      return launch(elementwise_rows_kernel<T, kOperands, kAligned, Op>,
                    {.grid = grid, .block = kTileThreads, .overlaps = true, .stream = stream}, rows,
                    tiling, op);
    });
  });
}

}  // namespace detail

// out = op(x).
template <typename Op>
cudaError_t elementwise_rows(const ElementwiseRows& rows, const Op& op, cudaStream_t stream) {
  using namespace detail;
  return launch_elementwise<Operands::one>(operands_of(rows), rows.dtype, op, stream);
}

// out = op(gate, up).
template <typename Op>
cudaError_t gated_rows(const GatedRows& rows, const Op& op, cudaStream_t stream) {
  using namespace detail;
  if (is_interleaved(rows))
    return launch_elementwise<Operands::interleaved>(operands_of(rows), rows.dtype, op, stream);
  return launch_elementwise<Operands::two>(operands_of(rows), rows.dtype, op, stream);
}

}  // namespace ww
