#pragma once

#include "warpwright/cpu.h"
#include "warpwright/dtype.h"

namespace ww {

enum class Conversion : int {
  f16_to_f32,
  bf16_to_f32,
  f32_to_f16,
  f32_to_bf16,
  f16_to_bf16,
  bf16_to_f16,
  f16_pair_to_f32,
  bf16_pair_to_f32,
  f32_to_f16_pair,
  f32_to_bf16_pair,
};
inline constexpr int kNumConversions = 10;

struct ConvertParams {
  const void* src;  // (2 num_pairs)
  void* dst;        // (2 num_pairs)
  int64_t num_pairs;
  Conversion conversion;
};

template <typename From, typename To, typename F>
WW_HOST_DEVICE inline void convert_each(const ConvertParams& params, int64_t pair, F convert_one) {
  const auto* src = static_cast<const From*>(params.src);
  auto* dst = static_cast<To*>(params.dst);
  for (int64_t i = 2 * pair; i < 2 * pair + 2; ++i) dst[i] = convert_one(src[i]);
}

template <typename T>
WW_HOST_DEVICE inline void unpack(const ConvertParams& params, int64_t pair) {
  auto* dst = static_cast<float*>(params.dst) + 2 * pair;
  pair_to_floats(static_cast<const Pair<T>*>(params.src)[pair], dst[0], dst[1]);
}

template <typename T>
WW_HOST_DEVICE inline void pack(const ConvertParams& params, int64_t pair) {
  const auto* src = static_cast<const float*>(params.src) + 2 * pair;
  static_cast<Pair<T>*>(params.dst)[pair] = pair_from_floats<T>(src[0], src[1]);
}

// Two elements, on whichever side this is compiled for.
WW_HOST_DEVICE inline void convert_pair(const ConvertParams& params, int64_t pair) {
  const auto widen = [](auto x) { return to_float(x); };
  switch (params.conversion) {
    case Conversion::f16_to_f32:
      return convert_each<float16, float>(params, pair, widen);
    case Conversion::bf16_to_f32:
      return convert_each<bfloat16, float>(params, pair, widen);
    case Conversion::f32_to_f16:
      return convert_each<float, float16>(params, pair,
                                          [](float x) { return from_float<float16>(x); });
    case Conversion::f32_to_bf16:
      return convert_each<float, bfloat16>(params, pair,
                                           [](float x) { return from_float<bfloat16>(x); });
    case Conversion::f16_to_bf16:
      return convert_each<float16, bfloat16>(params, pair,
                                             [](float16 x) { return convert<bfloat16>(x); });
    case Conversion::bf16_to_f16:
      return convert_each<bfloat16, float16>(params, pair,
                                             [](bfloat16 x) { return convert<float16>(x); });
    case Conversion::f16_pair_to_f32:
      return unpack<float16>(params, pair);
    case Conversion::bf16_pair_to_f32:
      return unpack<bfloat16>(params, pair);
    case Conversion::f32_to_f16_pair:
      return pack<float16>(params, pair);
    case Conversion::f32_to_bf16_pair:
      return pack<bfloat16>(params, pair);
  }
}

cudaError_t convert_fwd(const ConvertParams& params, cudaStream_t stream);
cudaError_t convert_fwd_cpu(const ConvertParams& params, const ThreadPool& pool);

}  // namespace ww
