#include "device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "../include/cuda.h"
#include "api.h"
#include "capture.h"
#include "memory.h"

struct CUctx_st {
  int device;
};

namespace cudaemu {
namespace {

CUctx_st contexts[kDevices] = {{0}, {1}};
thread_local int context = -1;
thread_local cudaError_t last_error = cudaSuccess;

bool is_device(int device) { return 0 <= device && device < device_count(); }

const char* variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

}  // namespace

std::mutex& api_mutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

cudaError_t settle(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}

int current_device() { return std::max(context, 0); }
int context_device() { return context; }
void set_context_device(int device) { context = device; }

const Architecture& architecture() {
  static const Architecture k90{90, 227 << 10, 16};
  static const Architecture k80{80, 163 << 10, 1};
  static const bool old = std::string_view(variable("WARPWRIGHT_EMULATOR_ARCH", "90")) == "80";
  return old ? k80 : k90;
}

int device_count() {
  static const int count =
      std::clamp(std::atoi(variable("WARPWRIGHT_EMULATOR_DEVICES", "2")), 0, kDevices);
  return count;
}

}  // namespace cudaemu

using namespace cudaemu;

CUDAEMU_API cudaError_t cudaGetLastError() {
  const cudaError_t status = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return status;
}

CUDAEMU_API cudaError_t cudaPeekAtLastError() {
  const std::lock_guard lock(api_mutex());
  return fault_status() != cudaSuccess ? fault_status() : last_error;
}

CUDAEMU_API cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

CUDAEMU_API cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

CUDAEMU_API cudaError_t cudaGetDeviceCount(int* count) {
  *count = device_count();
  return settle(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

CUDAEMU_API cudaError_t cudaGetDevice(int* device) {
  *device = current_device();
  return cudaSuccess;
}

CUDAEMU_API cudaError_t cudaSetDevice(int device) {
  const std::lock_guard lock(api_mutex());
  if (!is_device(device)) return settle(cudaErrorInvalidDevice);
  if (fault_status() != cudaSuccess) return settle(fault_status());
  context = device;
  return cudaSuccess;
}

CUDAEMU_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!is_device(device)) return settle(cudaErrorInvalidDevice);
  const std::pair<cudaDeviceAttr, size_t> values[] = {
      {cudaDevAttrMaxThreadsPerBlock, kMaxThreads},
      {cudaDevAttrMaxSharedMemoryPerBlock, kDefaultSharedBytes},
      {cudaDevAttrWarpSize, 32},
      {cudaDevAttrMultiProcessorCount, kMultiprocessors},
      {cudaDevAttrMaxThreadsPerMultiProcessor, 2 * kMaxThreads},
      {cudaDevAttrComputeCapabilityMajor, architecture().capability / 10},
      {cudaDevAttrComputeCapabilityMinor, architecture().capability % 10},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, architecture().shared_bytes},
      {cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0},
  };
  for (const auto& [known, of_device] : values)
    if (known == attribute) {
      *value = static_cast<int>(of_device);
      return cudaSuccess;
    }
  return settle(cudaErrorInvalidValue);
}

CUDAEMU_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!is_device(device)) return settle(cudaErrorInvalidDevice);
  const auto capability = static_cast<int>(architecture().capability);
  *properties = {.name = {},
                 .totalGlobalMem = device_memory().total(),
                 .sharedMemPerBlock = kDefaultSharedBytes,
                 .sharedMemPerBlockOptin = architecture().shared_bytes,
                 .warpSize = 32,
                 .maxThreadsPerBlock = kMaxThreads,
                 .major = capability / 10,
                 .minor = capability % 10,
                 .multiProcessorCount = kMultiprocessors};
  std::snprintf(properties->name, sizeof(properties->name), "Emulator of sm_%d", capability);
  return cudaSuccess;
}

CUDAEMU_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!is_device(device) || !is_device(peer)) return settle(cudaErrorInvalidDevice);
  *can = device != peer;
  return cudaSuccess;
}

namespace {

CUresult get_current(CUcontext* result) {
  *result = context < 0 ? nullptr : &contexts[context];
  return CUDA_SUCCESS;
}

CUresult set_current(CUcontext to) {
  context = to == nullptr ? -1 : to->device;
  return CUDA_SUCCESS;
}

CUresult record_context(CUcontext of, CUevent event) {
  if (of == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const cudaError_t status = call([&] {
    if (const cudaError_t status = forbid_capturing_on(of->device)) return status;
    event->capture = nullptr;
    event->point = record_device(of->device);
    return cudaSuccess;
  });
  return static_cast<CUresult>(status);  // both have the same numbers
}

}  // namespace

CUDAEMU_API cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** address, unsigned,
                                                         unsigned long long,
                                                         cudaDriverEntryPointQueryResult* found) {
  const std::pair<std::string_view, void*> functions[] = {
      {"cuCtxGetCurrent", reinterpret_cast<void*>(get_current)},
      {"cuCtxSetCurrent", reinterpret_cast<void*>(set_current)},
      {"cuCtxRecordEvent", reinterpret_cast<void*>(record_context)},
  };
  *address = nullptr;
  for (const auto& [known, function] : functions)
    if (known == name) *address = function;
  if (found != nullptr)
    *found = *address == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
