// out = op(x) and out = op(gate, up) over rows, on the GPU. A block of threads takes a tile after
// another: some neighbouring vectors of some rows, one for each thread, and several tiles at a
// time, so that enough loads are under way. Dense tensors are one long row.
#pragma once

#include <algorithm>
#include <bit>

#include "warpwright/dispatch.h"
#include "warpwright/elementwise.h"
#include "warpwright/launch.h"
#include "warpwright/vec.cuh"

namespace ww {
namespace detail {

inline constexpr int kTileThreads = 256;

// Tiles whose loads a thread has in flight: 64 bytes, of which 1024 resident threads have 64 KiB on
// a multiprocessor, twice what the memory's latency asks for.
template <Operands kOperands>
inline constexpr int kTilesAtOnce = kOperands == Operands::one ? 4 : 2;

// Blocks beyond these, dozens for each multiprocessor, take several turns instead.
inline constexpr int64_t kMaxTileBlocks = 1 << 16;

// Where a thread's vector begins. `count` elements of the row are there, none if it is not
// positive.
struct Place {
  int64_t row;
  int64_t element;
  int count;
};

// How tiles cover rows. A tile is 2^columns_log2 vectors wide; the threads beyond take the next
// rows. Tiles are numbered along the rows.
class Tiling {
 public:
  Tiling(int64_t num_rows, int64_t row_size, int vec_size)
      : num_rows_(num_rows), row_size_(row_size) {
    const int64_t num_vecs = ceil_div<int64_t>(row_size, vec_size);
    columns_log2_ = best_columns_log2(num_vecs);
    const int64_t tiles_per_row = ceil_div(num_vecs, int64_t{1} << columns_log2_);
    const int64_t row_groups = ceil_div<int64_t>(num_rows, kTileThreads >> columns_log2_);
    const bool counted = row_groups < kMaxTiles && tiles_per_row < kMaxTiles;
    num_tiles_ = counted ? row_groups * tiles_per_row : kMaxTiles;
    tiles_per_row_ = static_cast<uint32_t>(tiles_per_row);
    // Granlund and Montgomery, 1994, "Division by Invariant Integers using Multiplication": exact
    // for numerators below 2^31.
    shift_ = std::bit_width(tiles_per_row_ - 1);
    multiplier_ = static_cast<uint32_t>(((uint64_t{1} << (31 + shift_)) - 1) / tiles_per_row_ + 1);
  }

  // Tiles are numbered in 31 bits, which is 2^42 elements at least.
  bool is_valid() const { return num_tiles_ < kMaxTiles; }

  __host__ __device__ int64_t num_tiles() const { return num_tiles_; }

  // May be called for a tile behind the last, which is empty.
  __device__ Place place(uint32_t tile, int vec_size) const {
    const auto row_group = static_cast<uint32_t>(uint64_t{tile} * multiplier_ >> (31 + shift_));
    const uint32_t tile_in_row = tile - row_group * tiles_per_row_;
    const uint32_t column = threadIdx.x & ((1u << columns_log2_) - 1);
    Place place;
    place.row = (int64_t{row_group} * kTileThreads + threadIdx.x) >> columns_log2_;
    place.element = ((int64_t{tile_in_row} << columns_log2_) + column) * vec_size;
    const int64_t rest = row_size_ - place.element;
    place.count = place.row < num_rows_ ? static_cast<int>(rest < vec_size ? rest : vec_size) : 0;
    return place;
  }

 private:
  static constexpr int64_t kMaxTiles = 0x7fff0000;

  // Of the powers of two that let each row's part be 128 bytes or more, the one that leaves the
  // fewest threads without a vector, and the widest of these.
  static int best_columns_log2(int64_t num_vecs) {
    constexpr int kWidest = std::bit_width(unsigned{kTileThreads}) - 1;
    constexpr int kNarrowest = 3;
    const int whole_row = std::bit_width(static_cast<uint64_t>(num_vecs - 1));
    if (whole_row <= kNarrowest) return whole_row;
    int best = kWidest;
    const auto covered = [&](int log2) { return ceil_div(num_vecs, int64_t{1} << log2) << log2; };
    for (int log2 = kWidest - 1; log2 >= kNarrowest; --log2)
      if (covered(log2) < covered(best)) best = log2;
    return best;
  }

