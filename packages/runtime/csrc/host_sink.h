// Filling host memory that may not have its pages yet, such as a fresh array of JavaScript's.
#pragma once

#include <cstddef>

namespace ww {

// Writes a block of memory from its start to its end. The first touch of a page costs several times
// what copying to it does, so the pages are made ahead, in pieces large enough for all threads:
// huge ones where the system has them, one to a thread.
class HostSink {
 public:
  // Copies `size` bytes to `offset` of the `bytes` bytes at `data`.
  void write(void* data, size_t bytes, size_t offset, const void* src, size_t size);

 private:
  size_t populated_ = 0;
};

// The same for a block as a whole, from host memory that it does not overlap.
void fill_host(void* data, const void* src, size_t bytes);

}  // namespace ww
