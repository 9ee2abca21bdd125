/*===- eigh.c - Eigenvalues of Hermitian matrices ------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reflectors make the matrix tridiagonal and real, QL steps diagonal; the
 * rotations of the steps act on the product of the reflectors, whose columns
 * become the eigenvectors. Cost: 8/3 n³ operations, with vectors about 9 n³.
 * A matrix with NaNs or infinities has NaNs for results, as in PyTorch.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/dense.h"
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/reflectors.h"

#define FT_COMPLEX 0
#include "runtime/kernels/eigh.inc"
#undef FT_COMPLEX
#define FT_COMPLEX 1
#include "runtime/kernels/eigh.inc"

int32_t ft_k_eigh(const ft_kernel_call *call) {
  const DLTensor *a = call->args[0].tensor;
  bool is_complex = ft_is_complex(a);
  ft_failure failure = ft_for_each_matrix(
      call, ft_batch_count(a, 2),
      ft_scratch_eigh(is_complex ? 16 : 8, a->shape[a->ndim - 1]),
      is_complex ? eigh_matrix_z : eigh_matrix_d);
  if (failure.index == -2)
    return FT_ERROR_MEMORY;
  if (failure.index < 0)
    return FT_OK;
  return ft_fail_matrix(call, failure, a->ndim > 2,
                        "the algorithm failed to converge because the input "
                        "matrix is ill-conditioned or has too many repeated "
                        "eigenvalues (error code: ",
                        ")");
}
