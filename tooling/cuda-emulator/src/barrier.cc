// Barriers of a block and of a cluster. The last thread to arrive releases the others and goes on.

#include "race.h"
#include "report.h"
#include "run.h"
#include "shared_memory.h"

namespace cudaemu {
namespace {

constexpr unsigned kWarpSize = 32;

void release(Barrier& barrier) {
  Run& run = *current_run;
  if (run.checked()) order_across(barrier.arrived);
  for (Thread* thread : barrier.arrived)
    if (thread != current) run.wake(*thread);
  barrier.arrived.clear();
}

// All of a block meet at one barrier(), not at two that happen to have the same number; with a
// count of threads, as producers and consumers have it, the places differ by design.
void require_same(const Barrier& barrier, unsigned expected, bool whole_block, Site site) {
  if (barrier.expected != expected)
    fail(cudaErrorLaunchFailure,
         format("divergent barrier: %u threads are expected here and %u where the others wait, %s",
                expected, barrier.expected, format_site(barrier.site).c_str()),
         site);
  if (whole_block && (barrier.site.line != site.line || barrier.site.file != site.file))
    fail(cudaErrorLaunchFailure,
         format("divergent barrier: others wait at another one, %s",
                format_site(barrier.site).c_str()),
         site);
}

void arrive(Barrier& barrier, unsigned expected, bool whole_block, Site site, const char* name) {
  if (barrier.arrived.empty()) {
    barrier.expected = expected;
    barrier.site = site;
  }
  require_same(barrier, expected, whole_block, site);
  barrier.arrived.push_back(current);
  if (barrier.arrived.size() == expected) return release(barrier);
  current_run->wait(name, site);
}

}  // namespace
}  // namespace cudaemu

using namespace cudaemu;

CUDAEMU_API void cudaemu_barrier(int id, unsigned threads, Site site) {
  if (id < 0 || id >= kNumBarriers || threads % kWarpSize != 0 ||
      threads > current_run->threads_per_block())
    fail(cudaErrorLaunchFailure,
         format("invalid barrier %d of %u threads: there are 16, and whole warps take part", id,
                threads),
         site);
  const bool whole_block = threads == 0;
  arrive(current->block->barriers[id], whole_block ? current_run->threads_per_block() : threads,
         whole_block, site, "barrier");
}

// The predicates are counted by those who pass the first barrier; the second keeps them in place
// until all have been counted.
CUDAEMU_API int cudaemu_barrier_reduce(WarpOp op, int predicate, Site site) {
  current->request.value = predicate != 0;
  cudaemu_barrier(0, 0, site);
  unsigned count = 0;
  const unsigned threads = current_run->threads_per_block();
  const unsigned first = current->block->warps->id * kWarpSize;
  for (unsigned i = 0; i < threads; ++i) count += current_run->thread(first + i).request.value != 0;
  cudaemu_barrier(0, 0, site);
  if (op == WarpOp::ballot) return static_cast<int>(count);
  return op == WarpOp::any ? count > 0 : count == threads;
}

CUDAEMU_API void cudaemu_cluster_barrier(Site site) {
  const auto blocks = static_cast<unsigned>(current_run->blocks().size());
  arrive(current_run->cluster_barrier(), blocks * current_run->threads_per_block(), true, site,
         "cluster barrier");
}

CUDAEMU_API unsigned cudaemu_cluster_size() {
  return static_cast<unsigned>(current_run->blocks().size());
}

CUDAEMU_API unsigned cudaemu_cluster_rank() { return current->block->rank; }
