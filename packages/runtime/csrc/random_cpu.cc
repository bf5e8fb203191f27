// Standard normal numbers by counter: block b of four elements is
//   (w0, w1, w2, w3) = Philox4x32-10(counter = (b mod 2^32, b / 2^32, 0, 0), key = seed)
//   u = (w0 + 1) / 2^32 in (0, 1],  v = w1 / 2^32 in [0, 1)
//   element 4b = sqrt(-2 ln u) cos(2 pi v),  element 4b + 1 = sqrt(-2 ln u) sin(2 pi v)
// and elements 4b + 2, 4b + 3 likewise from w2, w3; in double, rounded once.
// Philox: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
// Normals: Box and Muller, "A note on the generation of random normal deviates", 1958.

#include <array>
#include <cmath>
#include <numbers>

#include "convert.h"
#include "random.h"
#include "warpwright/dispatch.h"

namespace ww {
namespace {

constexpr int64_t kBlock = 4;
constexpr int64_t kGrain = 2048;  // blocks: about 0.2 ms

using Words = std::array<uint32_t, kBlock>;

Words philox4x32_10(Words counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xd2511f53} * counter[0];
    const uint64_t product1 = uint64_t{0xcd9e8d57} * counter[2];
    counter = {
        static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
        static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += 0x9e3779b9;  // the golden ratio's fraction
    key1 += 0xbb67ae85;  // that of the square root of 3
  }
  return counter;
}

std::array<double, kBlock> normals(uint64_t block, uint64_t seed) {
  const Words words =
      philox4x32_10({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0},
                    static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
  std::array<double, kBlock> values;
  for (int i = 0; i < kBlock; i += 2) {
    const double u = (words[i] + 1.0) * 0x1p-32;
    const double angle = 2 * std::numbers::pi * (words[i + 1] * 0x1p-32);
    const double radius = std::sqrt(-2 * std::log(u));
    values[i] = radius * std::cos(angle);
    values[i + 1] = radius * std::sin(angle);
  }
  return values;
}

}  // namespace

void randn_cpu(const RandnParams& params, const ThreadPool& pool) {
  dispatch_dtype(params.dtype, [&]<typename T>(type_tag<T>) {
    auto* out = static_cast<T*>(params.out);
    pool.parallel_for(ceil_div(params.count, kBlock), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        const auto values = normals(block, params.seed);
        const int64_t first = block * kBlock;
        for (int64_t i = 0; i < kBlock && first + i < params.count; ++i)
          out[first + i] = narrow<T>(values[i]);
      }
    });
    return cudaSuccess;
  });
}

}  // namespace ww
