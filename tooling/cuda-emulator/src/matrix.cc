#include "matrix.h"

#include <immintrin.h>

#include <cstring>

#include "../include/cuda_emulator/ptx.h"
#include "access.h"
#include "report.h"

namespace cudaemu {
namespace {

constexpr unsigned kFullWarp = 0xffffffff;
constexpr int kWarpSize = 32;
constexpr int kRowBytes = 16;

// They stay on the lanes' stacks while the lanes wait.
struct LoadRequest {
  uint32_t* fragment;
  const void* row;
  int matrices;
  bool transposed;
};

struct MultiplyRequest {
  MmaType type;
  float* acc;
  const uint32_t* a;
  uint32_t b[2];
};

template <typename Request>
Request& request_of(const Warp& warp, int lane) {
  return *reinterpret_cast<Request*>(warp.threads[lane].request.value);
}

// Waits until all lanes are there; the last one computes for all.
template <typename Request>
void collect(WarpOp op, const char* name, Request& request, Site site) {
  if (current->warp->existing != kFullWarp)
    fail(cudaErrorLaunchFailure,
         format("inactive lane: %s takes all 32 lanes, and this warp has %d", name,
                __builtin_popcount(current->warp->existing)),
         site);
  current->site = site;
  cudaemu_warp(op, kFullWarp, reinterpret_cast<uint64_t>(&request), 0, kWarpSize, site);
}

// The instruction is one for the whole warp, not one for each side of a branch.
template <typename Request, typename F>
void require_same(const Warp& warp, Site site, const char* name, F variant) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const Site other = warp.threads[lane].site;
    if (other.line != site.line || other.file != site.file)
      fail(cudaErrorLaunchFailure,
           format("divergent collective: lane %d waits in another %s, %s", lane, name,
                  format_site(other).c_str()),
           site);
    if (variant(request_of<Request>(warp, lane)) != variant(request_of<Request>(warp, 0)))
      fail(cudaErrorLaunchFailure,
           format("divergent collective: lane %d waits in %s of another form", lane, name), site);
  }
}

float to_float(MmaType type, uint32_t bits) {
  if (type == MmaType::float16) return _cvtsh_ss(static_cast<uint16_t>(bits));
  const uint32_t wide = type == MmaType::bfloat16 ? bits << 16 : bits & ~uint32_t{0x1fff};
  return __builtin_bit_cast(float, wide);
}

// Of a 16 x depth and a depth x 8 matrix; a lane's registers as the PTX ISA lays them out.
struct Operands {
  float a[16][16];
  float b[16][8];
  int depth;
};

void unpack_pairs(const MultiplyRequest& request, int lane, Operands& operands) {
  const int g = lane / 4;
  const int t = 2 * (lane % 4);
  for (int i = 0; i < 4; ++i) {
    float* pair = &operands.a[g + i % 2 * 8][t + i / 2 * 8];
    pair[0] = to_float(request.type, request.a[i] & 0xffff);
    pair[1] = to_float(request.type, request.a[i] >> 16);
  }
  for (int i = 0; i < 2; ++i) {
    operands.b[t + i * 8][g] = to_float(request.type, request.b[i] & 0xffff);
    operands.b[t + i * 8 + 1][g] = to_float(request.type, request.b[i] >> 16);
  }
}

void unpack_words(const MultiplyRequest& request, int lane, Operands& operands) {
  const int g = lane / 4;
  const int t = lane % 4;
  for (int i = 0; i < 4; ++i)
    operands.a[g + i % 2 * 8][t + i / 2 * 4] = to_float(request.type, request.a[i]);
  for (int i = 0; i < 2; ++i) operands.b[t + i * 4][g] = to_float(request.type, request.b[i]);
}

// The products are exact in float32. A device's sums are of several at once, and truncated.
void multiply(const Operands& operands, float (&acc)[16][8]) {
  for (int k = 0; k < operands.depth; ++k)
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 8; ++n) acc[m][n] += operands.a[m][k] * operands.b[k][n];
}

}  // namespace

void load_matrices(Warp& warp, Site site) {
  const auto request = [&](int lane) -> LoadRequest& {
    return request_of<LoadRequest>(warp, lane);
  };
  require_same<LoadRequest>(warp, site, "ldmatrix", [](const LoadRequest& each) {
    return 2 * each.matrices + each.transposed;
  });
  const auto [fragment, row, matrices, transposed] = request(0);
  for (int matrix = 0; matrix < matrices; ++matrix) {
    uint16_t elements[8][8];
    for (int i = 0; i < 8; ++i) std::memcpy(elements[i], request(8 * matrix + i).row, kRowBytes);
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const int g = lane / 4;
      const int t = 2 * (lane % 4);
      const uint32_t lower = transposed ? elements[t][g] : elements[g][t];
      const uint32_t upper = transposed ? elements[t + 1][g] : elements[g][t + 1];
      request(lane).fragment[matrix] = lower | upper << 16;
    }
  }
}

void multiply_matrices(Warp& warp, Site site) {
  require_same<MultiplyRequest>(warp, site, "mma.sync",
                                [](const MultiplyRequest& each) { return each.type; });
  Operands operands;
  float acc[16][8];
  const auto exchange = [&](auto move) {
    for (int lane = 0; lane < kWarpSize; ++lane)
      for (int i = 0; i < 4; ++i)
        move(request_of<MultiplyRequest>(warp, lane).acc[i],
             acc[lane / 4 + i / 2 * 8][2 * (lane % 4) + i % 2]);
  };
  exchange([](float& theirs, float& mine) { mine = theirs; });
  const bool words = request_of<MultiplyRequest>(warp, 0).type == MmaType::tf32;
  operands.depth = words ? 8 : 16;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const auto& request = request_of<MultiplyRequest>(warp, lane);
    words ? unpack_words(request, lane, operands) : unpack_pairs(request, lane, operands);
  }
  multiply(operands, acc);
  exchange([](float& theirs, float& mine) { theirs = mine; });
}

}  // namespace cudaemu

using namespace cudaemu;

// Each lane answers for the row whose address it gives.
CUDAEMU_API void cudaemu_ldmatrix(uint32_t* fragment, const void* row, int matrices,
                                  bool transposed, Site site) {
  if (static_cast<int>(current->lane) < 8 * matrices)
    check_own_shared("ldmatrix", row, kRowBytes, kRowBytes, Access::read, site);
  LoadRequest request{fragment, row, matrices, transposed};
  collect(WarpOp::ldmatrix, "ldmatrix", request, site);
}

CUDAEMU_API void cudaemu_mma(MmaType type, float* acc, const uint32_t* a, uint32_t b0, uint32_t b1,
                             Site site) {
  MultiplyRequest request{type, acc, a, {b0, b1}};
  collect(WarpOp::mma, "mma.sync", request, site);
}
