// ldmatrix: fragments of mma.sync from shared memory, 8x8 matrices of 16-bit elements at a time
// (PTX ISA, "ldmatrix", of sm_75).
#pragma once

#include <cstdint>

namespace ww {

// kMatrices is 1, 2 or 4. Row r of matrix m is the 16 bytes at `row` of lane 8 m + r, 16-byte
// aligned; what the lanes from 8 kMatrices on pass is ignored. Of matrix m, lane l gets the
// elements 2 (l % 4) and, in the upper half, 2 (l % 4) + 1 of row l / 4 in fragment[m]. All lanes
// take part. Eight rows in different banks are one access: rows 16 bytes longer than a multiple of
// 128 are.
template <int kMatrices>
__device__ inline void ldmatrix(uint32_t (&fragment)[kMatrices], const void* row) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  const auto from = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  // volatile and "memory": it reads what barriers order.
  if constexpr (kMatrices == 1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(fragment[0])
                 : "r"(from)
                 : "memory");
  else if constexpr (kMatrices == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(fragment[0]), "=r"(fragment[1])
                 : "r"(from)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
                 : "r"(from)
                 : "memory");
}

// The same with each matrix transposed: lane l gets the elements of column l / 4 in the rows
// 2 (l % 4) and 2 (l % 4) + 1.
template <int kMatrices>
__device__ inline void ldmatrix_trans(uint32_t (&fragment)[kMatrices], const void* row) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  const auto from = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  if constexpr (kMatrices == 1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(fragment[0])
                 : "r"(from)
                 : "memory");
  else if constexpr (kMatrices == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(fragment[0]), "=r"(fragment[1])
                 : "r"(from)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
                 : "r"(from)
                 : "memory");
}

}  // namespace ww
