/*===- matrix_exp.c - The exponential of a matrix ------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A is halved until the [13/13] Padé approximant of exp is exact to double
 * precision (1-norm up to 5.37, Higham 2005); its exponential is squared as
 * often. Six products, one solution and the squarings.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/dense.h"
#include "runtime/kernels/kernels.h"

#define FT_COMPLEX 0
#include "runtime/kernels/matrix_exp.inc"
#undef FT_COMPLEX
#define FT_COMPLEX 1
#include "runtime/kernels/matrix_exp.inc"

int32_t ft_k_matrix_exp(const ft_kernel_call *call) {
  const DLTensor *a = call->args[0].tensor;
  bool is_complex = ft_is_complex(a);
  ft_failure failure = ft_for_each_matrix(
      call, ft_batch_count(a, 2),
      ft_scratch_matrix_exp(is_complex ? 16 : 8, a->shape[a->ndim - 1]),
      is_complex ? exp_matrix_z : exp_matrix_d);
  return failure.index == -2 ? FT_ERROR_MEMORY : FT_OK;
}
