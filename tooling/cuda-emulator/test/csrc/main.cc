// `planted <case>` runs one and prints its report, or "ok"; `planted` alone lists them. After a
// fault the emulator has to work again: a process that does not live to say so has failed.

#include <cuda_emulator/control.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "planted.h"

namespace planted {
namespace {

Buffers make_buffers() {
  Buffers buffers{};
  cudaStreamCreate(&buffers.stream);
  cudaStreamCreate(&buffers.other);
  float values[kSize];
  for (int i = 0; i < kSize; ++i) values[i] = static_cast<float>(i);
  for (float** buffer : {&buffers.x, &buffers.out}) {
    void* data = nullptr;
    cudaMallocAsync(&data, sizeof(values), buffers.stream);
    cudaMemcpyAsync(data, values, sizeof(values), cudaMemcpyHostToDevice, buffers.stream);
    *buffer = static_cast<float*>(data);
  }
  cudaStreamSynchronize(buffers.stream);
  return buffers;
}

cudaError_t run(const Case& planted, const Buffers& buffers) {
  const cudaError_t status = planted.run(buffers);
  const cudaError_t end = cudaDeviceSynchronize();
  return end != cudaSuccess ? end : status;
}

const Case* find(const char* name) {
  for (const auto& cases :
       {memory_cases(), shared_cases(), collective_cases(), stream_cases(), capture_cases(),
        graph_cases(), query_cases(), ptx_cases(), tile_cases()})
    for (const Case& each : cases) {
      if (name == nullptr) std::puts(each.name);
      if (name != nullptr && std::strcmp(each.name, name) == 0) return &each;
    }
  return nullptr;
}

}  // namespace
}  // namespace planted

int main(int argc, char** argv) {
  using namespace planted;
  const Case* planted = find(argc > 1 ? argv[1] : nullptr);
  if (planted == nullptr) return argc > 1 ? 2 : 0;
  const Buffers buffers = make_buffers();
  const cudaError_t status = run(*planted, buffers);
  std::printf("%s: %s\n", cudaGetErrorName(status), cudaGetErrorString(status));
  cudaemu_reset();
  const cudaError_t after = run(*find("in_bounds"), buffers);
  std::printf("afterwards: %s\n", cudaGetErrorName(after));
  return after == cudaSuccess ? 0 : 1;
}