  int64_t num_rows_;
  int64_t row_size_;
  int64_t num_tiles_;
  uint32_t tiles_per_row_;
  uint32_t multiplier_;
  int shift_;
  int columns_log2_;
};

template <typename T, bool kAligned>
__device__ Vec<T> load_part(const T* ptr, int count) {
  if (count < Vec<T>::kSize) return Vec<T>::load_tail(ptr, count, T{});
  if constexpr (kAligned)
    return Vec<T>::load(ptr);
  else
    return Vec<T>::load_misaligned(ptr);
}

template <typename T, bool kAligned>
__device__ void store_part(const Vec<T>& vec, T* ptr, int count) {
  if (count < Vec<T>::kSize)
    vec.store_tail(ptr, count);
  else if constexpr (kAligned)
    vec.store(ptr);
  else
    vec.store_misaligned(ptr);
}

template <Operands kOperands>
inline constexpr int kVecsPerPlace = kOperands == Operands::one ? 1 : 2;

template <typename T, Operands kOperands, bool kAligned>
__device__ void load_operands(const OperandRows& rows, const Place& place,
                              Vec<T> (&in)[kVecsPerPlace<kOperands>]) {
  const T* first = rows.inputs[0].row<const T>(rows.grid, place.row);
  if constexpr (kOperands == Operands::interleaved) {
    const T* pairs = first + 2 * place.element;
    in[0] = load_part<T, kAligned>(pairs, 2 * place.count);
    in[1] = load_part<T, kAligned>(pairs + Vec<T>::kSize, 2 * place.count - Vec<T>::kSize);
  } else {
    in[0] = load_part<T, kAligned>(first + place.element, place.count);
  }
  if constexpr (kOperands == Operands::two) {
    const T* second = rows.inputs[1].row<const T>(rows.grid, place.row);
    in[1] = load_part<T, kAligned>(second + place.element, place.count);
  }
}

template <typename T, Operands kOperands, typename Op>
__device__ Vec<T> evaluate(const Vec<T> (&in)[kVecsPerPlace<kOperands>], bool swapped,
                           const Op& op) {
  constexpr int kSize = Vec<T>::kSize;
  float values[kVecsPerPlace<kOperands>][kSize];
#pragma unroll
  for (int i = 0; i < kVecsPerPlace<kOperands>; ++i) in[i].to_floats(values[i]);
  float y[kSize];
#pragma unroll
  for (int j = 0; j < kSize; ++j) {
    if constexpr (kOperands == Operands::one) {
      y[j] = apply<T>(op, values[0][j]);
    } else if constexpr (kOperands == Operands::two) {
      y[j] = apply<T>(op, values[0][j], values[1][j]);
    } else {
      const float front = values[2 * j / kSize][2 * j % kSize];
      const float behind = values[2 * j / kSize][2 * j % kSize + 1];
      y[j] = apply<T>(op, swapped ? behind : front, swapped ? front : behind);
    }
  }
  return Vec<T>::from_floats(y);
}

// kAligned: every row of every tensor begins at a 16-byte boundary.
template <typename T, Operands kOperands, bool kAligned, typename Op>
__global__ void __launch_bounds__(kTileThreads)
    elementwise_rows_kernel(const OperandRows rows, const Tiling tiling, const Op op) {
  using V = Vec<T>;
  constexpr int kAtOnce = kTilesAtOnce<kOperands>;
  const auto num_tiles = static_cast<uint32_t>(tiling.num_tiles());
  for (uint32_t tile = blockIdx.x * kAtOnce; tile < num_tiles; tile += gridDim.x * kAtOnce) {
    V in[kAtOnce][kVecsPerPlace<kOperands>];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const Place place = tiling.place(tile + i, V::kSize);
      if (place.count > 0) load_operands<T, kOperands, kAligned>(rows, place, in[i]);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const Place place = tiling.place(tile + i, V::kSize);
      if (place.count <= 0) continue;
      T* out = rows.out.row<T>(rows.grid, place.row) + place.element;
      store_part<T, kAligned>(evaluate<T, kOperands>(in[i], rows.swapped, op), out, place.count);
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

template <Operands kOperands, typename Op>
cudaError_t launch_elementwise(const OperandRows& given, Dtype dtype, const Op& op,
                               cudaStream_t stream) {
  const OperandRows rows = flattened<kOperands>(given);
  const int64_t num_rows = rows.grid.num_rows();
  if (num_rows == 0 || rows.row_size == 0) return cudaSuccess;
  return dispatch_dtype(dtype, [&]<typename T>(type_tag<T>) {
    const Tiling tiling(num_rows, rows.row_size, Vec<T>::kSize);
    if (!tiling.is_valid()) return cudaErrorInvalidValue;
    const int64_t turns = ceil_div<int64_t>(tiling.num_tiles(), kTilesAtOnce<kOperands>);
    const auto grid = static_cast<unsigned>(std::min(turns, kMaxTileBlocks));
    return dispatch_bool(is_aligned<kOperands>(rows, sizeof(T)), [&](auto kAligned) {
      return launch(elementwise_rows_kernel<T, kOperands, kAligned, Op>,
                    {.grid = grid, .block = kTileThreads, .stream = stream}, rows, tiling, op);
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
