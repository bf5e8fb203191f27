// The emulator's form of the headers' file of this name, found first by emulated builds.
#pragma once

#include <cooperative_groups.h>

namespace ww {

inline void barrier_cluster_arrive_relaxed() {
  cooperative_groups::this_cluster().barrier_arrive();
}

}  // namespace ww
