// Whether accesses to shared memory are ordered by barriers. Between warps by vector clocks, one
// clock a warp; inside a warp by its epoch, which every barrier and __syncwarp advances. A
// __syncwarp of part of a warp counts for all of it: a race may be missed then, never invented.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudaemu {

struct Block;
struct Site;
struct Thread;
struct Warp;

enum class Access { read, write, atomic, copy };

// What the last write of a byte was. A copy that nobody has waited for may still write it.
enum class Write : uint8_t { plain, atomic, pending_copy };

// Who has touched a byte. Epochs begin at 1; 0 is nobody.
struct Cell {
  struct Reader {
    uint32_t epoch = 0;
    uint16_t thread = 0;
    bool several_lanes = false;
  };
  // Two readers of different warps are enough to see that a write by either is not ordered behind
  // the other; the third is of another block of the cluster.
  Reader readers[3];
  uint32_t write_epoch = 0;
  uint16_t writer = 0;
  bool written = false;
  Write kind = Write::plain;
};

void start_clock(Warp& warp, size_t warps);
// After a barrier of these threads everything before it is ordered before everything behind it.
void order_across(const std::vector<Thread*>& threads);
void order_within(Warp& warp);

// Fails unless what other blocks have done to the exiting block's memory is ordered before its end.
void check_exit(const Block& block);

// Checks and records the calling fiber's access; fails where it is a fault.
void check_race(Cell* cells, const void* address, size_t bytes, Access access, Site site,
                const void* code);

// The calling fiber has waited for its copy to these bytes, which counts as its write of them. From
// Access::copy until then every access is a fault.
void finish_copy(Cell* cells, size_t bytes);

}  // namespace cudaemu
