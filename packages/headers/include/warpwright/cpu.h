// What a CPU launcher stands on: the thread pool, and code generated for the running processor.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace ww {

// Threads to run on: the runtime's pool (RuntimeApi::parallel_for) or, by default, the caller.
class ThreadPool {
 public:
  using Body = void (*)(void* context, int64_t begin, int64_t end);
  using ParallelFor = void (*)(int64_t count, int64_t grain, Body body, void* context);

  ThreadPool() = default;
  explicit ThreadPool(ParallelFor parallel_for) : parallel_for_(parallel_for) {}

  // f(begin, end) over disjoint ranges that cover [0, count), none but the last shorter than grain.
  // f must not throw: it runs on threads that have nobody to tell.
  template <typename F>
  void parallel_for(int64_t count, int64_t grain, F&& f) const {
    if (count <= 0) return;
    if (parallel_for_ == nullptr) return f(int64_t{0}, count);
    using Functor = std::remove_reference_t<F>;
    parallel_for_(
        count, grain,
        [](void* context, int64_t begin, int64_t end) noexcept {
          (*static_cast<Functor*>(context))(begin, end);
        },
        const_cast<void*>(static_cast<const void*>(&f)));
  }

 private:
  ParallelFor parallel_for_ = nullptr;
};

// Marks a lambda for vectorised(): its body is compiled into each processor level's caller.
#define WW_VECTORISED __attribute__((always_inline))

namespace detail {

#if defined(__x86_64__)
template <typename F>
[[gnu::target("arch=x86-64-v4")]] void call_v4(F& f) {
  f();
}

template <typename F>
[[gnu::target("arch=x86-64-v3")]] void call_v3(F& f) {
  f();
}

// The x86-64 level: 4, 3, or 1 for anything less. By features, since older compilers do not know
// the levels' names.
inline int processor_level() {
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                  __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? 4 : v3 ? 3 : 1;
}
#endif

}  // namespace detail

// Floats in a vector of this processor: 16, 8 or 4.
inline int vector_lanes() {
#if defined(__x86_64__)
  static const int level = detail::processor_level();
  if (level == 4) return 16;
  if (level == 3) return 8;
#endif
  return 4;
}

// Runs f, a lambda marked WW_VECTORISED, compiled for processors with vectors of kLanes floats,
// which this one has to have: AVX-512, AVX2 with FMA, or the baseline. Plain loops are vectorised
// by the compiler; the whole translation unit stays baseline code, so that nothing else can meet an
// unknown instruction.
template <int kLanes, typename F>
inline void vectorised_for(F&& f) {
#if defined(__x86_64__)
  if constexpr (kLanes == 16) return detail::call_v4(f);
  if constexpr (kLanes == 8) return detail::call_v3(f);
#endif
  if constexpr (kLanes == 4) f();
}

// The same for the longest vectors that this processor has.
template <typename F>
inline void vectorised(F&& f) {
  const int lanes = vector_lanes();
  if (lanes == 16) return vectorised_for<16>(f);
  if (lanes == 8) return vectorised_for<8>(f);
  vectorised_for<4>(f);
}

}  // namespace ww
