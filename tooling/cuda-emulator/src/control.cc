#include "../include/cuda_emulator/control.h"

#include "api.h"
#include "capture.h"

using namespace cudaemu;

CUDAEMU_API const char* cudaemu_report() {
  const std::lock_guard lock(api_mutex());
  static thread_local std::string report;
  report = fault_report();
  return report.c_str();
}

CUDAEMU_API void cudaemu_reset() {
  const std::lock_guard lock(api_mutex());
  if (fault_status() == cudaSuccess) wait_for_everything();
  drop_all_entries();
  drop_captures();
  clear_fault();
}

CUDAEMU_API void cudaemu_set_seed(uint64_t seed) {
  const std::lock_guard lock(api_mutex());
  set_seed(seed);
}
