// Threads that may wait for a disk, which neither JavaScript's thread nor the pool's may.
#pragma once

#include <functional>

namespace ww {

// Runs `work` on one of them; works begin in the order in which they are given. On the calling
// thread if the system has none left.
void run_on_io_thread(std::function<void()> work);

// Once CUDA is in use: its exit handlers then find no thread at work. Those that were registered
// later run earlier.
void park_io_threads_before_cuda();

}  // namespace ww
