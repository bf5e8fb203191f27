// The helpers that exist on the GPU alone.
#pragma once

#include "warpwright/dtype.h"

namespace ww {

// How vec_fwd moves a vector: as one access, element by element, or as a tail.
enum class VecForm : int { aligned, misaligned, tail };

struct VecParams {
  const void* src;
  void* dst;
  int64_t num_vecs;
  int count;   // elements of each tail
  float fill;  // behind them
  VecForm load;
  VecForm store;
  Dtype dtype;
};

// Moves each vector of src to dst, by way of its floats.
cudaError_t vec_fwd(const VecParams& params, cudaStream_t stream);

enum class ReduceOp : int { sum, max };
enum class ReduceScope : int { warp, block, cluster };

struct ReduceParams {
  const float* x;  // (num_rounds, blocks, threads)
  float* out;      // like x: what each thread was given
  int num_rounds;  // reductions one after the other, with no barrier between them
  int threads;
  int blocks;  // of one cluster, for ReduceScope::cluster
  ReduceOp op;
  ReduceScope scope;
};

cudaError_t reduce_fwd(const ReduceParams& params, cudaStream_t stream);

struct ElementwiseParams {
  const void* x;  // (size)
  void* out;      // (size): 2 x + 1
  int64_t size;
  Dtype dtype;
};

cudaError_t elementwise_fwd(const ElementwiseParams& params, cudaStream_t stream);

struct ReverseParams {
  const float* x;  // (size)
  float* out;      // (size): x backwards, by way of shared memory
  int size;
  int threads;
};

cudaError_t reverse_fwd(const ReverseParams& params, cudaStream_t stream);

}  // namespace ww
