// The one way a kernel is started.
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <mutex>
#include <utility>

namespace ww {

struct LaunchConfig {
  dim3 grid;
  dim3 block;
  size_t smem = 0;  // dynamic shared memory in bytes
  int cluster = 1;  // blocks of a cluster, along x; above 1 from compute capability 9.0 on
  cudaStream_t stream = nullptr;
};

// What launch arithmetic needs to know of the current device.
struct DeviceLimits {
  int capability = 0;  // 90 for 9.0; 0 if there is no device
  int multiprocessors = 0;
  int max_smem = 0;  // dynamic shared memory of one block in bytes, opted in
};

namespace detail {

inline cudaError_t read_limits(int device, DeviceLimits& limits) {
  int major = 0;
  int minor = 0;
  const std::pair<int*, cudaDeviceAttr> wanted[] = {
      {&major, cudaDevAttrComputeCapabilityMajor},
      {&minor, cudaDevAttrComputeCapabilityMinor},
      {&limits.multiprocessors, cudaDevAttrMultiProcessorCount},
      {&limits.max_smem, cudaDevAttrMaxSharedMemoryPerBlockOptin},
  };
  for (const auto& [value, attribute] : wanted)
    if (const cudaError_t status = cudaDeviceGetAttribute(value, attribute, device)) return status;
  limits.capability = 10 * major + minor;
  return cudaSuccess;
}

// Kernels need leave for more than 48 KiB of dynamic shared memory and for clusters above 8, per
// device. Asked for once and remembered: the calls cost more than a launch.
inline cudaError_t allow(const void* kernel, size_t smem, int cluster) {
  constexpr size_t kDefaultSmem = 48 * 1024;
  constexpr int kPortableCluster = 8;
  if (smem <= kDefaultSmem && cluster <= kPortableCluster) return cudaSuccess;

  struct Leave {
    size_t smem = kDefaultSmem;
    int cluster = kPortableCluster;
  };
  static std::mutex mutex;
  static auto& leaves =
      *new std::map<std::pair<const void*, int>, Leave>;  // outlives exit handlers
  int device = 0;
  if (const cudaError_t status = cudaGetDevice(&device)) return status;
  const std::lock_guard lock(mutex);
  Leave& leave = leaves[{kernel, device}];
  if (smem > leave.smem) {
    const cudaError_t status = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(smem));
    if (status != cudaSuccess) return status;
    leave.smem = smem;
  }
  if (cluster > leave.cluster) {
    const cudaError_t status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (status != cudaSuccess) return status;
    leave.cluster = cluster;
  }
  return cudaSuccess;
}

}  // namespace detail

// Limits of the current device, read once for each device.
inline cudaError_t device_limits(DeviceLimits& limits) {
  constexpr int kCached = 64;
  static std::once_flag once[kCached];
  static DeviceLimits cache[kCached];
  static cudaError_t statuses[kCached];
  int device = 0;
  if (const cudaError_t status = cudaGetDevice(&device)) return status;
  if (device >= kCached) return detail::read_limits(device, limits);
  std::call_once(once[device],
                 [&] { statuses[device] = detail::read_limits(device, cache[device]); });
  limits = cache[device];
  return statuses[device];
}

// Whether clusters of this kernel can be launched on the current device: it needs hardware for
// them, and code that was compiled for it (__CUDA_ARCH__ >= 900), which PTX of 8.0 translated at
// load time is not.
inline cudaError_t supports_clusters(const void* kernel, bool& supported) {
  constexpr int kFirstWithClusters = 90;
  DeviceLimits limits;
  if (const cudaError_t status = device_limits(limits)) return status;
  supported = false;
  if (limits.capability < kFirstWithClusters) return cudaSuccess;
  cudaFuncAttributes attributes{};
  if (const cudaError_t status = cudaFuncGetAttributes(&attributes, kernel)) return status;
  supported = attributes.ptxVersion >= kFirstWithClusters;
  return cudaSuccess;
}

// Starts kernel<<<...>>>(args...) on the current device and returns the launch's status. An error
// is returned here once and does not linger for the next call.
template <typename... Params, typename... Args>
cudaError_t launch(void (*kernel)(Params...), const LaunchConfig& config, Args&&... args) {
  const auto* function = reinterpret_cast<const void*>(kernel);
  if (const cudaError_t status = detail::allow(function, config.smem, config.cluster)) {
    cudaGetLastError();
    return status;
  }
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(config.cluster), 1, 1};
  cudaLaunchConfig_t launch_config{};
  launch_config.gridDim = config.grid;
  launch_config.blockDim = config.block;
  launch_config.dynamicSmemBytes = config.smem;
  launch_config.stream = config.stream;
  launch_config.attrs = &attribute;
  launch_config.numAttrs = config.cluster > 1 ? 1 : 0;
  const cudaError_t status =
      cudaLaunchKernelEx(&launch_config, kernel, std::forward<Args>(args)...);
  if (status != cudaSuccess) cudaGetLastError();
  return status;
}

}  // namespace ww
