// mma.sync: a warp multiplies small matrices on the tensor cores, into float32 accumulators (PTX
// ISA, "mma", of sm_80). All lanes take part; a fragment is a lane's share of a matrix.
//
// In all of them the accumulator (16x8) has, in lane l with g = l / 4 and t = l % 4,
//   acc[0], acc[1]: row g,     columns 2 t and 2 t + 1
//   acc[2], acc[3]: row g + 8, the same columns
#pragma once

#include <type_traits>

#include "warpwright/dtype.h"

namespace ww {

// acc += A B, where A is 16x16 and B is 16x8, of float16 or bfloat16. Two elements a word, the
// first in its lower half (PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type"):
//   a[0]: row g, columns 2 t and 2 t + 1;  a[1]: row g + 8;  a[2], a[3]: the same 8 columns further
//   b0: column g, rows 2 t and 2 t + 1;    b1: the same 8 rows further
// So a is ldmatrix of A's quarters in the order top left, bottom left, top right, bottom right; b0
// and b1 are ldmatrix of B's halves where B is stored by columns, ldmatrix_trans where by rows.
template <typename T>
__device__ inline void mma_m16n8k16(float (&acc)[4], const uint32_t (&a)[4], uint32_t b0,
                                    uint32_t b1) {
  static_assert(std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>);
  if constexpr (std::is_same_v<T, float16>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// x as tf32: float32 with 10 bits of mantissa, rounded to nearest, ties away from zero. mma drops
// the other 13 bits of what it is given, which without this would be a truncation.
__device__ inline uint32_t to_tf32(float x) {
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

// acc += A B, where A is 16x8 and B is 8x8, of tf32 (PTX ISA, "Matrix Fragments for mma.m16n8k8"):
//   a[0]: row g, column t;  a[1]: row g + 8;  a[2], a[3]: the same 4 columns further
//   b0: row t, column g;    b1: row t + 4
__device__ inline void mma_m16n8k8_tf32(float (&acc)[4], const uint32_t (&a)[4], uint32_t b0,
                                        uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace ww
