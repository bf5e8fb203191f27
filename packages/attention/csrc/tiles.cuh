// The sizes that a block works with, by head dim, and where its tiles lie in shared memory.
#pragma once

#include <iterator>

#include "attention.h"
#include "warpwright/dispatch.h"

namespace ww {

struct TileSizes {
  int head_dim;  // up to these: what is less is filled with zeros
  int head_dim_v;
  int rows;  // queries of a block
  int keys;  // keys of a tile
  int warps;
};

// The first that fits is taken. A warp has 32 queries, so that each fragment of k and v is used
// twice, except where 256 columns of sums leave registers for 16 alone. Two blocks share a
// multiprocessor of 9.0, and of 8.0 up to 128 columns; each fits into the 99 KiB of 8.9 and 12.0.
inline constexpr TileSizes kTiles[] = {
    {.head_dim = 64, .head_dim_v = 64, .rows = 128, .keys = 128, .warps = 4},
    {.head_dim = 96, .head_dim_v = 96, .rows = 128, .keys = 64, .warps = 4},
    {.head_dim = 128, .head_dim_v = 128, .rows = 128, .keys = 64, .warps = 4},
    {.head_dim = 192, .head_dim_v = 128, .rows = 128, .keys = 64, .warps = 4},
    {.head_dim = 256, .head_dim_v = 256, .rows = 64, .keys = 64, .warps = 4},
};
inline constexpr int kNumTiles = std::size(kTiles);

constexpr int tile_for(int head_dim, int head_dim_v) {
  for (int i = 0; i < kNumTiles; ++i)
    if (head_dim <= kTiles[i].head_dim && head_dim_v <= kTiles[i].head_dim_v) return i;
  return kNumTiles;
}

// Rows of 16-bit elements in shared memory. They are cut into pages of 64 columns (32 where the
// columns come to no multiple of that), and the 16-byte chunks of a page's row are permuted by the
// row: so eight rows' chunks of a column, and the chunks of a row, are in different banks.
template <int kTileRows, int kTileColumns>
struct SharedTile {
  static constexpr int kRows = kTileRows;
  static constexpr int kColumns = kTileColumns;
  static constexpr int kChunk = 8;  // elements
  static constexpr int kPageColumns = kColumns % 64 == 0 ? 64 : 32;
  static constexpr int kPageChunks = kPageColumns / kChunk;
  static constexpr int kPages = kColumns / kPageColumns;
  static constexpr int kElements = kRows * kColumns;

  __device__ static int permutation(int row) { return kPageChunks == 8 ? row & 7 : row >> 1 & 3; }

  // Elements from the tile's start to a chunk.
  __device__ static int offset(int row, int page, int chunk) {
    return (page * kRows + row) * kPageColumns + (chunk ^ permutation(row)) * kChunk;
  }
};

// What follows from a tile's sizes.
template <int kTile>
struct TileShape {
  static constexpr TileSizes kSizes = kTiles[kTile];
  static constexpr int kWarp = 32;
  static constexpr int kThreads = kSizes.warps * kWarp;
  static constexpr int kRows = kSizes.rows;
  static constexpr int kKeys = kSizes.keys;
  static constexpr int kWarpRows = kRows / kSizes.warps;
  // In tiles of mma: 16 rows, 16 of what is summed over, 8 columns.
  static constexpr int kRowTiles = kWarpRows / 16;
  static constexpr int kKeyTiles = kKeys / 8;
  static constexpr int kColumnTiles = kSizes.head_dim_v / 8;
  static constexpr int kDepthSteps = kSizes.head_dim / 16;

  using Q = SharedTile<kRows, kSizes.head_dim>;
  using K = SharedTile<kKeys, kSizes.head_dim>;
  using V = SharedTile<kKeys, kSizes.head_dim_v>;
  // At the end the same memory holds the block's sums.
  static constexpr int kTileBytes = 2 * (Q::kElements + K::kElements + V::kElements);
  static_assert(kTileBytes >= 4 * kRows * kSizes.head_dim_v);

  using Scores = float[kRowTiles][kKeyTiles][4];
  using Sums = float[kRowTiles][kColumnTiles][4];
};

}  // namespace ww
