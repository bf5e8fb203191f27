// The one way a kernel is started.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace ww {

// CUDA's limit for a grid along x.
inline constexpr int64_t kMaxGridBlocks = 0x7fffffff;

struct LaunchConfig {
  dim3 grid;
  dim3 block;
  size_t smem = 0;        // dynamic shared memory in bytes
  int cluster = 1;        // blocks of a cluster, along x; above 1 from compute capability 9.0 on
  bool overlaps = false;  // the kernel calls griddepcontrol_wait() (ptx/griddepcontrol.cuh)
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

// What has been asked of the driver about a kernel on a device. Remembered, because the calls cost
// more than a launch.
struct KernelState {
  size_t smem = 0;  // dynamic shared memory that has been allowed
  bool large_clusters = false;
  int compiled_for = 0;  // 90 for __CUDA_ARCH__ 900; 0: not asked yet
};

// Calls f with the kernel's state on the current device.
template <typename F>
cudaError_t with_state(const void* kernel, F&& f) {
  static std::mutex mutex;
  // On the heap for good: a kernel may be launched from an exit handler.
  static auto& states = *new std::map<std::pair<const void*, int>, KernelState>;
  int device = 0;
  if (const cudaError_t status = cudaGetDevice(&device)) return status;
  const std::lock_guard lock(mutex);
  return f(states[{kernel, device}]);
}

// Dynamic shared memory beyond what is left of 48 KiB beside the kernel's static variables, and
// clusters above 8, have to be asked for.
inline cudaError_t allow(const void* kernel, size_t smem, int cluster) {
  constexpr int kPortableCluster = 8;
  if (smem == 0 && cluster <= kPortableCluster) return cudaSuccess;
  return with_state(kernel, [&](KernelState& state) {
    if (smem > state.smem) {
      const cudaError_t status = cudaFuncSetAttribute(
          kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(smem));
      if (status != cudaSuccess) return status;
      state.smem = smem;
    }
    if (cluster > kPortableCluster && !state.large_clusters) {
      const cudaError_t status =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
      if (status != cudaSuccess) return status;
      state.large_clusters = true;
    }
    return cudaSuccess;
  });
}

// Passes the status on, and takes it off the thread's record, where the next call would find it.
inline cudaError_t reported(cudaError_t status) {
  if (status != cudaSuccess) cudaGetLastError();
  return status;
}

}  // namespace detail

// Limits of the current device, read once for each device.
inline cudaError_t device_limits(DeviceLimits& limits) {
  static std::mutex mutex;
  static auto& known = *new std::map<int, DeviceLimits>;  // on the heap as above
  int device = 0;
  if (const cudaError_t status = cudaGetDevice(&device)) return detail::reported(status);
  const std::lock_guard lock(mutex);
  const auto found = known.find(device);
  if (found != known.end()) {
    limits = found->second;
    return cudaSuccess;
  }
  if (const cudaError_t status = detail::read_limits(device, limits))
    return detail::reported(status);
  known[device] = limits;
  return cudaSuccess;
}

// Whether clusters of this kernel can be launched on the current device: it needs hardware for
// them, and code that was compiled for it (__CUDA_ARCH__ >= 900), which PTX of 8.0 translated at
// load time is not.
inline cudaError_t supports_clusters(const void* kernel, bool& supported) {
  constexpr int kFirstWithClusters = 90;
  supported = false;
  DeviceLimits limits;
  if (const cudaError_t status = device_limits(limits)) return status;
  if (limits.capability < kFirstWithClusters) return cudaSuccess;
  return detail::reported(detail::with_state(kernel, [&](detail::KernelState& state) {
    if (state.compiled_for == 0) {
      cudaFuncAttributes attributes{};
      if (const cudaError_t status = cudaFuncGetAttributes(&attributes, kernel)) return status;
      state.compiled_for = attributes.ptxVersion;
    }
    supported = state.compiled_for >= kFirstWithClusters;
    return cudaSuccess;
  }));
}

// Starts kernel<<<...>>>(args...) on the current device and returns the launch's status. An error
// is returned here once and does not linger for the next call.
template <typename... Params, typename... Args>
cudaError_t launch(void (*kernel)(Params...), const LaunchConfig& config, Args&&... args) {
  const auto* function = reinterpret_cast<const void*>(kernel);
  if (const cudaError_t status = detail::allow(function, config.smem, config.cluster))
    return detail::reported(status);
  cudaLaunchAttribute attributes[2]{};
  unsigned count = 0;
  if (config.cluster > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {static_cast<unsigned>(config.cluster), 1, 1};
  }
  if (config.overlaps) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchConfig_t launch_config{};
  launch_config.gridDim = config.grid;
  launch_config.blockDim = config.block;
  launch_config.dynamicSmemBytes = config.smem;
  launch_config.stream = config.stream;
  launch_config.attrs = attributes;
  launch_config.numAttrs = count;
  return detail::reported(cudaLaunchKernelEx(&launch_config, kernel, std::forward<Args>(args)...));
}

}  // namespace ww
