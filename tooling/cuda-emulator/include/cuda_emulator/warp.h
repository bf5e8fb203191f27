// Shuffles, votes and __syncwarp.
#pragma once

#include "device_api.h"

namespace cudaemu {

template <typename T>
inline T shuffle(WarpOp op, unsigned mask, T value, int argument, int width, Site site) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t word = 0;
  memcpy(&word, &value, sizeof(T));
  word = cudaemu_warp(op, mask, word, argument, width, site);
  memcpy(&value, &word, sizeof(T));
  return value;
}

}  // namespace cudaemu

template <typename T>
inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32,
                     cudaemu::Site site = cudaemu::Site::here()) {
  return cudaemu::shuffle(cudaemu::WarpOp::shuffle, mask, value, lane, width, site);
}
template <typename T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                        cudaemu::Site site = cudaemu::Site::here()) {
  return cudaemu::shuffle(cudaemu::WarpOp::shuffle_up, mask, value, delta, width, site);
}
template <typename T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                          cudaemu::Site site = cudaemu::Site::here()) {
  return cudaemu::shuffle(cudaemu::WarpOp::shuffle_down, mask, value, delta, width, site);
}
template <typename T>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                         cudaemu::Site site = cudaemu::Site::here()) {
  return cudaemu::shuffle(cudaemu::WarpOp::shuffle_xor, mask, value, lane_mask, width, site);
}

inline void __syncwarp(unsigned mask = 0xffffffffu, cudaemu::Site site = cudaemu::Site::here()) {
  cudaemu_warp(cudaemu::WarpOp::sync, mask, 0, 0, 32, site);
}
inline int __any_sync(unsigned mask, int predicate, cudaemu::Site site = cudaemu::Site::here()) {
  return static_cast<int>(cudaemu_warp(cudaemu::WarpOp::any, mask, predicate != 0, 0, 32, site));
}
inline int __all_sync(unsigned mask, int predicate, cudaemu::Site site = cudaemu::Site::here()) {
  return static_cast<int>(cudaemu_warp(cudaemu::WarpOp::all, mask, predicate != 0, 0, 32, site));
}
inline unsigned __ballot_sync(unsigned mask, int predicate,
                              cudaemu::Site site = cudaemu::Site::here()) {
  return static_cast<unsigned>(
      cudaemu_warp(cudaemu::WarpOp::ballot, mask, predicate != 0, 0, 32, site));
}
inline unsigned __activemask() { return cudaemu_active_mask(); }
