// cp.async. The wait performs the copies, so a kernel that does not wait reads what was there
// before the issue, which makes it NaN; the check build reports the access.
#pragma once

#include <vector>

namespace cudaemu {

struct AsyncCopy {
  void* shared;
  const void* global;
  int bytes;
  int source_bytes;  // zeros behind them
  int group;
};

// A thread's copies.
struct CopyQueue {
  std::vector<AsyncCopy> pending;  // as they were issued
  int committed = 0;               // groups, and the number of the one that is still open

  void clear() {
    pending.clear();
    committed = 0;
  }
};

}  // namespace cudaemu
