// Dynamic shared memory and the shared memory of a cluster's other blocks. Kernels reach both only
// through these, which gives a build without a GPU one place to stand in for them.
#pragma once

#include <cooperative_groups.h>

#include "warpwright/ptx/barrier_cluster.cuh"

namespace ww {

// The block's dynamic shared memory from byte_offset on, 16-byte aligned if byte_offset is.
template <typename T>
__device__ inline T* dynamic_shared(int byte_offset = 0) {
  extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[];
  return reinterpret_cast<T*>(dynamic_shared_bytes + byte_offset);
}

// A cluster is a block by itself on architectures without clusters, and where none was launched.
__device__ inline int cluster_size() {
#if __CUDA_ARCH__ >= 900
  return static_cast<int>(cooperative_groups::this_cluster().num_blocks());
#else
  return 1;
#endif
}

__device__ inline int cluster_rank() {
#if __CUDA_ARCH__ >= 900
  return static_cast<int>(cooperative_groups::this_cluster().block_rank());
#else
  return 0;
#endif
}

// Every thread of every block of the cluster arrives before any leaves; orders shared memory.
__device__ inline void cluster_sync() {
#if __CUDA_ARCH__ >= 900
  cooperative_groups::this_cluster().sync();
#else
  __syncthreads();
#endif
}

// A barrier of the cluster in two halves: a thread that arrives goes on, and waits later for the
// others to have arrived. To be called in turns, each by whole warps. What a thread wrote before it
// arrived is not ordered: that would be waited for.
__device__ inline void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  barrier_cluster_arrive_relaxed();
#endif
}

__device__ inline void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  cooperative_groups::this_cluster().barrier_wait();
#else
  __syncthreads();
#endif
}

// The same variable in the shared memory of the cluster's block `rank`. That block must have begun,
// and must not exit before the access: a barrier of the cluster has to come before and to follow.
template <typename T>
__device__ inline T* cluster_peer(T* variable, int rank) {
#if __CUDA_ARCH__ >= 900
  return cooperative_groups::this_cluster().map_shared_rank(variable, rank);
#else
  return variable;
#endif
}

}  // namespace ww
