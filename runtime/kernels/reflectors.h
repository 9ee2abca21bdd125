/*===- reflectors.h - Householder reflectors ------------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * H = I - tau v v^H with v = (1, x): LAPACK's form, in which H^H turns a column
 * into (beta, 0, …) with a real beta. tau is 0 for a column that is so already.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_KERNELS_REFLECTORS_H
#define FORETRACE_RUNTIME_KERNELS_REFLECTORS_H

#include "runtime/kernels/matrices.h"

#define FT_DECLARE_REFLECTORS(T, s)                                            \
  /* The length of `x`, without overflow. */                                   \
  double ft_norm_##s(int64_t n, const T *x, int64_t step);                     \
  /* Of the column (alpha, x) of n elements, x at steps of `step`: tau.        \
   * alpha becomes beta, x the rest of v. */                                   \
  T ft_reflector_##s(int64_t n, T *alpha, T *x, int64_t step);                 \
  /* A (m × n) becomes (I - tau v v^H) A; v[0] is taken as 1. */               \
  void ft_reflect_##s(int64_t m, int64_t n, const T *v, T tau, T *a,           \
                      int64_t lda);                                            \
  /* R above the diagonal, reflectors below it. */                             \
  void ft_geqrf_##s(int64_t m, int64_t n, T *a, int64_t lda, T *tau);          \
  /* The first `cols` columns of H_0 H_1 ... H_(k-1), whose reflectors         \
   * are the columns of `v`, from the diagonal on. */                          \
  void ft_orgqr_##s(int64_t m, int64_t cols, int64_t k, const T *v,            \
                    int64_t ldv, const T *tau, T *q, int64_t ldq);
FT_DECLARE_REFLECTORS(double, d)
FT_DECLARE_REFLECTORS(ft_c128, z)
#undef FT_DECLARE_REFLECTORS

#endif /* FORETRACE_RUNTIME_KERNELS_REFLECTORS_H */
