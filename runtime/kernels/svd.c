/*===- svd.c - Singular values -------------------------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Golub and Kahan: reflectors from both sides make the matrix bidiagonal and
 * real, shifted QR steps on B^T B, never formed, make it diagonal; their
 * rotations act on the products of the reflectors. Errors of the values are a
 * few ulp of the largest. Cost: 4 m n² operations, with vectors about three
 * times that.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/dense.h"
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/reflectors.h"

#define FT_COMPLEX 0
#include "runtime/kernels/svd.inc"
#undef FT_COMPLEX
#define FT_COMPLEX 1
#include "runtime/kernels/svd.inc"

int32_t ft_k_svd(const ft_kernel_call *call) {
  const DLTensor *a = call->args[0].tensor;
  bool is_complex = ft_is_complex(a);
  ft_failure failure = ft_for_each_matrix(
      call, ft_batch_count(a, 2),
      ft_scratch_svd(is_complex ? 16 : 8, a->shape[a->ndim - 2],
                     a->shape[a->ndim - 1]),
      is_complex ? svd_matrix_z : svd_matrix_d);
  if (failure.index == -2)
    return FT_ERROR_MEMORY;
  if (failure.index < 0)
    return FT_OK;
  if (failure.info == -1)
    return ft_fail_matrix(call, failure, a->ndim > 2,
                          "the algorithm failed to converge because the input "
                          "matrix contained non-finite values",
                          NULL);
  return ft_fail_matrix(call, failure, a->ndim > 2,
                        "the algorithm failed to converge because the input "
                        "matrix is ill-conditioned or has too many repeated "
                        "singular values (error code: ",
                        ")");
}
