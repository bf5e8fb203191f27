#pragma once

#include "warpwright/cpu.h"
#include "warpwright/dtype.h"
#include "warpwright/rows.h"

namespace ww {

// Tensors that are rotated alike: q, and where there is one k.
struct RopeHeads {
  RowGrid grid;  // batch_size, seqlen, num_heads: the first two as those of q; num_heads 0 for none
  Rows x;        // (batch_size, seqlen, num_heads, head_dim)
  Rows out;      // the same; may be x itself
};

// What rotates: position p's angles are in row p.
struct RopeTables {
  const void* cos;  // (max_positions, rotary_dim / 2)
  const void* sin;
  int64_t cos_stride;  // in elements, from row to row
  int64_t sin_stride;
  int64_t max_positions;
  Dtype dtype;  // any of the three, whatever x has
};

enum class RopeIndex : int {
  sequence = 0,  // a token's position is its place in the sequence
  positions = 1,
  cu_seqlens = 2,
};

// Where a token is, before offset is added.
struct RopePositions {
  RopeIndex index = RopeIndex::sequence;
  const void* data = nullptr;  // positions (batch_size, seqlen), or cu_seqlens (num_sequences + 1)
  int64_t strides[2] = {};     // in elements; the second is that of cu_seqlens
  int64_t num_sequences = 0;   // 0 without cu_seqlens
  int64_t offset = 0;          // below 2^53 either way
  Dtype dtype = Dtype::i32;    // or i64
};

struct RopeParams {
  RopeHeads q;
  RopeHeads k;
  RopeTables tables;
  RopePositions positions;
  int head_dim;
  int rotary_dim;     // even
  int rotary_offset;  // the rotary range's first column
  bool interleaved;   // pairs are neighbours, not halves of the rotary range apart
  bool inverse;
  Dtype dtype;
};

// A grid's height and depth are limited, its width is for tokens.
inline constexpr int kMaxHeadDim = 1 << 24;
inline constexpr int64_t kMaxHeads = 0x7fffffff;

inline bool is_empty(const RopeParams& params) {
  const RowGrid& q = params.q.grid;
  const RowGrid& k = params.k.grid;
  return (q.num_rows() == 0 && k.num_rows() == 0) || params.head_dim == 0;
}

// What both launchers require; they answer anything else with cudaErrorInvalidValue.
inline bool is_valid(const RopeParams& params) {
  const RowGrid& q = params.q.grid;
  const RowGrid& k = params.k.grid;
  const bool same_tokens =
      k.sizes[2] == 0 || (k.sizes[0] == q.sizes[0] && k.sizes[1] == q.sizes[1]);
  const auto has_memory = [](const RopeHeads& heads) {
    return heads.grid.num_rows() == 0 || (heads.x.data != nullptr && heads.out.data != nullptr);
  };
  const bool has_index =
      (params.positions.data != nullptr) == (params.positions.index != RopeIndex::sequence);
  return is_empty(params) ||
         (same_tokens && has_memory(params.q) && has_memory(params.k) && has_index &&
          q.sizes[2] + k.sizes[2] <= kMaxHeads && params.head_dim <= kMaxHeadDim &&
          params.rotary_dim >= 0 && params.rotary_dim % 2 == 0 && params.rotary_offset >= 0 &&
          params.rotary_offset <= params.head_dim - params.rotary_dim);
}

// Whether out is x itself, so that what is not rotated is in place already.
inline bool is_in_place(const RopeHeads& heads) {
  if (heads.x.data != heads.out.data) return false;
  for (int i = 0; i < 3; ++i)
    if (heads.x.strides[i] != heads.out.strides[i]) return false;
  return true;
}

// Whether every tensor that there is is written where it is read.
inline bool is_in_place(const RopeParams& params) {
  return is_in_place(params.q) && (params.k.grid.sizes[2] == 0 || is_in_place(params.k));
}

WW_HOST_DEVICE inline int64_t index_at(const RopePositions& positions, int64_t place) {
  return positions.dtype == Dtype::i32 ? static_cast<const int32_t*>(positions.data)[place]
                                       : static_cast<const int64_t*>(positions.data)[place];
}

// A token's place in its own sequence, negative for one that is in none: the last sequence that
// starts at or before it is the one. Whatever cu_seqlens holds, the search ends.
WW_HOST_DEVICE inline int64_t place_in_sequence(const RopePositions& positions, int64_t token) {
  const auto start = [&](int64_t i) { return index_at(positions, i * positions.strides[1]); };
  int64_t first = 0;
  int64_t last = positions.num_sequences;
  if (token < start(first) || token >= start(last)) return -1;
  while (last - first > 1) {
    const int64_t middle = first + (last - first) / 2;
    if (token >= start(middle))
      first = middle;
    else
      last = middle;
  }
  // Unsigned, since a forged start may be as low as an int64 goes.
  return static_cast<int64_t>(static_cast<uint64_t>(token) - static_cast<uint64_t>(start(first)));
}

// The row of the tables for token `place` of a sequence, or -1 where it is not rotated: positions
// that the caller keeps in memory may be outside the tables, or miss the token.
WW_HOST_DEVICE inline int64_t table_row(const RopeParams& params, int64_t batch, int64_t place) {
  const RopePositions& positions = params.positions;
  int64_t position = place;
  if (positions.index == RopeIndex::positions) {
    position = index_at(positions, batch * positions.strides[0] + place * positions.strides[1]);
  } else if (positions.index == RopeIndex::cu_seqlens) {
    position = place_in_sequence(positions, place);
    if (position < 0) return -1;
  }
  // The sum of an int64 position and the offset may overflow; these differences do not.
  const bool within =
      position >= -positions.offset && position < params.tables.max_positions - positions.offset;
  return within ? position + positions.offset : -1;
}

cudaError_t rope_fwd(const RopeParams& params, cudaStream_t stream);
cudaError_t rope_fwd_cpu(const RopeParams& params, const ThreadPool& pool);

}  // namespace ww
