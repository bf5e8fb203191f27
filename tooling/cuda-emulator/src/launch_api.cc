// Launches and what is set for kernels.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "api.h"
#include "capture.h"
#include "device.h"
#include "run.h"

using namespace cudaemu;

namespace {

struct KernelSettings {
  size_t dynamic_bytes = kDefaultSharedBytes;
  bool large_clusters = false;
};

KernelSettings& settings(const void* kernel) {
  static auto& all = *new std::map<std::pair<const void*, int>, KernelSettings>;
  return all[{kernel, current_device()}];
}

// cudaSuccess if the architecture can run such a launch.
cudaError_t check_limits(const Launch& launch) {
  constexpr uint64_t kMaxGridX = 0x7fffffff;
  constexpr unsigned kMaxGridYz = 65535;
  constexpr unsigned kMaxBlockZ = 64;
  constexpr size_t kMaxArgumentBytes = 32764;
  const auto [grid, block] = std::pair(launch.grid, launch.block);
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || block.x > kMaxThreads || block.y > kMaxThreads || block.z > kMaxBlockZ ||
      threads > kMaxThreads || uint64_t{grid.x} * grid.y * grid.z == 0 || grid.x > kMaxGridX ||
      grid.y > kMaxGridYz || grid.z > kMaxGridYz)
    return cudaErrorInvalidConfiguration;
  const KernelSettings& kernel = settings(launch.call.kernel);
  if (launch.dynamic_bytes > kernel.dynamic_bytes) return cudaErrorInvalidValue;
  if (launch.call.argument_bytes > kMaxArgumentBytes) return cudaErrorInvalidValue;
  if (launch.cluster == 1) return cudaSuccess;
  if (architecture().max_cluster == 1 || launch.call.architecture < 90)
    return cudaErrorNotSupported;
  const unsigned largest = kernel.large_clusters ? architecture().max_cluster : kPortableCluster;
  return launch.cluster == 0 || launch.cluster > largest || grid.x % launch.cluster != 0
             ? cudaErrorInvalidClusterSize
             : cudaSuccess;
}

// Every argument word that is an address of device memory counts as a use of that memory: this is
// how memory that is in use on another stream is noticed in every build.
bool note_arguments(const Launch& launch, CUstream_st& stream) {
  const auto* bytes = reinterpret_cast<const char*>(launch.arguments.data());
  for (size_t at = 0; at + sizeof(void*) <= launch.call.argument_bytes; at += sizeof(void*)) {
    const void* word;
    std::memcpy(&word, bytes + at, sizeof(word));
    Allocation* allocation = device_memory().find(word);
    if (allocation == nullptr || word < allocation->data ||
        word >= allocation->data + allocation->bytes)
      continue;
    if (!note_use(*allocation, stream, nullptr, launch.call.kernel)) return false;
  }
  return true;
}

// A launch's own seed, so that what one kernel does changes nothing for the next.
uint64_t next_seed() {
  static uint64_t launches = 0;
  return seed() == 0 ? 0 : seed() + 0x100000001b3 * ++launches;
}

}  // namespace

CUDAEMU_API void cudaemu_require_abi(int abi) {
  if (abi == kAbi) return;
  std::fprintf(stderr,
               "cuda-emulator: an addon was built for ABI %d, but libwarpwright-cudaemu.so has ABI "
               "%d: build both anew\n",
               abi, kAbi);
  std::abort();
}

CUDAEMU_API cudaError_t cudaemu_launch(const cudaLaunchConfig_t* config, const KernelCall* kernel) {
  return call([&] {
    CUstream_st* stream = find_stream(config->stream, current_device());
    if (stream == nullptr || stream->device != current_device())
      return cudaErrorInvalidResourceHandle;
    auto launch = std::make_shared<Launch>();
    launch->call = *kernel;
    launch->grid = config->gridDim;
    launch->block = config->blockDim;
    launch->dynamic_bytes = config->dynamicSmemBytes;
    launch->device = stream->device;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const cudaLaunchAttribute& attribute = config->attrs[i];
      if (attribute.id != cudaLaunchAttributeClusterDimension) continue;
      const auto dims = attribute.val.clusterDim;
      if (dims.y != 1 || dims.z != 1) return cudaErrorNotSupported;
      launch->cluster = dims.x;
    }
    if (const cudaError_t status = check_limits(*launch)) return status;
    constexpr size_t kUnit = sizeof(std::max_align_t);
    launch->arguments.resize((kernel->argument_bytes + kUnit - 1) / kUnit);
    std::memcpy(launch->arguments.data(), kernel->arguments, kernel->argument_bytes);
    return submit(*stream, [launch](CUstream_st& running) {
      if (note_arguments(*launch, running)) Run(*launch, next_seed()).execute();
    });
  });
}

CUDAEMU_API cudaError_t cudaemu_kernel_attributes(cudaFuncAttributes* attributes, const void*,
                                                  int architecture) {
  *attributes = {kMaxThreads, architecture, architecture};
  return cudaSuccess;
}

CUDAEMU_API cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute,
                                             int value) {
  return call([&] {
    KernelSettings& of_kernel = settings(kernel);
    switch (attribute) {
      case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || static_cast<size_t>(value) > architecture().shared_bytes)
          return cudaErrorInvalidValue;
        of_kernel.dynamic_bytes = value;
        return cudaSuccess;
      case cudaFuncAttributeNonPortableClusterSizeAllowed:
        of_kernel.large_clusters = value != 0;
        return cudaSuccess;
      case cudaFuncAttributePreferredSharedMemoryCarveout:
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}
