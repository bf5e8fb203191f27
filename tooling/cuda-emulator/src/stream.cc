#include "stream.h"

#include <cstdlib>
#include <vector>

#include "random.h"
#include "report.h"

namespace cudaemu {
namespace {

struct Streams {
  std::vector<std::unique_ptr<CUstream_st>> all;  // the default ones first
  std::vector<size_t> free_slots;
  size_t num_slots = 0;
  Clock ticks;  // how far each slot is
  std::shared_ptr<const Clock> host = std::make_shared<Clock>();
  uint64_t seed = std::getenv("WARPWRIGHT_EMULATOR_SEED") == nullptr
                      ? 0
                      : std::strtoull(std::getenv("WARPWRIGHT_EMULATOR_SEED"), nullptr, 10);
  Random random{seed};
};

Streams& streams() {
  static auto& instance = *[] {
    auto* created = new Streams;
    for (int device = 0; device < kDevices; ++device)
      created->all.push_back(std::make_unique<CUstream_st>(device, created->num_slots++));
    return created;
  }();
  return instance;
}

bool is_runnable(const CUstream_st& stream) {
  if (fault_status() != cudaSuccess) return false;
  return !stream.entries.empty() && (stream.entries.front().waits_for == nullptr ||
                                     stream.entries.front().waits_for->remaining == 0);
}

void run_next(CUstream_st& stream) {
  const StreamEntry entry = std::move(stream.entries.front());
  stream.entries.pop_front();
  stream.clock.join(*entry.host);
  if (entry.waits_for != nullptr) stream.clock.join(entry.waits_for->clock);
  if (entry.work != nullptr) entry.work(stream);
  if (entry.records != nullptr) {
    entry.records->clock.join(stream.clock);
    if (--entry.records->remaining == 0) entry.records->reached = std::chrono::steady_clock::now();
  }
}

void remove_if_done(CUstream_st& stream) {
  if (!stream.destroyed || !stream.entries.empty()) return;
  streams().free_slots.push_back(stream.slot);
  std::erase_if(streams().all, [&](const auto& each) { return each.get() == &stream; });
}

CUstream_st* pick() {
  std::vector<CUstream_st*> runnable;
  for (const auto& stream : streams().all)
    if (is_runnable(*stream)) runnable.push_back(stream.get());
  return runnable.empty() ? nullptr : runnable[choose(runnable.size())];
}

template <typename Done>
cudaError_t run_until(Done&& done) {
  while (fault_status() == cudaSuccess && !done()) {
    CUstream_st* stream = pick();
    if (stream == nullptr) return cudaErrorUnknown;
    run_next(*stream);
    remove_if_done(*stream);
  }
  return fault_status();
}

StreamEntry& push(CUstream_st& stream) {
  StreamEntry& entry = stream.entries.emplace_back();
  entry.host = streams().host;
  return entry;
}

uint64_t advance(CUstream_st& stream) {
  const uint64_t tick = streams().ticks.advance(stream.slot);
  stream.clock.set(stream.slot, tick);
  return tick;
}

void order_fault(const std::string& user, const char* problem, const Allocation& allocation) {
  set_fault(cudaErrorLaunchFailure,
            format("stream order: %s %s (%zu bytes of %s)", user.c_str(), problem, allocation.bytes,
                   place_name(allocation.device).c_str())
                .c_str());
}

}  // namespace

CUstream_st* create_stream(int device) {
  Streams& s = streams();
  size_t slot = s.num_slots;
  if (s.free_slots.empty()) {
    ++s.num_slots;
  } else {
    slot = s.free_slots.back();
    s.free_slots.pop_back();
  }
  return s.all.emplace_back(std::make_unique<CUstream_st>(device, slot)).get();
}

void destroy_stream(CUstream_st* stream) {
  stream->destroyed = true;
  remove_if_done(*stream);
}

CUstream_st* find_stream(cudaStream_t stream, int current_device) {
  if (stream == nullptr) return streams().all[current_device].get();
  for (const auto& each : streams().all)
    if (each.get() == stream && !each->destroyed) return stream;
  return nullptr;
}

bool is_default(const CUstream_st& stream) { return streams().all[stream.device].get() == &stream; }

void enqueue(CUstream_st& stream, Work work) { push(stream).work = std::move(work); }

void enqueue_wait(CUstream_st& stream, std::shared_ptr<RecordPoint> point) {
  push(stream).waits_for = std::move(point);
}

std::shared_ptr<RecordPoint> record(CUstream_st& stream) {
  auto point = std::make_shared<RecordPoint>();
  point->remaining = 1;
  push(stream).records = point;
  return point;
}

std::shared_ptr<RecordPoint> record_device(int device) {
  auto point = std::make_shared<RecordPoint>();
  for (const auto& stream : streams().all) {
    if (stream->device != device) continue;
    ++point->remaining;
    push(*stream).records = point;
  }
  return point;
}

cudaError_t wait_on_host(const std::shared_ptr<RecordPoint>& point) {
  const cudaError_t status = run_until([&] { return point->remaining == 0; });
  if (status != cudaSuccess) return status;
  auto host = std::make_shared<Clock>(*streams().host);
  host->join(point->clock);
  streams().host = std::move(host);
  return cudaSuccess;
}

cudaError_t wait_for_everything() {
  for (int device = 0; device < kDevices; ++device)
    if (const cudaError_t status = wait_on_host(record_device(device))) return status;
  return cudaSuccess;
}

void drop_all_entries() {
  for (const auto& stream : streams().all) {
    for (StreamEntry& entry : stream->entries)
      if (entry.records != nullptr) entry.records->remaining = 0;
    stream->entries.clear();
  }
}

bool note_use(Allocation& allocation, CUstream_st& stream, const char* call, const void* kernel) {
  const char* problem = nullptr;
  if (allocation.freed)
    problem = "uses memory that has been freed";
  else if (allocation.device == kHost)
    return true;
  else if (stream.clock[allocation.birth_slot] < allocation.birth_tick ||
           allocation.birth_tick == 0)
    problem = "does not wait for another stream that allocates the memory";
  if (problem != nullptr) {
    order_fault(kernel == nullptr ? call : function_name(kernel), problem, allocation);
    return false;
  }
  const uint64_t tick = advance(stream);
  for (auto& [slot, last] : allocation.uses)
    if (slot == stream.slot) {
      last = tick;
      return true;
    }
  allocation.uses.emplace_back(stream.slot, tick);
  return true;
}

void note_birth(Allocation& allocation, CUstream_st& stream) {
  allocation.birth_slot = stream.slot;
  allocation.birth_tick = advance(stream);
}

void free_in_stream_order(Allocation& allocation, CUstream_st& stream) {
  for (const auto& [slot, last] : allocation.uses)
    if (stream.clock[slot] < last)
      return order_fault("cudaFreeAsync", "does not wait for another stream that uses the memory",
                         allocation);
  device_memory().free(allocation);
}

uint64_t seed() { return streams().seed; }

size_t choose(size_t count) { return streams().random.below(count); }

void set_seed(uint64_t seed) {
  streams().seed = seed;
  streams().random = Random(seed);
}

}  // namespace cudaemu
