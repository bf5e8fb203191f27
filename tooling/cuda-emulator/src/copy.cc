#include "copy.h"

#include <algorithm>
#include <cstring>

#include "../include/cuda_emulator/ptx.h"
#include "access.h"
#include "report.h"
#include "run.h"
#include "shared_memory.h"

namespace cudaemu {
namespace {

// Of an address that nothing is read from, only the alignment counts.
void check_source(const void* global, int bytes, int source_bytes, Site site) {
  if (reinterpret_cast<uintptr_t>(global) % bytes != 0)
    fail(cudaErrorMisalignedAddress,
         format("misaligned cp.async: from %p, alignment %d", global, bytes), site);
  if (source_bytes == 0) return;
  if (current->fiber.holds(global) || shared_memory().holds(global))
    fail(cudaErrorIllegalAddress, format("cp.async: %p is not global memory", global), site);
  check_access(global, source_bytes, Access::read, site, nullptr);
}

void perform(const AsyncCopy& copy) {
  auto* to = static_cast<char*>(copy.shared);
  std::memcpy(to, copy.global, copy.source_bytes);
  std::memset(to + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
  if (current_run->checked()) finish_copy(shared_memory().cells(to), copy.bytes);
}

}  // namespace
}  // namespace cudaemu

using namespace cudaemu;

CUDAEMU_API void cudaemu_copy(void* shared, const void* global, int bytes, int source_bytes,
                              Site site) {
  if (source_bytes < 0 || source_bytes > bytes)
    fail(cudaErrorLaunchFailure,
         format("cp.async of %d bytes, of which %d come from memory", bytes, source_bytes), site);
  check_own_shared("cp.async", shared, bytes, bytes, Access::copy, site);
  check_source(global, bytes, source_bytes, site);
  // A device may have begun to write.
  std::memset(shared, 0xff, bytes);
  CopyQueue& copies = current->copies;
  copies.pending.push_back({shared, global, bytes, source_bytes, copies.committed});
}

CUDAEMU_API void cudaemu_commit_copies() { ++current->copies.committed; }

CUDAEMU_API void cudaemu_wait_for_copies(int newest) {
  auto& [pending, committed] = current->copies;
  const auto waits = [&](const AsyncCopy& copy) { return copy.group < committed - newest; };
  const auto end = std::ranges::find_if_not(pending, waits);
  std::for_each(pending.begin(), end, perform);
  pending.erase(pending.begin(), end);
}
