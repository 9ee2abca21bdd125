/*===- dense.h - What the algorithms share -------------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Column-major blocks: element (i, j) of `a` is a[i + j * lda].
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_KERNELS_DENSE_H
#define FORETRACE_RUNTIME_KERNELS_DENSE_H

#include "runtime/kernels/matrices.h"

#define FT_DECLARE_DENSE(T, s)                                                 \
  /* C (m × n) += alpha A (m × k) B (k × n). */                                \
  void ft_gemm_##s(int64_t m, int64_t n, int64_t k, T alpha, const T *a,       \
                   int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc);   \
  /* X of L X = B, in place of B; L lower triangular n × n. What is above its \
   * diagonal is not read, nor is the diagonal if `unit`. */                   \
  void ft_trsm_##s(int64_t n, int64_t rhs, const T *l, int64_t ldl, T *b,      \
                   int64_t ldb, bool unit);                                    \
  /* P A = L U in place, for m × n. pivots[i], from 1: the row exchanged with \
   * row i in step i. The first zero pivot, from 1; 0 if there is none. */     \
  int64_t ft_getrf_##s(int64_t m, int64_t n, T *a, int64_t lda,                \
                       int64_t *pivots);                                       \
  /* X of op(A) X = B in place of B, with L, U and pivots of A. op transposes, \
   * conjugates, or does both. Scratch: n × n elements. */                    \
  void ft_getrs_##s(int64_t n, int64_t rhs, ft_view lu, const int64_t *pivots, \
                    bool transpose, bool conjugate, T *b, int64_t ldb,         \
                    T *work);
FT_DECLARE_DENSE(double, d)
FT_DECLARE_DENSE(ft_c128, z)
#undef FT_DECLARE_DENSE

/* The same names for both element types: `conjugate` means nothing here. */
static inline void ft_fetch_d(ft_view v, double *a, int64_t ld,
                              bool conjugate) {
  (void)conjugate;
  ft_load_d(v, a, ld);
}
static inline void ft_fetch_z(ft_view v, ft_c128 *a, int64_t ld,
                              bool conjugate) {
  ft_load_z(v, a, ld, conjugate);
}

#endif /* FORETRACE_RUNTIME_KERNELS_DENSE_H */
