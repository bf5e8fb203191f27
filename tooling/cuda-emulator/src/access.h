// Whether a kernel's loads and stores are allowed: asked for every one in the check build, and in
// the others for those that the library makes on a kernel's behalf.
#pragma once

#include "race.h"
#include "run.h"

namespace cudaemu {

// Of the calling fiber. Fails unless the bytes are all in one live allocation, one shared variable
// (in the check build, see check_race), the thread's own stack, or data that an addon was loaded
// with.
void check_access(const void* address, size_t bytes, Access access, Site site, const void* code);

// The same for what has to be in the block's own shared memory, at a multiple of `alignment`;
// `what` names the instruction.
void check_own_shared(const char* what, const void* address, size_t bytes, size_t alignment,
                      Access access, Site site);

}  // namespace cudaemu
