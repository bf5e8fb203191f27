// What is asked of events, memory and streams.

#include "planted.h"
#include "warpwright/launch.h"

namespace planted {
namespace {

__global__ void fill_kernel(float* out, float value) { out[threadIdx.x] = value; }

cudaError_t fill(const Buffers& b, float value) {
  return ww::launch(fill_kernel, {.block = 256, .stream = b.stream}, b.out, value);
}

struct Events {
  Events() {
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
  }
  ~Events() {
    for (const cudaEvent_t event : {start, end, untimed}) cudaEventDestroy(event);
  }

  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  cudaEvent_t untimed = nullptr;
};

cudaError_t elapsed_time(const Buffers& b) {
  const Events events;
  float ms = -1;
  cudaEventRecord(events.start, b.stream);
  fill(b, 1);
  cudaEventRecord(events.end, b.stream);
  if (cudaEventElapsedTime(&ms, events.start, events.end) != cudaErrorNotReady)
    return cudaErrorUnknown;
  cudaEventSynchronize(events.end);
  const cudaError_t status = cudaEventElapsedTime(&ms, events.start, events.end);
  float back = 0;
  cudaEventElapsedTime(&back, events.end, events.start);
  return status != cudaSuccess ? status : expect(ms > 0 && back == -ms);
}

cudaError_t elapsed_of_unrecorded_event(const Buffers& b) {
  const Events events;
  float ms = 0;
  cudaEventRecord(events.start, b.stream);
  return cudaEventElapsedTime(&ms, events.start, events.end);
}

cudaError_t elapsed_of_untimed_event(const Buffers& b) {
  const Events events;
  float ms = 0;
  for (const cudaEvent_t event : {events.start, events.untimed}) cudaEventRecord(event, b.stream);
  cudaEventSynchronize(events.untimed);
  return cudaEventElapsedTime(&ms, events.start, events.untimed);
}

uint64_t pool_number(cudaMemPoolAttr attribute) {
  cudaMemPool_t pool = nullptr;
  uint64_t value = 0;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  cudaMemPoolGetAttribute(pool, attribute, &value);
  return value;
}

cudaError_t pool_numbers(const Buffers& b) {
  constexpr uint64_t kBytes = uint64_t{40} << 20;
  constexpr uint64_t kStep = uint64_t{32} << 20;
  cudaMemPool_t pool = nullptr;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  const uint64_t before = pool_number(cudaMemPoolAttrUsedMemCurrent);
  void* memory = nullptr;
  size_t free[3];
  size_t total;
  cudaMemGetInfo(&free[0], &total);
  cudaMallocAsync(&memory, kBytes, b.stream);
  cudaMemGetInfo(&free[1], &total);
  bool right = pool_number(cudaMemPoolAttrUsedMemCurrent) == before + kBytes &&
               pool_number(cudaMemPoolAttrReservedMemCurrent) == 2 * kStep &&
               free[0] - free[1] == kStep && free[1] == total - 2 * kStep;
  cudaFreeAsync(memory, b.stream);
  uint64_t number = 0;
  cudaMemPoolTrimTo(pool, 0);
  cudaMemGetInfo(&free[2], &total);
  right = right && free[2] == free[0] && pool_number(cudaMemPoolAttrUsedMemCurrent) == before &&
          pool_number(cudaMemPoolAttrUsedMemHigh) == before + kBytes &&
          pool_number(cudaMemPoolAttrReservedMemHigh) == 2 * kStep;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &number);
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &number);
  right = right && pool_number(cudaMemPoolAttrUsedMemHigh) == before &&
          pool_number(cudaMemPoolAttrReservedMemHigh) == kStep;
  number = 1;
  return expect(right && cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &number) ==
                             cudaErrorInvalidValue);
}

cudaMemoryType type_of(const void* data, int* device = nullptr) {
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, data);
  if (device != nullptr) *device = attributes.device;
  return attributes.type;
}

cudaError_t pointer_kinds(const Buffers& b) {
  void* pinned = nullptr;
  void* freed = nullptr;
  int device = -1;
  const int on_stack = 0;
  cudaHostAlloc(&pinned, 64, cudaHostAllocPortable);
  cudaMallocAsync(&freed, 64, b.stream);
  cudaFreeAsync(freed, b.stream);
  const bool right = type_of(b.x + 100, &device) == cudaMemoryTypeDevice && device == 0 &&
                     type_of(pinned) == cudaMemoryTypeHost &&
                     type_of(static_cast<char*>(pinned) + 63) == cudaMemoryTypeHost &&
                     type_of(freed) == cudaMemoryTypeUnregistered &&
                     type_of(b.x + kSize) == cudaMemoryTypeUnregistered &&
                     type_of(&on_stack) == cudaMemoryTypeUnregistered;
  cudaFreeHost(pinned);
  return expect(right);
}

cudaError_t stream_priorities(const Buffers&) {
  int least = -1;
  int greatest = -1;
  int priority = 1;
  cudaStream_t stream = nullptr;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest - 100);
  cudaStreamGetPriority(stream, &priority);
  cudaStreamDestroy(stream);
  return expect(least == 0 && greatest == -5 && priority == greatest);
}

// A copy from pinned memory reads it when the stream comes to it.
cudaError_t pinned_memory_read_late(const Buffers& b) {
  void* pinned = nullptr;
  float value = 0;
  cudaHostAlloc(&pinned, sizeof(float), cudaHostAllocPortable);
  auto& source = *static_cast<volatile float*>(pinned);
  source = 1;
  cudaMemcpyAsync(b.out, pinned, sizeof(float), cudaMemcpyHostToDevice, b.stream);
  source = 2;
  cudaMemcpyAsync(&value, b.out, sizeof(float), cudaMemcpyDeviceToHost, b.stream);
  cudaFreeHost(pinned);
  return expect(value == 2);
}

constexpr Case kCases[] = {
    {"elapsed_time", elapsed_time},
    {"elapsed_of_unrecorded_event", elapsed_of_unrecorded_event},
    {"elapsed_of_untimed_event", elapsed_of_untimed_event},
    {"pool_numbers", pool_numbers},
    {"pointer_kinds", pointer_kinds},
    {"stream_priorities", stream_priorities},
    {"pinned_memory_read_late", pinned_memory_read_late},
};

}  // namespace

std::span<const Case> query_cases() { return kCases; }

}  // namespace planted
