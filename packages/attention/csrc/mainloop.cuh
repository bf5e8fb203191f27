// The two products of a tile on the tensor cores. A warp has its own rows and all of the tile's
// keys, so that what is between the products needs no other warp.
#pragma once

#include "tiles.cuh"
#include "warpwright/ptx/ldmatrix.cuh"
#include "warpwright/ptx/mma.cuh"

namespace ww {

// 16x16 elements of a tile, as four matrices for ldmatrix. A lane passes one row of one of them:
// its row and its chunk of two are its own, everything else is known when this is compiled.
template <typename T, typename Tile>
class Fragments {
 public:
  __device__ Fragments(const T* tile, int row, int chunk)
      : start_(tile + row * Tile::kPageColumns), place_(chunk ^ Tile::permutation(row)) {}

  // Those that start at a row and a column, multiples of 8, and of 16.
  __device__ const T* at(int row, int column) const {
    const int page = column / Tile::kPageColumns;
    const int chunk = column % Tile::kPageColumns / Tile::kChunk;
    return start_ + (page * Tile::kRows + row) * Tile::kPageColumns +
           (chunk ^ place_) * Tile::kChunk;
  }

 private:
  const T* start_;
  int place_;
};

// In the order top left, bottom left, top right, bottom right: q's, and v's, which are transposed.
template <typename Tile, typename T>
__device__ Fragments<T, Tile> by_columns(const T* tile, int lane) {
  return {tile, lane % 16, lane / 16};
}

// In the order top left, top right, bottom left, bottom right: k's, of which mma takes two that are
// neighbours in registers.
template <typename Tile, typename T>
__device__ Fragments<T, Tile> by_rows(const T* tile, int lane) {
  return {tile, lane / 16 * 8 + lane % 8, lane / 8 % 2};
}

// scores = Q K^T
template <typename T, typename Shape>
__device__ void multiply_keys(const Fragments<T, typename Shape::Q>& q,
                              const Fragments<T, typename Shape::K>& k,
                              typename Shape::Scores& scores) {
#pragma unroll
  for (int i = 0; i < Shape::kRowTiles; ++i)
#pragma unroll
    for (int j = 0; j < Shape::kKeyTiles; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) scores[i][j][e] = 0.0f;
#pragma unroll
  for (int step = 0; step < Shape::kDepthSteps; ++step) {
    uint32_t a[Shape::kRowTiles][4];
#pragma unroll
    for (int i = 0; i < Shape::kRowTiles; ++i) ldmatrix(a[i], q.at(16 * i, 16 * step));
#pragma unroll
    for (int j = 0; j < Shape::kKeyTiles; j += 2) {
      uint32_t b[4];
      ldmatrix(b, k.at(8 * j, 16 * step));
#pragma unroll
      for (int i = 0; i < Shape::kRowTiles; ++i) {
        mma_m16n8k16<T>(scores[i][j], a[i], b[0], b[1]);
        mma_m16n8k16<T>(scores[i][j + 1], a[i], b[2], b[3]);
      }
    }
  }
}

// sums += P V. The accumulators of two neighbouring tiles of keys are P's fragment as they are.
template <typename T, typename Shape>
__device__ void add_values(const typename Shape::Scores& weights,
                           const Fragments<T, typename Shape::V>& v, typename Shape::Sums& sums) {
#pragma unroll
  for (int step = 0; step < Shape::kKeys / 16; ++step) {
    uint32_t a[Shape::kRowTiles][4];
#pragma unroll
    for (int i = 0; i < Shape::kRowTiles; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float (&from)[4] = weights[i][2 * step + e / 2];
        a[i][e] = bits_of<uint32_t>(pair_from_floats<T>(from[e % 2 * 2], from[e % 2 * 2 + 1]));
      }
#pragma unroll
    for (int j = 0; j < Shape::kColumnTiles; j += 2) {
      uint32_t b[4];
      ldmatrix_trans(b, v.at(16 * step, 8 * j));
#pragma unroll
      for (int i = 0; i < Shape::kRowTiles; ++i) {
        mma_m16n8k16<T>(sums[i][j], a[i], b[0], b[1]);
        mma_m16n8k16<T>(sums[i][j + 1], a[i], b[2], b[3]);
      }
    }
  }
}

}  // namespace ww
