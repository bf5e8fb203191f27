#pragma once

#include "warpwright/cuda_types.h"

namespace ww {

// One fault for each of compute-sanitizer's tools to find.
enum class Fault : int {
  out_of_bounds,
  stream_race,
  shared_race,
  uninitialized,
  divergent_barrier
};
inline constexpr int kNumFaults = 5;

// Commits the fault on the current device and waits for it.
cudaError_t plant_fault(Fault fault);

}  // namespace ww
