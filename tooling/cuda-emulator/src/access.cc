#include "access.h"

#include <link.h>

#include <algorithm>
#include <vector>

#include "../include/cuda_emulator/builtins.h"
#include "memory.h"
#include "report.h"
#include "shared_memory.h"

namespace cudaemu {
namespace {

struct Range {
  const char* begin;
  const char* end;
};

int add_segments(dl_phdr_info* module, size_t, void* ranges) {
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& segment = module->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const auto* begin = reinterpret_cast<const char*>(module->dlpi_addr + segment.p_vaddr);
    static_cast<std::vector<Range>*>(ranges)->push_back({begin, begin + segment.p_memsz});
  }
  return 0;
}

// Constants and __device__ variables of a kernel lie in its addon.
bool is_in_module(const char* address) {
  static auto& ranges = *new std::vector<Range>;
  const auto holds = [&](const Range& range) {
    return range.begin <= address && address < range.end;
  };
  if (std::ranges::any_of(ranges, holds)) return true;
  ranges.clear();
  dl_iterate_phdr(add_segments, &ranges);  // an addon may have been loaded since
  return std::ranges::any_of(ranges, holds);
}

template <typename T>
bool is_within(const void* address, const T& variable) {
  return static_cast<size_t>(static_cast<const char*>(address) -
                             reinterpret_cast<const char*>(&variable)) < sizeof(T);
}

bool is_builtin(const void* address) {
  return is_within(address, threadIdx) || is_within(address, blockIdx) ||
         is_within(address, blockDim) || is_within(address, gridDim);
}

const char* verb(Access access) {
  constexpr const char* kVerbs[] = {"read", "write", "atomic update", "asynchronous copy"};
  return kVerbs[static_cast<int>(access)];
}

[[gnu::noinline]] void check_shared(const void* address, size_t bytes, Access access, Site site,
                                    const void* code) {
  SharedMemory& memory = shared_memory();
  const SharedVariable* variable = memory.variable_of(address, bytes);
  if (variable == nullptr)
    fail(cudaErrorIllegalAddress,
         format("%s of %zu bytes out of bounds: %s", verb(access), bytes,
                memory.describe(address).c_str()),
         site, code);
  const Block& block = current_run->blocks()[memory.block_of(address)];
  if (block.live_threads == 0)
    fail(cudaErrorIllegalAddress,
         format("%s of %s of a block of the cluster that has exited", verb(access),
                memory.describe(address).c_str()),
         site, code);
  if (current_run->checked()) check_race(memory.cells(address), address, bytes, access, site, code);
}

// Apart, so that the frame for its text costs the checks that pass nothing.
[[noreturn, gnu::noinline]] void fail_global(const void* address, size_t bytes, Access access,
                                             const char* why, Site site, const void* code) {
  fail(cudaErrorIllegalAddress,
       format("%s of %zu bytes %s: %s", verb(access), bytes, why,
              device_memory().describe(address).c_str()),
       site, code);
}

void check_global(const void* address, size_t bytes, Access access, Site site, const void* code) {
  DeviceMemory& memory = device_memory();
  const Allocation* allocation = memory.find(address);
  const auto* first = static_cast<const char*>(address);
  const char* why = nullptr;
  if (allocation == nullptr || first < allocation->data ||
      first + bytes > allocation->data + allocation->bytes)
    why = "out of bounds";
  else if (allocation->freed)
    why = "after it was freed";
  else if (!memory.can_access(current_run->launch().device, allocation->device))
    why = "from another device, without peer access";
  if (why != nullptr) fail_global(address, bytes, access, why, site, code);
}

[[noreturn, gnu::noinline]] void fail_host(const void* address, size_t bytes, Access access,
                                           Site site, const void* code) {
  fail(cudaErrorIllegalAddress,
       format("%s of %zu bytes of host memory, at %p", verb(access), bytes, address), site, code);
}

bool is_argument(const void* address) {
  const auto& arguments = current_run->launch().arguments;
  return arguments.data() <= address && address < arguments.data() + arguments.size();
}

}  // namespace

void check_access(const void* address, size_t bytes, Access access, Site site, const void* code) {
  if (current->fiber.holds(address) || is_builtin(address)) return;
  if (shared_memory().holds(address)) return check_shared(address, bytes, access, site, code);
  if (device_memory().holds(address)) return check_global(address, bytes, access, site, code);
  if (is_argument(address) || is_in_module(static_cast<const char*>(address))) return;
  fail_host(address, bytes, access, site, code);
}

void check_own_shared(const char* what, const void* address, size_t bytes, size_t alignment,
                      Access access, Site site) {
  const SharedMemory& memory = shared_memory();
  if (!memory.holds(address) || memory.block_of(address) != current->block->rank)
    fail(cudaErrorIllegalAddress,
         format("%s: %p is not in the block's shared memory", what, address), site);
  if (reinterpret_cast<uintptr_t>(address) % alignment != 0)
    fail(cudaErrorMisalignedAddress,
         format("misaligned %s: %s, alignment %zu", what, memory.describe(address).c_str(),
                alignment),
         site);
  check_shared(address, bytes, access, site, nullptr);
}

}  // namespace cudaemu

using namespace cudaemu;

CUDAEMU_API void cudaemu_check_atomic(void* address, size_t bytes, Site site) {
  if (current == nullptr || !current_run->checked()) return;
  if (reinterpret_cast<uintptr_t>(address) % bytes != 0)
    fail(cudaErrorMisalignedAddress, format("misaligned atomic update"), site);
  check_access(address, bytes, Access::atomic, site, nullptr);
}
