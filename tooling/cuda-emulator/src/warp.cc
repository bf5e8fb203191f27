// Collectives of a warp: each lane leaves its request and waits, the last of the mask computes for
// all. Groups with different masks may be under way at once.

#include <algorithm>

#include "matrix.h"
#include "race.h"
#include "report.h"
#include "run.h"

namespace cudaemu {
namespace {

constexpr const char* kNames[] = {
    "__syncwarp", "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync",
    "__any_sync", "__all_sync",  "__ballot_sync",  "ldmatrix",         "mma.sync"};

const char* name(WarpOp op) { return kNames[static_cast<int>(op)]; }

// The lane a shuffle reads; its own where that would leave the segment of `width` lanes.
int source_lane(WarpOp op, int lane, const WarpRequest& request) {
  const int begin = lane & -request.width;
  const int end = begin + request.width;
  switch (op) {
    case WarpOp::shuffle:
      return begin + (request.argument & (request.width - 1));
    case WarpOp::shuffle_up:
      return lane - request.argument < begin ? lane : lane - request.argument;
    case WarpOp::shuffle_down:
      return lane + request.argument >= end ? lane : lane + request.argument;
    default:
      return (lane ^ request.argument) >= end ? lane : lane ^ request.argument;
  }
}

void shuffle(Warp& warp, const WarpGroup& group, Site site) {
  uint64_t values[32];
  for (unsigned rest = group.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    values[lane] = warp.threads[lane].request.value;
  }
  for (unsigned rest = group.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const int source = source_lane(group.op, lane, warp.threads[lane].request);
    if (source < 0 || source > 31 || (group.mask >> source & 1) == 0)
      fail(cudaErrorLaunchFailure,
           format("inactive lane: lane %d reads lane %d, which does not take part in the %s of "
                  "mask 0x%x",
                  lane, source, name(group.op), group.mask),
           site);
    warp.threads[lane].request.value = values[source];
  }
}

void vote(Warp& warp, const WarpGroup& group) {
  unsigned ballot = 0;
  for (unsigned rest = group.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (warp.threads[lane].request.value != 0) ballot |= 1u << lane;
  }
  uint64_t result = ballot;
  if (group.op == WarpOp::any) result = ballot != 0;
  if (group.op == WarpOp::all) result = ballot == group.mask;
  for (unsigned rest = group.mask; rest != 0; rest &= rest - 1)
    warp.threads[__builtin_ctz(rest)].request.value = result;
}

void complete(Warp& warp, const WarpGroup& group, Site site) {
  switch (group.op) {
    case WarpOp::sync:
      if (current_run->checked()) order_within(warp);
      break;
    case WarpOp::any:
    case WarpOp::all:
    case WarpOp::ballot:
      vote(warp, group);
      break;
    case WarpOp::ldmatrix:
      load_matrices(warp, site);
      break;
    case WarpOp::mma:
      multiply_matrices(warp, site);
      break;
    default:
      shuffle(warp, group, site);
  }
  for (unsigned rest = group.mask; rest != 0; rest &= rest - 1) {
    Thread& thread = warp.threads[__builtin_ctz(rest)];
    if (&thread != current) current_run->wake(thread);
  }
}

void require_valid(const Warp& warp, WarpOp op, unsigned mask, int width, Site site) {
  if ((mask >> current->lane & 1) == 0)
    fail(cudaErrorLaunchFailure,
         format("inactive lane: lane %u calls %s with mask 0x%x, which does not name it",
                current->lane, name(op), mask),
         site);
  if (mask & warp.exited)
    fail(cudaErrorLaunchFailure,
         format("inactive lane: mask 0x%x of %s names lane %d, which has exited", mask, name(op),
                __builtin_ctz(mask & warp.exited)),
         site);
  if (width <= 0 || width > 32 || (width & (width - 1)) != 0)
    fail(cudaErrorLaunchFailure, format("invalid width %d of %s", width, name(op)), site);
}

}  // namespace
}  // namespace cudaemu

using namespace cudaemu;

CUDAEMU_API uint64_t cudaemu_warp(WarpOp op, unsigned mask, uint64_t value, int argument, int width,
                                  Site site) {
  Thread& thread = *current;
  Warp& warp = *thread.warp;
  mask &= warp.existing;  // a full mask in a warp that is not full
  require_valid(warp, op, mask, width, site);
  thread.request = {op, value, argument, width};
  auto group = std::ranges::find(warp.groups, mask, &WarpGroup::mask);
  if (group == warp.groups.end()) group = warp.groups.insert(group, {op, mask, 0});
  if (group->op != op)
    fail(cudaErrorLaunchFailure,
         format("divergent collective: other lanes of mask 0x%x wait in %s", mask, name(group->op)),
         site);
  group->arrived |= 1u << thread.lane;
  if (group->arrived != mask) {
    current_run->wait(name(op), site);
  } else {
    const WarpGroup full = *group;
    warp.groups.erase(group);
    complete(warp, full, site);
  }
  return thread.request.value;
}

CUDAEMU_API unsigned cudaemu_active_mask() {
  return current->warp->existing & ~current->warp->exited;
}
