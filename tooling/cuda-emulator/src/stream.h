// Streams: queues that run at the next synchronisation, each entry when what it waits for is done,
// in an order among the streams that the seed chooses. A missing synchronisation thus shows.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "../include/cuda_runtime_api.h"
#include "clock.h"
#include "graph.h"
#include "memory.h"

namespace cudaemu {

struct Capture;

// What an event stands for once it has been recorded, in one stream or in several.
struct RecordPoint {
  int remaining = 0;
  Clock clock;                                      // of all that came before
  std::chrono::steady_clock::time_point reached{};  // when remaining became 0
};

struct StreamEntry {
  std::shared_ptr<RecordPoint> waits_for;
  std::shared_ptr<RecordPoint> records;
  Work work;
  std::shared_ptr<const Clock> host;  // what the host had waited for when it queued this
};

}  // namespace cudaemu

struct CUstream_st {
  int device;
  size_t slot;  // in clocks; another stream's after this one
  bool destroyed = false;
  cudaemu::Clock clock{};
  std::deque<cudaemu::StreamEntry> entries{};
  int priority = 0;
  // While it captures: into what, and which nodes the next one depends on.
  std::shared_ptr<cudaemu::Capture> capture{};
  std::vector<cudaGraphNode_t> dependencies{};
};

namespace cudaemu {

CUstream_st* create_stream(int device);
void destroy_stream(CUstream_st* stream);
// The stream, a device's default one for null; null if there is no such stream.
CUstream_st* find_stream(cudaStream_t stream, int current_device);
bool is_default(const CUstream_st& stream);

// Whether the stream captures or not: submit() is for what the caller of CUDA asks for.
void enqueue(CUstream_st& stream, Work work);
void enqueue_wait(CUstream_st& stream, std::shared_ptr<RecordPoint> point);
std::shared_ptr<RecordPoint> record(CUstream_st& stream);
std::shared_ptr<RecordPoint> record_device(int device);

// Runs until the host may go on. The status is the fault's, if there was one.
cudaError_t wait_on_host(const std::shared_ptr<RecordPoint>& point);
cudaError_t wait_for_everything();
// Forgets what is queued.
void drop_all_entries();

// A fault unless the allocation exists at this point of the stream, whichever stream ran first;
// remembers the use. The user is a kernel, or else a call.
bool note_use(Allocation& allocation, CUstream_st& stream, const char* call,
              const void* kernel = nullptr);
void note_birth(Allocation& allocation, CUstream_st& stream);
// Frees, unless another stream's use is not ordered before.
void free_in_stream_order(Allocation& allocation, CUstream_st& stream);

// WARPWRIGHT_EMULATOR_SEED, or what set_seed() said since.
uint64_t seed();
void set_seed(uint64_t seed);
// One of so many, by the seed.
size_t choose(size_t count);

}  // namespace cudaemu
