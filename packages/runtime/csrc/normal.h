// The generator of randn, for host and device code alike: block b of four elements is
//   (w0, w1, w2, w3) = Philox4x32-10(counter = (b mod 2^32, b / 2^32, 0, 0), key = seed)
//   u = (w0 + 1) / 2^32 in (0, 1],  v = w1 / 2^32 in [0, 1)
//   element 4b = sqrt(-2 ln u) cos(2 pi v),  element 4b + 1 = sqrt(-2 ln u) sin(2 pi v)
// and elements 4b + 2, 4b + 3 likewise from w2, w3; in double, rounded once.
// Philox: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
// Normals: Box and Muller, "A note on the generation of random normal deviates", 1958.
//
// Every CPU and GPU gives the same bits, because nothing here is rounded but by +, -, *, / and
// sqrt, which IEEE 754 defines to the last bit: logarithm, cosine and sine are series of our own,
// within 1e-15 of the exact value. A product fused with a sum would be rounded differently, so what
// includes this file is compiled without contraction: see CMakeLists.txt.
#pragma once

#include <cmath>
#include <cstdint>

#include "warpwright/dtype.h"

namespace ww {

inline constexpr int kNormalBlock = 4;  // elements of one counter

// Inlined everywhere: on the CPU that is what lets a loop over blocks be vectorised.
#define WW_NORMAL WW_HOST_DEVICE __attribute__((always_inline)) inline

struct PhiloxWords {
  uint32_t at[kNormalBlock];
};

WW_NORMAL PhiloxWords philox4x32_10(PhiloxWords counter, uint64_t key) {
  auto key0 = static_cast<uint32_t>(key);
  auto key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xd2511f53} * counter.at[0];
    const uint64_t product1 = uint64_t{0xcd9e8d57} * counter.at[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter.at[1] ^ key0,
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter.at[3] ^ key1,
               static_cast<uint32_t>(product0)};
    key0 += 0x9e3779b9;  // the golden ratio's fraction
    key1 += 0xbb67ae85;  // that of the square root of 3
  }
  return counter;
}

namespace detail {

// coefficients[0] + z (coefficients[1] + z (...))
template <int kCount>
WW_NORMAL double polynomial(double z, const double (&coefficients)[kCount]) {
  double sum = coefficients[kCount - 1];
  for (int i = kCount - 2; i >= 0; --i) sum = sum * z + coefficients[i];
  return sum;
}

// Exact. A conversion by way of the bits, since vectors of AVX2 have none of unsigned integers.
WW_NORMAL double to_double(uint32_t x) {
  return bits_of<double>(uint64_t{0x4330000000000000} | x) - 0x1p52;
}

// -2 ln((word + 1) / 2^32). With word + 1 = m 2^k and m in [sqrt(1/2), sqrt(2)) that is
// 2 ((32 - k) ln 2 - ln m), and ln m = 2 artanh(s) = 2 (s + s^3 / 3 + s^5 / 5 + ...) for
// s = (m - 1) / (m + 1), below 0.172. The first power left out is below 3e-17 of the sum.
WW_NORMAL double minus_two_log(uint32_t word) {
  constexpr double kLn2 = 0.693147180559945309417;
  constexpr double kSeries[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                                1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19};
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;  // the bits of sqrt(1/2)
  const auto bits = bits_of<uint64_t>(to_double(word) + 1.0);
  const auto k = static_cast<uint32_t>((bits - kSqrtHalf) >> 52);
  const double m = bits_of<double>(bits - (static_cast<uint64_t>(k) << 52));
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  const double log_m = 2.0 * (s + s * (z * polynomial(z, kSeries)));
  return 2.0 * ((32.0 - to_double(k)) * kLn2 - log_m);
}

// cos and sin of 2 pi word / 2^32: a number of quarter turns, and a rest x of at most pi / 4 either
// way, by Taylor's series. The first powers left out are below 7e-17 of the sums.
WW_NORMAL void cos_sin_of_turn(uint32_t word, double& cosine, double& sine) {
  constexpr double kTurn = 6.28318530717958647693 * 0x1p-32;
  constexpr double kCosSeries[] = {
      1.0 / 24,        -1.0 / 720,         1.0 / 40320,         -1.0 / 3628800,
      1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
  constexpr double kSinSeries[] = {
      -1.0 / 6,        1.0 / 120,        -1.0 / 5040,         1.0 / 362880,
      -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
  constexpr uint32_t kEighth = 0x20000000;
  const uint32_t quarters = (word + kEighth) >> 30;
  // In [-2^29, 2^29); from 0 on until the subtraction in double, which is exact.
  const double x = (to_double((word + kEighth) & 0x3fffffff) - 0x1p29) * kTurn;
  const double z = x * x;
  const double cos_x = 1.0 - (0.5 * z - z * (z * polynomial(z, kCosSeries)));
  const double sin_x = x + x * (z * polynomial(z, kSinSeries));
  const bool odd = (quarters & 1) != 0;
  const uint64_t cos_sign = static_cast<uint64_t>((quarters + 1) & 2) << 62;
  const uint64_t sin_sign = static_cast<uint64_t>(quarters & 2) << 62;
  cosine = bits_of<double>(bits_of<uint64_t>(odd ? sin_x : cos_x) ^ cos_sign);
  sine = bits_of<double>(bits_of<uint64_t>(odd ? cos_x : sin_x) ^ sin_sign);
}

}  // namespace detail

// The four elements of a block, unrounded.
WW_NORMAL void normal_block(uint64_t block, uint64_t seed, double (&values)[kNormalBlock]) {
  const PhiloxWords words = philox4x32_10(
      {{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0}}, seed);
  for (int i = 0; i < kNormalBlock; i += 2) {
    const double radius = std::sqrt(detail::minus_two_log(words.at[i]));
    double cosine;
    double sine;
    detail::cos_sin_of_turn(words.at[i + 1], cosine, sine);
    values[i] = radius * cosine;
    values[i + 1] = radius * sine;
  }
}

}  // namespace ww
