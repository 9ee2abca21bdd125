/*===- triangular.c - Triangular systems ---------------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Every case is a lower triangular system from the left: views transpose and
 * reverse (matrices.h). A zero on the diagonal divides, as in LAPACK.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/dense.h"
#include "runtime/kernels/kernels.h"

#define FT_COMPLEX 0
#include "runtime/kernels/triangular.inc"
#undef FT_COMPLEX
#define FT_COMPLEX 1
#include "runtime/kernels/triangular.inc"

int32_t ft_k_triangular(const ft_kernel_call *call) {
  const DLTensor *a = call->args[0].tensor, *x = &call->results[0];
  int64_t n = a->shape[a->ndim - 1];
  int64_t rhs = x->shape[x->ndim - (call->args[3].integer ? 1 : 2)];
  bool is_complex = ft_is_complex(a);
  ft_failure failure = ft_for_each_matrix(
      call, ft_batch_count(x, 2),
      ft_scratch_triangular(is_complex ? 16 : 8, n, rhs),
      is_complex ? triangular_matrix_z : triangular_matrix_d);
  return failure.index == -2 ? FT_ERROR_MEMORY : FT_OK;
}
