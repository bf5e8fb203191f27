#include "run.h"

#include <numeric>

#include "asan.h"
#include "race.h"
#include "report.h"
#include "shared_memory.h"
#include "signals.h"

extern "C" {
__attribute__((visibility("default"))) constinit thread_local uint3 threadIdx{};
__attribute__((visibility("default"))) constinit thread_local uint3 blockIdx{};
__attribute__((visibility("default"))) constinit thread_local dim3 blockDim{};
__attribute__((visibility("default"))) constinit thread_local dim3 gridDim{};
}

namespace cudaemu {

constexpr unsigned kWarpSize = 32;

constinit thread_local Thread* current = nullptr;
Run* current_run = nullptr;

Run::Run(const Launch& launch, uint64_t seed)
    : launch_(&launch),
      random_(seed),
      threads_per_block_(launch.block.x * launch.block.y * launch.block.z),
      warps_per_block_((threads_per_block_ + kWarpSize - 1) / kWarpSize),
      blocks_(launch.cluster),
      warps_(launch.cluster * warps_per_block_),
      threads_(warps_.size() * kWarpSize),
      ready_(threads_.size()) {
  shared_memory().start_launch(launch.cluster, launch.dynamic_bytes, checked());
  current_run = this;
  catch_signals();
  blockDim = launch.block;
  gridDim = launch.grid;
}

Run::~Run() {
  for (Thread& thread : threads_) end_fiber(thread.fiber);
  current_run = nullptr;
}

// In the order of a stride that visits every cluster once.
void Run::execute() {
  const dim3 grid = launch_->grid;
  const uint64_t clusters = uint64_t{grid.x} * grid.y * grid.z / launch_->cluster;
  uint64_t stride = 1;
  if (random_.active()) stride = 1 + random_.below(clusters);
  while (std::gcd(stride, clusters) != 1) ++stride;
  uint64_t cluster = random_.below(clusters);
  for (uint64_t i = 0; i < clusters && fault_status() == cudaSuccess; ++i) {
    start_cluster(cluster * launch_->cluster);
    run_threads();
    cluster = (cluster + stride) % clusters;
  }
}

void Run::start_cluster(uint64_t first_block) {
  shared_memory().start_cluster();
  ready_begin_ = 0;
  ready_count_ = 0;
  cluster_barrier_.arrived.clear();
  for (unsigned rank = 0; rank < launch_->cluster; ++rank) start_block(rank, first_block + rank);
}

void Run::start_block(unsigned rank, uint64_t linear_index) {
  const dim3 grid = launch_->grid;
  const dim3 dims = launch_->block;
  Block& block = blocks_[rank];
  block.index = {static_cast<unsigned>(linear_index % grid.x),
                 static_cast<unsigned>(linear_index / grid.x % grid.y),
                 static_cast<unsigned>(linear_index / grid.x / grid.y)};
  block.rank = rank;
  block.live_threads = threads_per_block_;
  block.warps = &warps_[rank * warps_per_block_];
  for (Barrier& barrier : block.barriers) barrier.arrived.clear();
  for (unsigned w = 0; w < warps_per_block_; ++w) {
    Warp& warp = block.warps[w];
    warp.id = rank * warps_per_block_ + w;
    warp.threads = &threads_[warp.id * kWarpSize];
    warp.existing = 0;
    warp.exited = 0;
    warp.groups.clear();
    if (checked()) start_clock(warp, warps_.size());
  }
  for (unsigned i = 0; i < threads_per_block_; ++i) {
    Warp& warp = block.warps[i / kWarpSize];
    Thread& thread = warp.threads[i % kWarpSize];
    thread.index = {i % dims.x, i / dims.x % dims.y, i / dims.x / dims.y};
    thread.lane = i % kWarpSize;
    thread.id = warp.id * kWarpSize + thread.lane;
    thread.block = &block;
    thread.warp = &warp;
    thread.exited = false;
    thread.copies.clear();
    warp.existing |= 1u << thread.lane;
    wake(thread);
  }
}

void Run::run_threads() {
  while (ready_count_ > 0 && failure_.thread == nullptr) {
    Thread*& first = ready_[ready_begin_];
    if (random_.active()) {
      const size_t other = (ready_begin_ + random_.below(ready_count_)) % ready_.size();
      std::swap(first, ready_[other]);
    }
    Thread& thread = *first;
    ready_begin_ = (ready_begin_ + 1) % ready_.size();
    --ready_count_;
    resume(thread);
  }
  if (failure_.thread != nullptr) {
    std::string where = format_site(failure_.site).c_str();
    if (failure_.code != nullptr) where = source_line(failure_.code);
    report(*failure_.thread, failure_.status, failure_.what.c_str(), where);
    return;
  }
  for (const Block& block : blocks_)
    if (block.live_threads > 0) return report_deadlock();
}

void Run::resume(Thread& thread) {
  if (thread.fiber.stack == nullptr) start_fiber(thread.fiber, thread_entry);
  threadIdx = thread.index;
  blockIdx = thread.block->index;
  current = &thread;
  switch_to(thread.fiber);
  current = nullptr;
  if (thread.exited) end_fiber(thread.fiber);
}

void Run::thread_entry() {
  enter_fiber();
  Run& run = *current_run;
  run.launch_->call.invoke(run.launch_->call.kernel, run.launch_->arguments.data());
  Thread& thread = *current;
  run.leave(thread);
  switch_back(thread.fiber, true);
  __builtin_unreachable();
}

void Run::leave(Thread& thread) {
  const unsigned bit = 1u << thread.lane;
  for (const WarpGroup& group : thread.warp->groups)
    if (group.mask & bit)
      fail(cudaErrorLaunchFailure,
           format("inactive lane: the thread exits while others wait for it in a collective of "
                  "mask 0x%x",
                  group.mask),
           thread.warp->threads[__builtin_ctz(group.arrived)].site, nullptr);
  const bool ends_block = thread.block->live_threads == 1;
  if (ends_block && checked() && launch_->cluster > 1) check_exit(*thread.block);
  thread.exited = true;
  thread.warp->exited |= bit;
  --thread.block->live_threads;
}

void Run::wait(const char* where, Site site) {
  Thread& thread = *current;
  thread.waits_at = where;
  thread.site = site;
  switch_back(thread.fiber, false);
}

void Run::wake(Thread& thread) {
  thread.waits_at = nullptr;
  ready_[(ready_begin_ + ready_count_++) % ready_.size()] = &thread;
}

void Run::fail(cudaError_t status, const Text& what, Site site, const void* code) {
  failure_ = {current, status, what, site, code};
  switch_back(current->fiber, true);
  __builtin_unreachable();
}

// Everybody who is left waits for somebody who will not come.
void Run::report_deadlock() {
  unsigned waiting = 0;
  unsigned exited = 0;
  const Thread* first = nullptr;
  for (const Thread& thread : threads_) {
    if (thread.block == nullptr) continue;
    if (thread.exited) {
      ++exited;
    } else {
      ++waiting;
      if (first == nullptr) first = &thread;
    }
  }
  Text others{};
  for (const Thread& thread : threads_)
    if (thread.block != nullptr && !thread.exited && thread.site.line != first->site.line) {
      others = format(", one at %s (%s)", thread.waits_at, format_site(thread.site).c_str());
      break;
    }
  report(*first, cudaErrorLaunchFailure,
         format("divergent %s: %u threads wait%s and %u have exited", first->waits_at, waiting,
                others.c_str(), exited)
             .c_str(),
         format_site(first->site).c_str());
}

void Run::report(const Thread& thread, cudaError_t status, const char* what,
                 const std::string& where) {
  set_fault(status, std::string(what) + " in " + function_name(launch_->call.kernel) + ", " +
                        format_index("block", thread.block->index).c_str() + ", " +
                        format_index("thread", thread.index).c_str() +
                        (where.empty() ? "" : ", " + where));
}

void fail(cudaError_t status, const Text& what, Site site, const void* code) {
  current_run->fail(status, what, site, code);
}

}  // namespace cudaemu

CUDAEMU_API void cudaemu_trap(const char* what, cudaemu::Site site) {
  cudaemu::fail(cudaErrorLaunchFailure, cudaemu::format("%s", what), site);
}
