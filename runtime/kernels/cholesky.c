/*===- cholesky.c - A = L L^H and what is made of it ---------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Only the triangle that is asked for is read. An upper factor is the adjoint
 * of the lower one of the same matrix, so its triangle is read transposed.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/dense.h"
#include "runtime/kernels/kernels.h"

#define FT_COMPLEX 0
#include "runtime/kernels/cholesky.inc"
#undef FT_COMPLEX
#define FT_COMPLEX 1
#include "runtime/kernels/cholesky.inc"

/* `order` × `rhs`, of the batch of `batch`. */
static ft_failure run(const ft_kernel_call *call, const DLTensor *batch,
                      int64_t rhs, ft_matrix_fn real, ft_matrix_fn complex_) {
  int64_t n = batch->shape[batch->ndim - 2];
  bool is_complex = ft_is_complex(batch);
  return ft_for_each_matrix(call, ft_batch_count(batch, 2),
                            ft_scratch_cholesky(is_complex ? 16 : 8, n, rhs),
                            is_complex ? complex_ : real);
}

int32_t ft_k_cholesky(const ft_kernel_call *call) {
  const DLTensor *a = call->args[0].tensor;
  ft_failure failure = run(call, a, 0, cholesky_matrix_d, cholesky_matrix_z);
  if (failure.index == -2)
    return FT_ERROR_MEMORY;
  if (failure.index < 0 || !call->args[2].integer)
    return FT_OK;
  return ft_fail_matrix(call, failure, a->ndim > 2,
                        "the factorization could not be completed because the "
                        "input is not positive-definite (the leading minor of "
                        "order ",
                        " is not positive-definite)");
}

int32_t ft_k_cholesky_solve(const ft_kernel_call *call) {
  const DLTensor *x = &call->results[0];
  ft_failure failure = run(call, x, x->shape[x->ndim - 1],
                           cholesky_solve_matrix_d, cholesky_solve_matrix_z);
  return failure.index == -2 ? FT_ERROR_MEMORY : FT_OK;
}

int32_t ft_k_cholesky_inverse(const ft_kernel_call *call) {
  const DLTensor *x = &call->results[0];
  ft_failure failure =
      run(call, x, x->shape[x->ndim - 1], cholesky_inverse_matrix_d,
          cholesky_inverse_matrix_z);
  return failure.index == -2 ? FT_ERROR_MEMORY : FT_OK;
}
