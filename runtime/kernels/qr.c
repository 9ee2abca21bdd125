/*===- qr.c - A = Q R, and products of reflectors ------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/dense.h"
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/reflectors.h"

#define FT_COMPLEX 0
#include "runtime/kernels/qr.inc"
#undef FT_COMPLEX
#define FT_COMPLEX 1
#include "runtime/kernels/qr.inc"

/* Over the batch of `batch`; `other` counts the elements of a second m × other
 * block. */
static int32_t run(const ft_kernel_call *call, const DLTensor *batch,
                   int64_t other, ft_matrix_fn real, ft_matrix_fn complex_) {
  const DLTensor *a = call->args[0].tensor;
  bool is_complex = ft_is_complex(a);
  int64_t bytes = ft_scratch_qr(is_complex ? 16 : 8, a->shape[a->ndim - 2],
                                a->shape[a->ndim - 1], other);
  ft_failure failure = ft_for_each_matrix(call, ft_batch_count(batch, 2), bytes,
                                          is_complex ? complex_ : real);
  return failure.index == -2 ? FT_ERROR_MEMORY : FT_OK;
}

int32_t ft_k_geqrf(const ft_kernel_call *call) {
  return run(call, call->args[0].tensor, 0, geqrf_matrix_d, geqrf_matrix_z);
}

int32_t ft_k_qr(const ft_kernel_call *call) {
  return run(call, call->args[0].tensor, call->args[1].integer, qr_matrix_d,
             qr_matrix_z);
}

int32_t ft_k_householder(const ft_kernel_call *call) {
  const DLTensor *result = &call->results[0];
  const DLTensor *tau = call->args[1].tensor;
  if (tau->shape[tau->ndim - 1] > result->shape[result->ndim - 1])
    return call->fail(call, FT_ERROR_TENSOR, "there are too many scales");
  return run(call, result, result->shape[result->ndim - 1],
             householder_matrix_d, householder_matrix_z);
}

int32_t ft_k_ormqr(const ft_kernel_call *call) {
  const DLTensor *result = &call->results[0], *a = call->args[0].tensor;
  const DLTensor *tau = call->args[1].tensor;
  bool left = call->args[3].integer;
  int64_t side = result->shape[result->ndim - (left ? 2 : 1)];
  if (side != a->shape[a->ndim - 2] ||
      tau->shape[tau->ndim - 1] > a->shape[a->ndim - 1] ||
      tau->shape[tau->ndim - 1] > side)
    return call->fail(call, FT_ERROR_TENSOR, "the reflectors do not fit");
  return run(call, result, result->shape[result->ndim - (left ? 1 : 2)],
             ormqr_matrix_d, ormqr_matrix_z);
}
