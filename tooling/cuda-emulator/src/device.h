// The emulated devices: 9.0 without wgmma and TMA, or 8.0 if WARPWRIGHT_EMULATOR_ARCH is 80.
#pragma once

#include <cstddef>

namespace cudaemu {

struct Architecture {
  unsigned capability;   // 90 for 9.0
  size_t shared_bytes;   // static and dynamic together, of one block
  unsigned max_cluster;  // 1: no clusters
};

const Architecture& architecture();
// WARPWRIGHT_EMULATOR_DEVICES: 0 to 2, the default.
int device_count();

inline constexpr size_t kDefaultSharedBytes = 48 << 10;
inline constexpr unsigned kPortableCluster = 8;
inline constexpr unsigned kMaxThreads = 1024;
// Few, so that grids sized by the number of multiprocessors loop over their work in small tests.
inline constexpr int kMultiprocessors = 8;

}  // namespace cudaemu
