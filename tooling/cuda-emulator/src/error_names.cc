// The names and descriptions of errors.

#include "api.h"

namespace {

struct Description {
  cudaError_t status;
  const char* name;
  const char* text;
};

#define CUDAEMU_ERROR(name, text) {name, #name, text}
constexpr Description kDescriptions[] = {
    CUDAEMU_ERROR(cudaSuccess, "no error"),
    CUDAEMU_ERROR(cudaErrorInvalidValue, "invalid argument"),
    CUDAEMU_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    CUDAEMU_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    CUDAEMU_ERROR(cudaErrorInsufficientDriver, "the driver is too old"),
    CUDAEMU_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    CUDAEMU_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    CUDAEMU_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    CUDAEMU_ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    CUDAEMU_ERROR(cudaErrorNoKernelImageForDevice, "no kernel image for the device"),
    CUDAEMU_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    CUDAEMU_ERROR(cudaErrorIllegalState, "not in a state for the operation"),
    CUDAEMU_ERROR(cudaErrorNotReady, "device not ready"),
    CUDAEMU_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    CUDAEMU_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    CUDAEMU_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    CUDAEMU_ERROR(cudaErrorNotSupported, "operation not supported"),
    CUDAEMU_ERROR(cudaErrorStreamCaptureUnsupported, "not permitted while the stream captures"),
    CUDAEMU_ERROR(cudaErrorStreamCaptureInvalidated, "an error has invalidated the capture"),
    CUDAEMU_ERROR(cudaErrorStreamCaptureMerge, "two captures would be merged"),
    CUDAEMU_ERROR(cudaErrorStreamCaptureUnmatched, "the capture began in another stream"),
    CUDAEMU_ERROR(cudaErrorStreamCaptureUnjoined, "a forked stream did not join the capture again"),
    CUDAEMU_ERROR(cudaErrorStreamCaptureIsolation, "a dependency on work outside of the capture"),
    CUDAEMU_ERROR(cudaErrorStreamCaptureImplicit, "the default stream would join the capture"),
    CUDAEMU_ERROR(cudaErrorCapturedEvent, "not permitted on an event recorded in a capture"),
    CUDAEMU_ERROR(cudaErrorInvalidClusterSize, "cluster misconfiguration"),
    CUDAEMU_ERROR(cudaErrorUnknown, "unknown error"),
};

const Description& describe(cudaError_t status) {
  for (const Description& description : kDescriptions)
    if (description.status == status) return description;
  return describe(cudaErrorUnknown);
}

}  // namespace

CUDAEMU_API const char* cudaGetErrorName(cudaError_t status) { return describe(status).name; }

CUDAEMU_API const char* cudaGetErrorString(cudaError_t status) {
  const std::lock_guard lock(cudaemu::api_mutex());
  if (status == cudaSuccess) return describe(status).text;
  static thread_local std::string report;
  report = status == cudaemu::fault_status() ? cudaemu::fault_report() : "";
  return report.empty() ? describe(status).text : report.c_str();
}
