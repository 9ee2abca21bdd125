/*===- ldl.c - A = L D L^H of symmetric matrices -------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * D has blocks of one or two, chosen as LAPACK's sytrf does (Bunch and
 * Kaufman), from the lower triangle. A positive pivot is the row, from 1, that
 * was exchanged with row k; two equal negative ones say that a block of two
 * starts at k and which row was exchanged with its second.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/dense.h"
#include "runtime/kernels/kernels.h"

#define FT_COMPLEX 0
#include "runtime/kernels/ldl.inc"
#undef FT_COMPLEX
#define FT_COMPLEX 1
#include "runtime/kernels/ldl.inc"

/* (A, hermitian, check) */
int32_t ft_k_ldl(const ft_kernel_call *call) {
  const DLTensor *a = call->args[0].tensor;
  bool is_complex = ft_is_complex(a);
  ft_failure failure = ft_for_each_matrix(
      call, ft_batch_count(a, 2),
      ft_scratch_ldl(is_complex ? 16 : 8, a->shape[a->ndim - 1], 0),
      is_complex ? ldl_matrix_z : ldl_matrix_d);
  if (failure.index == -2)
    return FT_ERROR_MEMORY;
  if (failure.index < 0 || !call->args[2].integer)
    return FT_OK;
  return ft_fail_matrix(call, failure, a->ndim > 2, "the block ",
                        " of D is exactly zero: solving would divide by it");
}

/* (LD, pivots, B, hermitian) */
int32_t ft_k_ldl_solve(const ft_kernel_call *call) {
  const DLTensor *a = call->args[0].tensor, *x = &call->results[0];
  bool is_complex = ft_is_complex(a);
  ft_failure failure = ft_for_each_matrix(
      call, ft_batch_count(x, 2),
      ft_scratch_ldl(is_complex ? 16 : 8, a->shape[a->ndim - 1],
                     x->shape[x->ndim - 1]),
      is_complex ? ldl_solve_matrix_z : ldl_solve_matrix_d);
  if (failure.index == -2)
    return FT_ERROR_MEMORY;
  if (failure.index < 0)
    return FT_OK;
  return ft_fail_matrix(call, failure, x->ndim > 2, "the pivot ",
                        " is none of a factorisation");
}
