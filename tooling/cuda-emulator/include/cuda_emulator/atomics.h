// Atomic operations. Blocks run one after the other on one thread of the system, so a plain
// operation is one; the library is told, since to the race check it differs from plain accesses.
#pragma once

#include <type_traits>

#include "device_api.h"

namespace cudaemu {

// Not instrumented, or the parts of an atomic operation would pass for plain accesses.
template <typename T, typename F>
__attribute__((noinline, no_sanitize_thread, no_sanitize_undefined)) T update(T* address, Site site,
                                                                              F change) {
  cudaemu_check_atomic(address, sizeof(T), site);
  T old;
  __builtin_memcpy(&old, address, sizeof(T));
  const T next = change(old);
  __builtin_memcpy(address, &next, sizeof(T));
  return old;
}

}  // namespace cudaemu

template <typename T>
inline T atomicAdd(T* address, std::type_identity_t<T> value,
                   cudaemu::Site site = cudaemu::Site::here()) {
  return cudaemu::update(address, site, [=](T old) { return static_cast<T>(old + value); });
}
template <typename T>
inline T atomicMax(T* address, std::type_identity_t<T> value,
                   cudaemu::Site site = cudaemu::Site::here()) {
  return cudaemu::update(address, site, [=](T old) { return old > value ? old : value; });
}
template <typename T>
inline T atomicMin(T* address, std::type_identity_t<T> value,
                   cudaemu::Site site = cudaemu::Site::here()) {
  return cudaemu::update(address, site, [=](T old) { return old < value ? old : value; });
}
template <typename T>
inline T atomicExch(T* address, std::type_identity_t<T> value,
                    cudaemu::Site site = cudaemu::Site::here()) {
  return cudaemu::update(address, site, [=](T) { return value; });
}
template <typename T>
inline T atomicCAS(T* address, std::type_identity_t<T> compare, std::type_identity_t<T> value,
                   cudaemu::Site site = cudaemu::Site::here()) {
  return cudaemu::update(address, site, [=](T old) { return old == compare ? value : old; });
}
