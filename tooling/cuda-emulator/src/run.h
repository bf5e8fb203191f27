// A launch while it runs: the blocks of one cluster at a time (one block where there is no
// cluster), every thread of them a fiber, all on the calling thread of the system.
#pragma once

#include <string>
#include <vector>

#include "../include/cuda_emulator/device_api.h"
#include "copy.h"
#include "fiber.h"
#include "random.h"
#include "report.h"

namespace cudaemu {

struct Block;
struct Warp;

struct WarpRequest {
  WarpOp op;
  uint64_t value;  // and the result
  int argument;
  int width;
};

struct Thread {
  Fiber fiber;
  uint3 index;
  unsigned lane;
  unsigned id;  // in the cluster, a warp's threads from a multiple of 32 on
  Block* block;
  Warp* warp;
  bool exited;
  const char* waits_at;  // null while it runs
  Site site;             // where it waits
  WarpRequest request;
  CopyQueue copies;
};

// Lanes that are on their way into one collective.
struct WarpGroup {
  WarpOp op;
  unsigned mask;
  unsigned arrived;
};

struct Warp {
  Thread* threads;
  unsigned id;  // in the cluster
  unsigned existing;
  unsigned exited;
  std::vector<WarpGroup> groups;
  std::vector<uint32_t> clock;  // of all the cluster's warps; its own entry is its epoch
};

struct Barrier {
  unsigned expected = 0;
  Site site{};
  std::vector<Thread*> arrived;
};

inline constexpr int kNumBarriers = 16;

struct Block {
  uint3 index;
  unsigned rank;
  unsigned live_threads;
  Warp* warps;
  Barrier barriers[kNumBarriers];
};

struct Launch {
  KernelCall call;
  std::vector<std::max_align_t> arguments;
  dim3 grid;
  dim3 block;
  unsigned cluster = 1;
  size_t dynamic_bytes = 0;
  int device = 0;
};

class Run {
 public:
  explicit Run(const Launch& launch, uint64_t seed);
  ~Run();

  // Runs every block. Afterwards fault_status() says how it went.
  void execute();

  const Launch& launch() const { return *launch_; }
  bool checked() const { return launch_->call.checked; }
  unsigned threads_per_block() const { return threads_per_block_; }
  std::vector<Block>& blocks() { return blocks_; }
  std::vector<Warp>& warps() { return warps_; }
  Thread& thread(unsigned id) { return threads_[id]; }
  Barrier& cluster_barrier() { return cluster_barrier_; }

  // Of the calling fiber: waits until woken. `where` names what it waits for.
  void wait(const char* where, Site site);
  void wake(Thread& thread);
  // Ends the launch with a fault of the calling fiber.
  [[noreturn]] void fail(cudaError_t status, const Text& what, Site site, const void* code);

 private:
  void start_cluster(uint64_t first_block);
  void start_block(unsigned rank, uint64_t linear_index);
  void run_threads();
  void resume(Thread& thread);
  void leave(Thread& thread);
  void report_deadlock();
  void report(const Thread& thread, cudaError_t status, const char* what, const std::string& where);
  static void thread_entry();

  const Launch* launch_;
  Random random_;
  unsigned threads_per_block_;
  unsigned warps_per_block_;
  std::vector<Block> blocks_;
  std::vector<Warp> warps_;
  std::vector<Thread> threads_;
  std::vector<Thread*> ready_;  // a ring
  size_t ready_begin_ = 0;
  size_t ready_count_ = 0;
  Barrier cluster_barrier_;
  struct Failure {
    const Thread* thread = nullptr;
    cudaError_t status;
    Text what;
    Site site;
    const void* code;
  } failure_;
};

// The calling fiber; null outside of kernels.
extern constinit thread_local Thread* current __attribute__((tls_model("initial-exec")));
extern Run* current_run;

// Ends the calling fiber's launch with a fault. Where it happened is a call's site, or the address
// of the faulty code.
[[noreturn]] void fail(cudaError_t status, const Text& what, Site site = {},
                       const void* code = nullptr);

}  // namespace cudaemu
