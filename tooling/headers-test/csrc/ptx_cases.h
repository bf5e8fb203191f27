// The wrappers of PTX instructions.
#pragma once

#include "warpwright/dtype.h"

namespace ww {

inline constexpr int kCopyThreads = 128;

struct CopyParams {
  const uint8_t* x;  // (size)
  uint8_t* out;      // (kCopyThreads, piece_bytes): x and zeros, by way of shared memory
  int size;
  int piece_bytes;
  bool whole;    // without a number of source bytes: x has as many bytes as out
  bool grouped;  // waits for a group, rather than for everything
};

cudaError_t copy_fwd(const CopyParams& params, cudaStream_t stream);

inline constexpr int kPipelineTile = 4 * kCopyThreads;

struct PipelineParams {
  const float* x;  // (num_tiles, kPipelineTile)
  float* out;      // (kPipelineTile): the tiles' sum, backwards
  int num_tiles;
  int num_stages;
};

cudaError_t pipeline_fwd(const PipelineParams& params, cudaStream_t stream);

struct LdmatrixParams {
  const uint16_t* x;  // (8 num_matrices, 8); lane l passes row (5 l + 3) % (8 num_matrices)
  int32_t* out;       // (32, num_matrices)
  int num_matrices;
  bool transposed;
};

cudaError_t ldmatrix_fwd(const LdmatrixParams& params, cudaStream_t stream);

// Where mma's fragments come from: element by element as its layout says, or ldmatrix, with B in
// shared memory by columns or by rows.
enum class Fragments : int { elements, by_columns, by_rows };
inline constexpr int kNumFragments = 3;

struct MmaParams {
  const void* a;   // (num_tiles, 16, depth), where depth is 8 for float32 (tf32) and else 16
  const void* b;   // (num_tiles, depth, 8)
  const float* c;  // (num_tiles, 16, 8)
  float* out;      // (num_tiles, 16, 8): a b + c
  int num_tiles;
  Dtype dtype;
  Fragments fragments;
};

cudaError_t mma_fwd(const MmaParams& params, cudaStream_t stream);

struct ApproxParams {
  const float* x;      // (size)
  float* powers;       // (size): 2^x
  float* reciprocals;  // (size): 1 / x
  int size;
};

cudaError_t approx_fwd(const ApproxParams& params, cudaStream_t stream);

}  // namespace ww
