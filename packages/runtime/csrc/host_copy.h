// Copies between pageable host memory and a device, at the speed of the link.
#pragma once

#include <cstddef>

#include "cuda_backend.h"

namespace ww {

// In stream order; the source may be changed when this returns.
cudaError_t upload(cuda::Stream stream, void* dst, const void* src, size_t bytes);

// In stream order; has happened when this returns.
cudaError_t download(cuda::Stream stream, void* dst, const void* src, size_t bytes);

// Microseconds that the link takes for the bytes in either direction: copies of one pinned buffer,
// over and over. What the others are measured against.
cudaError_t measure_link(int device, size_t bytes, bool to_device, double* microseconds);

}  // namespace ww
