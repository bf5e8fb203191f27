// Stand-in for the CUDA toolkit's header: clusters. Grid-wide groups are not emulated.
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

class cluster_group {
 public:
  static unsigned num_blocks() { return cudaemu_cluster_size(); }
  static unsigned block_rank() { return cudaemu_cluster_rank(); }
  static void sync(cudaemu::Site site = cudaemu::Site::here()) { cudaemu_cluster_barrier(site); }
  // Both halves happen where the second does, which orders more than they do: a race between what
  // comes before that and what follows the other's arrival is not found.
  static void barrier_arrive() {}
  static void barrier_wait(cudaemu::Site site = cudaemu::Site::here()) { sync(site); }
  template <typename T>
  static T* map_shared_rank(T* variable, int rank) {
    return static_cast<T*>(cudaemu_map_shared(variable, static_cast<unsigned>(rank)));
  }
};

inline cluster_group this_cluster() { return {}; }

}  // namespace cooperative_groups
