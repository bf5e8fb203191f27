// The arrival at a cluster's barrier that orders no memory (PTX ISA, "barrier.cluster", of sm_90).
#pragma once

namespace ww {

// By whole warps. The wait is cooperative_groups' barrier_wait().
__device__ inline void barrier_cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

}  // namespace ww
