// Devices that a CUDA error has made unusable for the rest of the process.
#pragma once

#include <atomic>
#include <cstdint>

#include "warpwright/cuda_types.h"

namespace ww {

// Notes a status other than success that a call on the device gave. Most that make a device
// unusable do so to all devices of the process.
void report_status(int32_t device, cudaError_t status);

// Null inside while the device is usable, else the first error that made it unusable,
// "name: text". The place itself stays for good.
const std::atomic<const char*>& lost_cause(int32_t device);

}  // namespace ww
