// Keeps apart what may not happen at the same time anywhere in the process: captures, and calls
// that would break one or become part of it.
#pragma once

#include <functional>

#include "warpwright/cuda_types.h"

namespace ww {

// Whether any thread is capturing.
bool captures_under_way();

// begin(), and if it succeeds, a capture more until close_capture(). Waits for calls that no
// capture may run beside.
cudaError_t open_capture(const std::function<cudaError_t()>& begin);
void close_capture();

// Runs f now or, while any thread is capturing, on the thread that ends the last capture: freeing
// memory would become part of the graph, waiting for a device would break it.
void outside_captures(std::function<void()> f);

// Runs f unless a thread is capturing. Whether it did.
bool unless_capturing(const std::function<void()>& f);

}  // namespace ww
