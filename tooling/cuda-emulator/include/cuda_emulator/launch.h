// Launches: the arguments are copied as the kernel's parameter types and travel to the library.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "device_api.h"

namespace cudaemu {

#if defined(CUDAEMU_CHECKED)
inline constexpr bool kChecked = true;
#else
inline constexpr bool kChecked = false;
#endif
inline constexpr int kArchitecture = __CUDA_ARCH__ / 10;

inline const bool kAbiChecked = (cudaemu_require_abi(kAbi), true);

template <typename... Params>
void invoke(const void* kernel, const void* arguments) {
  auto* function = reinterpret_cast<void (*)(Params...)>(const_cast<void*>(kernel));
  std::apply(function, *static_cast<const std::tuple<Params...>*>(arguments));
}

}  // namespace cudaemu

template <typename... Params, typename... Args>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                                      Args&&... args) {
  static_assert((std::is_trivially_copyable_v<Params> && ...));
  std::tuple<Params...> arguments(std::forward<Args>(args)...);
  // What lies there else may look like an address that the kernel is given.
  __builtin_clear_padding(&arguments);
  const cudaemu::KernelCall call{.kernel = reinterpret_cast<const void*>(kernel),
                                 .invoke = cudaemu::invoke<Params...>,
                                 .arguments = &arguments,
                                 .argument_bytes = sizeof(arguments),
                                 .architecture = cudaemu::kArchitecture,
                                 .checked = cudaemu::kChecked};
  return cudaemu_launch(config, &call);
}

inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return cudaemu_kernel_attributes(attributes, kernel, cudaemu::kArchitecture);
}

template <typename T>
inline cudaError_t cudaMallocAsync(T** data, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(data), bytes, stream);
}
