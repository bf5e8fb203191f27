// ldmatrix and mma.sync, a warp for each tile.

#include "ptx_cases.h"
#include "warpwright/dispatch.h"
#include "warpwright/launch.h"
#include "warpwright/ptx/ldmatrix.cuh"
#include "warpwright/ptx/mma.cuh"

namespace ww {
namespace {

constexpr int kWarp = 32;
constexpr int kColumns = 8;
constexpr int kPad = 8;

template <int kMatrices, bool kTransposed>
__global__ void ldmatrix_kernel(const LdmatrixParams params) {
  constexpr int kRows = 8 * kMatrices;
  __shared__ __align__(16) uint16_t rows[kRows][8 + kPad];
  const int lane = threadIdx.x;
  if (lane < kRows)
    for (int i = 0; i < 8; ++i) rows[lane][i] = params.x[8 * lane + i];
  __syncwarp();
  const uint16_t* row = rows[(5 * lane + 3) % kRows];
  uint32_t fragment[kMatrices];
  if constexpr (kTransposed)
    ldmatrix_trans(fragment, row);
  else
    ldmatrix(fragment, row);
  for (int i = 0; i < kMatrices; ++i)
    params.out[lane * kMatrices + i] = static_cast<int32_t>(fragment[i]);
}

template <typename T>
__device__ uint32_t pair_bits(T first, T second) {
  return bits_of<uint32_t>(Pair<T>{first, second});
}

// As the comments of mma.cuh have it.
template <typename T>
__device__ void read_elements(const T* a, const T* b, uint32_t (&a_bits)[4],
                              uint32_t (&b_bits)[2]) {
  const int g = threadIdx.x / 4;
  const int t = threadIdx.x % 4;
  for (int i = 0; i < 4; ++i) {
    const int row = g + i % 2 * 8;
    if constexpr (sizeof(T) == 4) {
      a_bits[i] = to_tf32(a[row * 8 + t + i / 2 * 4]);
    } else {
      const T* pair = a + row * 16 + 2 * t + i / 2 * 8;
      a_bits[i] = pair_bits(pair[0], pair[1]);
    }
  }
  for (int i = 0; i < 2; ++i) {
    if constexpr (sizeof(T) == 4) {
      b_bits[i] = to_tf32(b[(t + i * 4) * kColumns + g]);
    } else {
      const T* upper = b + (2 * t + i * 8) * kColumns + g;
      b_bits[i] = pair_bits(upper[0], upper[kColumns]);
    }
  }
}

template <typename T, bool kByRows>
__device__ void load_fragments(const T* a, const T* b, uint32_t (&a_bits)[4],
                               uint32_t (&b_bits)[2]) {
  __shared__ __align__(16) T a_tile[16][16 + kPad];
  __shared__ __align__(16) T b_columns[kColumns][16 + kPad];
  __shared__ __align__(16) T b_rows[16][kColumns + kPad];
  const int lane = threadIdx.x;
  for (int i = lane; i < 16 * 16; i += kWarp) a_tile[i / 16][i % 16] = a[i];
  for (int i = lane; i < 16 * kColumns; i += kWarp) {
    b_columns[i % kColumns][i / kColumns] = b[i];
    b_rows[i / kColumns][i % kColumns] = b[i];
  }
  __syncwarp();
  ldmatrix(a_bits, &a_tile[lane % 16][lane / 16 * 8]);
  if constexpr (kByRows)
    ldmatrix_trans(b_bits, &b_rows[lane % 16][0]);
  else
    ldmatrix(b_bits, &b_columns[lane % 8][lane / 8 % 2 * 8]);
}

template <typename T, Fragments kFragments>
__global__ void mma_kernel(const MmaParams params) {
  constexpr int kDepth = sizeof(T) == 4 ? 8 : 16;
  const int tile = blockIdx.x;
  const T* a = static_cast<const T*>(params.a) + tile * 16 * kDepth;
  const T* b = static_cast<const T*>(params.b) + tile * kDepth * kColumns;
  uint32_t a_bits[4];
  uint32_t b_bits[2];
  if constexpr (kFragments == Fragments::elements)
    read_elements(a, b, a_bits, b_bits);
  else
    load_fragments<T, kFragments == Fragments::by_rows>(a, b, a_bits, b_bits);

  const int g = threadIdx.x / 4;
  const int t = threadIdx.x % 4;
  const int first = (tile * 16 + g) * kColumns + 2 * t;
  const auto offset = [&](int i) { return first + i / 2 * 8 * kColumns + i % 2; };
  float acc[4];
  for (int i = 0; i < 4; ++i) acc[i] = params.c[offset(i)];
  if constexpr (sizeof(T) == 4)
    mma_m16n8k8_tf32(acc, a_bits, b_bits[0], b_bits[1]);
  else
    mma_m16n8k16<T>(acc, a_bits, b_bits[0], b_bits[1]);
  for (int i = 0; i < 4; ++i) params.out[offset(i)] = acc[i];
}

}  // namespace

cudaError_t ldmatrix_fwd(const LdmatrixParams& params, cudaStream_t stream) {
  const LaunchConfig config{.grid = 1, .block = kWarp, .stream = stream};
  return dispatch_int<1, 2, 4>(params.num_matrices, [&](auto kMatrices) {
    return dispatch_bool(params.transposed, [&](auto kTransposed) {
      return launch(ldmatrix_kernel<kMatrices, kTransposed>, config, params);
    });
  });
}

cudaError_t mma_fwd(const MmaParams& params, cudaStream_t stream) {
  const LaunchConfig config{
      .grid = static_cast<unsigned>(params.num_tiles), .block = kWarp, .stream = stream};
  return dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    if (params.fragments == Fragments::elements)
      return launch(mma_kernel<T, Fragments::elements>, config, params);
    if constexpr (sizeof(T) == 2)
      return params.fragments == Fragments::by_rows
                 ? launch(mma_kernel<T, Fragments::by_rows>, config, params)
                 : launch(mma_kernel<T, Fragments::by_columns>, config, params);
    return cudaErrorInvalidValue;
  });
}

}  // namespace ww
