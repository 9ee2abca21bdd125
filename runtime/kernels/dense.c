/*===- dense.c - Products, triangular systems, LU ------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/dense.h"

#include <cpuid.h>
#include <stdatomic.h>

/* Asked for once: cpuid takes microseconds in a virtual machine. */
static bool has_avx2(void) {
  static _Atomic int known; /* 0: not asked, 1: no, 2: yes */
  int answer = atomic_load_explicit(&known, memory_order_relaxed);
  if (answer == 0) {
    uint32_t a, b, c, d, low = 0, high;
    const uint32_t osxsave = 1u << 27, avx2 = 1u << 5;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & osxsave))
      __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    bool saved = (low & 6) == 6; /* the system keeps the registers */
    answer =
        saved && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & avx2) ? 2 : 1;
    atomic_store_explicit(&known, answer, memory_order_relaxed);
  }
  return answer == 2;
}

#define FT_COMPLEX 0
#include "runtime/kernels/dense.inc"
#undef FT_COMPLEX
#define FT_COMPLEX 1
#include "runtime/kernels/dense.inc"
