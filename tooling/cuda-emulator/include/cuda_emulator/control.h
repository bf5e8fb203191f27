// The emulator's own switches, for tests.
#pragma once

#include "device_api.h"

// The first fault's report, "" if there has been none.
CUDAEMU_API const char* cudaemu_report();
// Runs what is queued and forgets a fault: the calls work again. What the fault kept from being
// freed stays allocated.
CUDAEMU_API void cudaemu_reset();
// The order of threads, blocks and streams from here on; 0 is the natural one.
CUDAEMU_API void cudaemu_set_seed(uint64_t seed);
