// The one pool of threads that CPU work of every addon runs on.
#pragma once

#include <cstdint>

namespace ww {

// See RuntimeApi::parallel_for. Several threads may call it at once; the workers serve all of them.
void parallel_for(int64_t count, int64_t grain,
                  void (*body)(void* context, int64_t begin, int64_t end), void* context);

// Threads a call runs on, the calling one included; at least 1. Workers start with the next call
// that needs them and end by themselves when there are too many.
void set_num_threads(int count);
// The same, unless a count has been set in this process.
void init_num_threads(int count);
int num_threads();

}  // namespace ww
