// What scripts/rewrite.mjs turns __shared__ declarations into.
#pragma once

#include <type_traits>

#include "device_api.h"

namespace cudaemu {

template <typename T, size_t kAlignment = alignof(T)>
inline T& shared_ref(const void* key, const char* name) {
  static_assert(std::is_trivially_default_constructible_v<T>,
                "a __shared__ variable cannot have a constructor");
  constexpr size_t alignment = kAlignment > alignof(T) ? kAlignment : alignof(T);
  return *static_cast<T*>(cudaemu_shared(key, name, sizeof(T), alignment));
}

// T is an array of unknown bound.
template <typename T>
inline T& dynamic_shared_ref() {
  return *static_cast<T*>(cudaemu_dynamic_shared());
}

}  // namespace cudaemu
