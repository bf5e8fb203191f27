// The emulator's form of the headers' file of this name, found first by emulated builds.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

namespace ww {

inline void store_global(void* ptr, const uint32_t (&words)[4]) {
  int4 bits;
  memcpy(&bits, words, sizeof(bits));
  *static_cast<int4*>(ptr) = bits;
}

}  // namespace ww
