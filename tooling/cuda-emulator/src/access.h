// The check build's view of a kernel's loads and stores.
#pragma once

#include "race.h"
#include "run.h"

namespace cudaemu {

// Of the calling fiber. Fails unless the bytes are all in one live allocation, one shared variable
// (see check_race), the thread's own stack, or data that an addon was loaded with.
void check_access(const void* address, size_t bytes, Access access, Site site, const void* code);

}  // namespace cudaemu
