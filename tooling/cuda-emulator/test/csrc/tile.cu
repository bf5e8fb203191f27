// cp.async, ldmatrix and mma.sync: a product of matrices whose tiles arrive while the tensor cores
// work on those before, and what can be wrong in it.

#include "planted.h"
#include "warpwright/launch.h"
#include "warpwright/ptx/cp_async.cuh"
#include "warpwright/ptx/ldmatrix.cuh"
#include "warpwright/ptx/mma.cuh"

namespace planted {
namespace {

using ww::bfloat16;
using ww::launch;

enum class Flaw {
  none,
  no_wait,         // for the copies
  short_wait,      // for one group too few
  no_barrier,      // behind the wait
  no_last_barrier  // before the next copies replace what is read
};

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kRows = 16 * kWarps;  // of the product, 16 a warp
constexpr int kColumns = 8;
constexpr int kTileDepth = 16;
constexpr int kTiles = 6;
constexpr int kDepth = kTileDepth * kTiles;
constexpr int kPitch = kTileDepth + 8;  // eight rows lie in different banks

struct Stage {
  alignas(16) bfloat16 a[kRows][kPitch];
  alignas(16) bfloat16 b[kColumns][kPitch];
};

// Elements that make exact sums, different in every row and column.
__global__ void operands_kernel(bfloat16* a, bfloat16* b) {
  for (int i = threadIdx.x; i < kRows * kDepth; i += kThreads)
    a[i] = ww::from_float<bfloat16>((i * 7 + i / kDepth) % 13 - 6);
  for (int i = threadIdx.x; i < kColumns * kDepth; i += kThreads)
    b[i] = ww::from_float<bfloat16>((i * 5 + i / kDepth) % 11 - 5);
}

__device__ void copy_tile(const bfloat16* a, const bfloat16* b, int tile, Stage& stage) {
  const int row = threadIdx.x / 2;
  const int column = threadIdx.x % 2 * 8;
  const int from = tile * kTileDepth + column;
  ww::cp_async<16>(&stage.a[row][column], a + row * kDepth + from);
  if (row < kColumns) ww::cp_async<16>(&stage.b[row][column], b + row * kDepth + from);
  ww::cp_async_commit();
}

__device__ void multiply_tile(const Stage& stage, float (&acc)[4]) {
  const int lane = threadIdx.x % 32;
  uint32_t a_fragment[4];
  uint32_t b_fragment[2];
  ww::ldmatrix(a_fragment, &stage.a[threadIdx.x / 32 * 16 + lane % 16][lane / 16 * 8]);
  ww::ldmatrix(b_fragment, &stage.b[lane % 8][lane / 8 % 2 * 8]);
  ww::mma_m16n8k16<bfloat16>(acc, a_fragment, b_fragment[0], b_fragment[1]);
}

template <Flaw kFlaw>
__global__ void product_kernel(const bfloat16* a, const bfloat16* b, float* out) {
  __shared__ Stage stages[2];
  float acc[4] = {};
  copy_tile(a, b, 0, stages[0]);
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles)
      copy_tile(a, b, tile + 1, stages[(tile + 1) % 2]);
    else
      ww::cp_async_commit();
    if (kFlaw == Flaw::short_wait)
      ww::cp_async_wait<2>();
    else if (kFlaw != Flaw::no_wait)
      ww::cp_async_wait<1>();
    if (kFlaw != Flaw::no_barrier) __syncthreads();
    multiply_tile(stages[tile % 2], acc);
    if (kFlaw != Flaw::no_last_barrier) __syncthreads();
  }
  const int lane = threadIdx.x % 32;
  float* first = out + (threadIdx.x / 32 * 16 + lane / 4) * kColumns + lane % 4 * 2;
  for (int i = 0; i < 4; ++i) first[i / 2 * 8 * kColumns + i % 2] = acc[i];
}

bool is_product(const bfloat16* a, const bfloat16* b, const float* out) {
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) {
      float sum = 0;
      for (int k = 0; k < kDepth; ++k)
        sum += ww::to_float(a[row * kDepth + k]) * ww::to_float(b[column * kDepth + k]);
      if (out[row * kColumns + column] != sum) return false;
    }
  return true;
}

// A flaw may also make the result wrong, which only the flawless one is asked about.
template <Flaw kFlaw>
cudaError_t product(const Buffers& buffers) {
  static bfloat16 a[kRows * kDepth];
  static bfloat16 b[kColumns * kDepth];
  static float out[kRows * kColumns];
  bfloat16* device_a = nullptr;
  bfloat16* device_b = nullptr;
  cudaMallocAsync(&device_a, sizeof(a), buffers.stream);
  cudaMallocAsync(&device_b, sizeof(b), buffers.stream);
  const ww::LaunchConfig config{.block = kThreads, .stream = buffers.stream};
  launch(operands_kernel, config, device_a, device_b);
  if (const cudaError_t status =
          launch(product_kernel<kFlaw>, config, static_cast<const bfloat16*>(device_a),
                 static_cast<const bfloat16*>(device_b), buffers.out))
    return status;
  cudaMemcpyAsync(a, device_a, sizeof(a), cudaMemcpyDeviceToHost, buffers.stream);
  cudaMemcpyAsync(b, device_b, sizeof(b), cudaMemcpyDeviceToHost, buffers.stream);
  cudaMemcpyAsync(out, buffers.out, sizeof(out), cudaMemcpyDeviceToHost, buffers.stream);
  cudaFreeAsync(device_a, buffers.stream);
  cudaFreeAsync(device_b, buffers.stream);
  if (const cudaError_t status = cudaStreamSynchronize(buffers.stream)) return status;
  return kFlaw != Flaw::none || is_product(a, b, out) ? cudaSuccess : cudaErrorUnknown;
}

constexpr Case kCases[] = {
    {"tile_product", product<Flaw::none>},
    {"missing_copy_wait", product<Flaw::no_wait>},
    {"copy_wait_of_one_group_less", product<Flaw::short_wait>},
    {"missing_barrier_after_copy_wait", product<Flaw::no_barrier>},
    {"missing_barrier_before_next_copy", product<Flaw::no_last_barrier>},
};

}  // namespace

std::span<const Case> tile_cases() { return kCases; }

}  // namespace planted
