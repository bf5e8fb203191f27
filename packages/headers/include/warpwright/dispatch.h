// From run-time values to template arguments, without macros. Each calls its functor and returns
// what that returned, or cudaErrorInvalidValue when no candidate matches.
#pragma once

#include <type_traits>
#include <utility>

#include "warpwright/dtype.h"

namespace ww {

template <typename T>
WW_HOST_DEVICE constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}

// f(type_tag<T>{}) for float, float16 or bfloat16. Inlined always: code that is compiled for the
// running processor may stand inside.
template <typename F>
__attribute__((always_inline)) inline cudaError_t dispatch_dtype(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::f32:
      return f(type_tag<float>{});
    case Dtype::f16:
      return f(type_tag<float16>{});
    case Dtype::bf16:
      return f(type_tag<bfloat16>{});
    default:
      return cudaErrorInvalidValue;
  }
}

// f(std::true_type{}) or f(std::false_type{}).
template <typename F>
cudaError_t dispatch_bool(bool value, F&& f) {
  return value ? f(std::true_type{}) : f(std::false_type{});
}

// f(std::integral_constant<int, V>{}) for the V that equals `value`.
template <int... kValues, typename F>
cudaError_t dispatch_int(int value, F&& f) {
  cudaError_t status = cudaErrorInvalidValue;
  (void)((value == kValues && (status = f(std::integral_constant<int, kValues>{}), true)) || ...);
  return status;
}

// f(std::integral_constant<int, I>{}) for the I in 0..kCount-1 that equals `index`: the way from an
// entry of a constexpr table to a kernel instance.
template <int kCount, typename F>
cudaError_t dispatch_index(int index, F&& f) {
  return [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) {
    return dispatch_int<kIndex...>(index, f);
  }(std::make_integer_sequence<int, kCount>{});
}

}  // namespace ww
