// Stores to global memory (PTX ISA, "st").
#pragma once

#include <cstdint>

namespace ww {

// One access to 16 bytes at a 16-byte boundary. Of an assignment in C++, which other memory
// accesses surround, the compiler may make four.
__device__ inline void store_global(void* ptr, const uint32_t (&words)[4]) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(ptr)),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

}  // namespace ww
