// One cp.async, ldmatrix or mma.sync at a time: addresses, alignment, lanes.

#include "planted.h"
#include "warpwright/launch.h"
#include "warpwright/ptx/cp_async.cuh"
#include "warpwright/ptx/ldmatrix.cuh"
#include "warpwright/ptx/mma.cuh"

namespace planted {
namespace {

using ww::launch;

constexpr int kFloats = 32 * 4;  // 16 bytes for each lane

struct Copy {
  int global_offset = 0;  // floats
  int shared_offset = 0;
  int source_bytes = 16;
};

__global__ void copy_kernel(const float* x, float* out, Copy copy) {
  __shared__ alignas(16) float row[kFloats];
  const int first = threadIdx.x * 4;
  ww::cp_async<16>(&row[0] + first + copy.shared_offset, x + first + copy.global_offset,
                   copy.source_bytes);
  ww::cp_async_wait_all();
  __syncwarp();
  for (int i = 0; i < 4; ++i) out[first + i] = row[kFloats - 1 - first - i];
}

template <Copy kCopy>
cudaError_t copy(const Buffers& b) {
  return launch(copy_kernel, {.block = 32, .stream = b.stream}, b.x, b.out, kCopy);
}

// x ends in the middle of the row.
__global__ void tail_kernel(const float* x, float* out, int count) {
  __shared__ alignas(16) float row[kFloats];
  const int first = threadIdx.x * 4;
  // Behind the end nothing is read.
  ww::cp_async<16>(&row[first], x + kSize - count + first, first < count ? 16 : 0);
  ww::cp_async_commit();
  ww::cp_async_wait<0>();
  __syncwarp();
  out[threadIdx.x] = row[kFloats - 1 - threadIdx.x];
}

cudaError_t copied_tail(const Buffers& b) {
  return launch(tail_kernel, {.block = 32, .stream = b.stream}, b.x, b.out, kFloats - 32);
}

// To the next thread's place, which two copies then write.
__global__ void overlapping_kernel(const float* x, float* out) {
  __shared__ alignas(16) float row[kFloats];
  ww::cp_async<4>(&row[threadIdx.x], x + threadIdx.x);
  ww::cp_async<4>(&row[(threadIdx.x + 1) % 32], x + threadIdx.x);
  ww::cp_async_wait_all();
  __syncwarp();
  out[threadIdx.x] = row[threadIdx.x];
}

cudaError_t overlapping_copies(const Buffers& b) {
  return launch(overlapping_kernel, {.block = 32, .stream = b.stream}, b.x, b.out);
}

enum class Load { correct, inactive_lane, uninitialised, misaligned, past_the_end, two_places };

template <Load kLoad>
__global__ void load_kernel(uint32_t* out) {
  __shared__ alignas(16) uint32_t rows[32][4];
  const int lane = threadIdx.x;
  for (int i = 0; i < 4; ++i)
    if (kLoad != Load::uninitialised || lane != 9) rows[lane][i] = 4 * lane + i;
  __syncwarp();
  if (kLoad == Load::inactive_lane && lane == 31) return;
  uint32_t fragment[4];
  const uint32_t* row = &rows[0][0] + lane * 4;
  if (kLoad == Load::misaligned) row += lane == 3 ? 2 : 0;
  if (kLoad == Load::past_the_end) row += 4;
  if (kLoad == Load::two_places && lane >= 16)
    ww::ldmatrix(fragment, row);
  else
    ww::ldmatrix(fragment, row);
  for (int i = 0; i < 4; ++i) out[lane * 4 + i] = fragment[i];
}

template <Load kLoad>
cudaError_t load(const Buffers& b) {
  return launch(load_kernel<kLoad>, {.block = 32, .stream = b.stream},
                reinterpret_cast<uint32_t*>(b.out));
}

// With two matrices the upper lanes' addresses do not count.
__global__ void ignored_kernel(uint32_t* out) {
  __shared__ alignas(16) uint32_t rows[16][4];
  if (threadIdx.x < 16)
    for (int i = 0; i < 4; ++i) rows[threadIdx.x][i] = i;
  __syncwarp();
  uint32_t fragment[2];
  ww::ldmatrix_trans(fragment, &rows[0][0] + threadIdx.x * 4);
  out[threadIdx.x] = fragment[0] + fragment[1];
}

cudaError_t ignored_addresses(const Buffers& b) {
  return launch(ignored_kernel, {.block = 32, .stream = b.stream},
                reinterpret_cast<uint32_t*>(b.out));
}

template <bool kAllLanes>
__global__ void multiply_kernel(float* out) {
  if (!kAllLanes && threadIdx.x == 7) return;
  const uint32_t a[4] = {};
  float acc[4] = {1, 2, 3, 4};
  ww::mma_m16n8k16<ww::float16>(acc, a, 0, 0);
  ww::mma_m16n8k8_tf32(acc, a, ww::to_tf32(0), ww::to_tf32(0));
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = acc[i];
}

template <bool kAllLanes, unsigned kThreads>
cudaError_t multiply(const Buffers& b) {
  return launch(multiply_kernel<kAllLanes>, {.block = kThreads, .stream = b.stream}, b.out);
}

// Neither way has an instruction.
template <bool kFromShared>
__global__ void wrong_way_kernel(float* out) {
  __shared__ float value;
  value = 1;
  __syncwarp();
  if (kFromShared)
    ww::cp_async<4>(&value, &value);
  else
    ww::cp_async<4>(out + 1, out);
  ww::cp_async_wait_all();
}

template <bool kFromShared>
cudaError_t wrong_way(const Buffers& b) {
  return launch(wrong_way_kernel<kFromShared>, {.stream = b.stream}, b.out);
}

template <int kMatrices>
__device__ void load_first(const uint32_t* rows, float* out) {
  uint32_t fragment[kMatrices];
  ww::ldmatrix(fragment, rows + threadIdx.x % 8 * 4);
  out[threadIdx.x] = fragment[0];
}

__global__ void two_forms_kernel(float* out) {
  __shared__ alignas(16) uint32_t rows[8][4];
  rows[threadIdx.x / 4][threadIdx.x % 4] = threadIdx.x;
  __syncwarp();
  if (threadIdx.x < 16)
    load_first<1>(rows[0], out);
  else
    load_first<2>(rows[0], out);
}

cudaError_t two_forms(const Buffers& b) {
  return launch(two_forms_kernel, {.block = 32, .stream = b.stream}, b.out);
}

constexpr Case kCases[] = {
    {"copied_row", copy<Copy{}>},
    {"copied_tail", copied_tail},
    {"copy_from_misaligned_memory", copy<Copy{.global_offset = 1}>},
    {"copy_to_misaligned_memory", copy<Copy{.shared_offset = 2}>},
    {"copy_from_past_the_end", copy<Copy{.global_offset = kSize - kFloats + 4}>},
    {"copy_to_past_the_end", copy<Copy{.shared_offset = 4}>},
    {"copy_of_too_many_bytes", copy<Copy{.source_bytes = 20}>},
    {"overlapping_copies", overlapping_copies},
    {"copy_from_shared_memory", wrong_way<true>},
    {"copy_to_global_memory", wrong_way<false>},
    {"loaded_matrices", load<Load::correct>},
    {"ldmatrix_ignores_addresses", ignored_addresses},
    {"ldmatrix_with_inactive_lane", load<Load::inactive_lane>},
    {"ldmatrix_uninitialised", load<Load::uninitialised>},
    {"ldmatrix_misaligned_row", load<Load::misaligned>},
    {"ldmatrix_past_the_end", load<Load::past_the_end>},
    {"ldmatrix_in_two_places", load<Load::two_places>},
    {"ldmatrix_of_two_forms", two_forms},
    {"multiplied_matrices", multiply<true, 32>},
    {"mma_with_inactive_lane", multiply<false, 32>},
    {"mma_in_part_of_a_warp", multiply<true, 48>},
};

}  // namespace

std::span<const Case> ptx_cases() { return kCases; }

}  // namespace planted
