// Pinned host memory that copies between host and device go through. Pinning costs milliseconds, so
// buffers are kept for the next copy.
#pragma once

#include <cstddef>

#include "cuda_backend.h"

namespace ww {

// Long enough for the 2 us between two copies of a stream not to count beside the 76 us that this
// one takes at 55 GB/s; short enough for a ring of them to stay in the CPU's last-level cache, so
// that a copy reads and writes DRAM once.
inline constexpr size_t kMaxStagingBytes = size_t{4} << 20;

struct Staging {
  int device;    // of the event
  size_t bytes;  // a power of two
  void* data;
  cuda::Event ready;  // recorded by the user after the copy that fills or reads the buffer
  // Of the last copy; compared, never used.
  cudaStream_t stream;
};

// A buffer of at least `bytes`, which are at most kMaxStagingBytes. Never one that a copy, left
// behind by an environment that ended, may still be filling.
cudaError_t take_staging(int device, size_t bytes, Staging** staging);

// The same for a ring of buffers that are given back right after record_staging: where `most` of
// them are still in use by copies on this stream, waits for the oldest.
cudaError_t take_ring_staging(cuda::Stream stream, size_t bytes, size_t most, Staging** staging);

// Marks the end of the copy that `stream` was just given. After a failure the copy has happened.
cudaError_t record_staging(Staging* staging, cuda::Stream stream);

// The copy recorded last may still be under way.
void give_back_staging(Staging* staging);

// Gives the device's buffers that are not taken back to the system; waits for copies under way.
void drop_kept_staging(int device);

// Bytes of the buffers that are taken at the moment.
size_t taken_staging_bytes();

}  // namespace ww
