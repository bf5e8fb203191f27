#include "race.h"

#include <algorithm>
#include <span>

#include "report.h"
#include "run.h"
#include "shared_memory.h"

namespace cudaemu {
namespace {

constexpr unsigned kWarpSize = 32;

uint32_t epoch(const Warp& warp) { return warp.clock[warp.id]; }

bool is_ordered(uint32_t then, unsigned thread) {
  const Warp& warp = *current->warp;
  const unsigned other = thread / kWarpSize;
  if (other != warp.id) return then <= warp.clock[other];
  return thread == current->id || then < epoch(warp);
}

bool is_ordered(const Cell::Reader& reader) {
  if (reader.epoch == 0) return true;
  if (reader.several_lanes && reader.thread / kWarpSize == current->warp->id)
    return reader.epoch < epoch(*current->warp);
  return is_ordered(reader.epoch, reader.thread);
}

struct Place {
  const void* address;
  bool remote;  // in another block's memory
  Site site;
  const void* code;
};

[[noreturn]] void fail_race(const char* mine, const char* theirs, unsigned other,
                            const Place& place) {
  const Thread& thread = current_run->thread(other);
  fail(cudaErrorLaunchFailure,
       format("shared memory race: %s of %s, %s by %s of %s with no barrier between", mine,
              shared_memory().describe(place.address).c_str(), theirs,
              format_index("thread", thread.index).c_str(),
              thread.block == current->block ? "the block"
                                             : format_index("block", thread.block->index).c_str()),
       place.site, place.code);
}

// Who waits sees only his own copies, and others see them behind a barrier: until then nobody may
// touch the bytes.
void require_no_copy(const Cell& cell, const char* mine, const Place& place) {
  if (!cell.written || cell.kind != Write::pending_copy) return;
  fail(cudaErrorLaunchFailure,
       format("%s of %s while a cp.async of %s writes it: the wait, or the barrier behind it, is "
              "missing",
              mine, shared_memory().describe(place.address).c_str(),
              format_index("thread", current_run->thread(cell.writer).index).c_str()),
       place.site, place.code);
}

void note_read(Cell& cell, const Place& place) {
  const uint32_t now = epoch(*current->warp);
  const std::span readers = cell.readers;
  for (Cell::Reader& reader : place.remote ? readers.last(1) : readers.first(2)) {
    if (is_ordered(reader)) {
      reader = {now, static_cast<uint16_t>(current->id), false};
      return;
    }
    if (reader.thread / kWarpSize == current->warp->id) {
      reader.several_lanes = true;
      return;
    }
  }
}

void check_read(Cell& cell, const Place& place) {
  if (!cell.written)
    fail(cudaErrorLaunchFailure,
         format("uninitialised read of %s: nobody has written it since the block began; a barrier "
                "may be missing",
                shared_memory().describe(place.address).c_str()),
         place.site, place.code);
  require_no_copy(cell, "read", place);
  if (!is_ordered(cell.write_epoch, cell.writer)) fail_race("read", "written", cell.writer, place);
  note_read(cell, place);
}

void check_write(Cell& cell, Access access, const Place& place) {
  const bool atomic = access == Access::atomic;
  const bool copy = access == Access::copy;
  const char* mine = atomic ? "atomic update" : copy ? "asynchronous copy" : "write";
  if (atomic && !cell.written) return check_read(cell, place);
  require_no_copy(cell, mine, place);
  const bool after_atomic = cell.kind == Write::atomic;
  if (cell.written && !(atomic && after_atomic) && !is_ordered(cell.write_epoch, cell.writer))
    fail_race(mine, after_atomic ? "updated atomically" : "written", cell.writer, place);
  for (const Cell::Reader& reader : cell.readers)
    if (!is_ordered(reader)) fail_race(mine, "read", reader.thread, place);
  cell = {};
  cell.write_epoch = epoch(*current->warp);
  cell.writer = static_cast<uint16_t>(current->id);
  cell.written = true;
  cell.kind = atomic ? Write::atomic : copy ? Write::pending_copy : Write::plain;
}

}  // namespace

void start_clock(Warp& warp, size_t warps) {
  warp.clock.assign(warps, 0);
  warp.clock[warp.id] = 1;
}

void order_across(const std::vector<Thread*>& threads) {
  std::vector<Warp*> warps;
  for (Thread* thread : threads)
    if (warps.empty() || warps.back() != thread->warp) warps.push_back(thread->warp);
  std::ranges::sort(warps);
  warps.erase(std::ranges::unique(warps).begin(), warps.end());
  std::vector<uint32_t> latest(warps.front()->clock.size());
  for (const Warp* warp : warps)
    std::ranges::transform(latest, warp->clock, latest.begin(),
                           [](uint32_t a, uint32_t b) { return std::max(a, b); });
  for (Warp* warp : warps) {
    warp->clock = latest;
    ++warp->clock[warp->id];
  }
}

void order_within(Warp& warp) { ++warp.clock[warp.id]; }

void check_exit(const Block& block) {
  const unsigned warps = (current_run->threads_per_block() + kWarpSize - 1) / kWarpSize;
  const unsigned first = block.warps->id;
  const auto is_before_exit = [&](uint32_t then, unsigned thread) {
    const unsigned other = thread / kWarpSize;
    for (unsigned warp = 0; warp < warps; ++warp)
      if (then <= block.warps[warp].clock[other]) return true;
    return first <= other && other < first + warps;
  };
  for (const SharedVariable& variable : shared_memory().variables()) {
    const Cell* cells = shared_memory().cells(block.rank, variable.offset);
    for (size_t i = 0; i < variable.bytes; ++i) {
      const Cell::Reader& peer = cells[i].readers[2];
      const bool read = !is_before_exit(peer.epoch, peer.thread);
      if (!read && is_before_exit(cells[i].write_epoch, cells[i].writer)) continue;
      const Thread& other = current_run->thread(read ? peer.thread : cells[i].writer);
      fail(cudaErrorIllegalAddress,
           format("exit of a block whose %s %s of the cluster may still %s: a cluster barrier is "
                  "missing",
                  variable.name, format_index("block", other.block->index).c_str(),
                  read ? "read" : "write"));
    }
  }
}

void check_race(Cell* cells, const void* address, size_t bytes, Access access, Site site,
                const void* code) {
  const bool remote = shared_memory().block_of(address) != current->block->rank;
  const Place place{address, remote, site, code};
  for (size_t i = 0; i < bytes; ++i)
    if (access == Access::read)
      check_read(cells[i], place);
    else
      check_write(cells[i], access, place);
}

void finish_copy(Cell* cells, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    cells[i].write_epoch = epoch(*current->warp);
    cells[i].kind = Write::plain;
  }
}

}  // namespace cudaemu
