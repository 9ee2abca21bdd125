/*===- lu.c - LU factorisation and what is made of it --------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * P A = L U with partial pivoting, as LAPACK's getrf returns it: pivots count
 * from 1, info is the first zero pivot. A singular matrix is factored to the
 * end; who divides by its zero gets infinities, and an error where PyTorch
 * raises one ("check").
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/dense.h"
#include "runtime/kernels/kernels.h"

#define FT_COMPLEX 0
#include "runtime/kernels/lu.inc"
#undef FT_COMPLEX
#define FT_COMPLEX 1
#include "runtime/kernels/lu.inc"

static int64_t unit_of(const DLTensor *t) { return ft_is_complex(t) ? 16 : 8; }
static int64_t rows_of(const DLTensor *t) { return t->shape[t->ndim - 2]; }
static int64_t cols_of(const DLTensor *t) { return t->shape[t->ndim - 1]; }

/* What ft_for_each_matrix found, as a status if `check`. */
static int32_t singular(const ft_kernel_call *call, ft_failure failure,
                        bool check, bool batched, const char *before,
                        const char *after) {
  if (failure.index == -2)
    return FT_ERROR_MEMORY;
  if (failure.index < 0 || !check)
    return FT_OK;
  return ft_fail_matrix(call, failure, batched, before, after);
}

int32_t ft_k_lu(const ft_kernel_call *call) {
  const DLTensor *a = call->args[0].tensor;
  ft_failure failure =
      ft_for_each_matrix(call, ft_batch_count(a, 2),
                         ft_scratch_lu(unit_of(a), rows_of(a), cols_of(a), 0),
                         ft_is_complex(a) ? lu_matrix_z : lu_matrix_d);
  return singular(call, failure, call->args[1].integer, a->ndim > 2,
                  "the pivot ",
                  " is zero: using the factors to solve would divide by it");
}

int32_t ft_k_det(const ft_kernel_call *call) {
  const DLTensor *a = call->args[0].tensor;
  ft_failure failure =
      ft_for_each_matrix(call, ft_batch_count(a, 2),
                         ft_scratch_lu(unit_of(a), rows_of(a), cols_of(a), 0),
                         ft_is_complex(a) ? det_matrix_z : det_matrix_d);
  return singular(call, failure, false, false, "", NULL);
}

int32_t ft_k_solve(const ft_kernel_call *call) {
  const DLTensor *a = call->args[0].tensor, *x = &call->results[0];
  int64_t n = cols_of(a), rhs = call->args[2].integer ? cols_of(x) : rows_of(x);
  ft_failure failure = ft_for_each_matrix(
      call, ft_batch_count(x, 2), ft_scratch_lu(unit_of(a), n, n, rhs),
      ft_is_complex(a) ? solve_matrix_z : solve_matrix_d);
  return singular(call, failure, call->args[3].integer, a->ndim > 2,
                  "the solver failed because the input matrix is singular",
                  NULL);
}

int32_t ft_k_inverse(const ft_kernel_call *call) {
  const DLTensor *a = call->args[0].tensor;
  int64_t n = cols_of(a);
  ft_failure failure = ft_for_each_matrix(
      call, ft_batch_count(a, 2), ft_scratch_lu(unit_of(a), n, n, n),
      ft_is_complex(a) ? inverse_matrix_z : inverse_matrix_d);
  return singular(call, failure, call->args[1].integer, a->ndim > 2,
                  "the diagonal element ",
                  " is zero, the inversion could not be completed because the "
                  "input matrix is singular");
}

int32_t ft_k_lu_solve(const ft_kernel_call *call) {
  const DLTensor *lu = call->args[0].tensor, *x = &call->results[0];
  int64_t n = cols_of(lu);
  int64_t rhs = call->args[3].integer ? cols_of(x) : rows_of(x);
  ft_failure failure = ft_for_each_matrix(
      call, ft_batch_count(x, 2), ft_scratch_lu(unit_of(lu), n, n, rhs),
      ft_is_complex(lu) ? lu_solve_matrix_z : lu_solve_matrix_d);
  return singular(call, failure, true, x->ndim > 2, "the pivot ",
                  " is none of a factorisation: it must be between its own "
                  "number and the number of rows");
}

/* The exchanges turn rows 0, 1, ... into those of P^T A, and P takes them
 * back: P[order[i], i] = 1. */
static int64_t permutation_matrix(const ft_kernel_call *call, int64_t index,
                                  char *scratch) {
  const DLTensor *p = &call->results[0];
  ft_view to = ft_matrix_at(p, 2, p, 2, index);
  ft_view pivots = ft_matrix_at(call->args[0].tensor, 1, p, 2, index);
  int64_t *order = ft_take(&scratch, to.rows * (int64_t)sizeof *order);
  for (int64_t i = 0; i < to.rows; ++i)
    order[i] = i;
  for (int64_t i = 0; i < pivots.rows; ++i) {
    int64_t other = ft_get_integer(pivots, i) - 1;
    if (other < 0 || other >= to.rows)
      return i + 1;
    int64_t kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  const double zero = 0, one = 1;
  const ft_c128 complex_zero = 0, complex_one = 1;
  bool is_complex = ft_is_complex(p);
  for (int64_t j = 0; j < to.cols; ++j)
    for (int64_t i = 0; i < to.rows; ++i) {
      ft_view v = ft_element(to, i, j);
      if (is_complex)
        ft_store_z(v, order[j] == i ? &complex_one : &complex_zero, 1);
      else
        ft_store_d(v, order[j] == i ? &one : &zero, 1);
    }
  return 0;
}

int32_t ft_k_permutation(const ft_kernel_call *call) {
  const DLTensor *p = &call->results[0];
  ft_failure failure =
      ft_for_each_matrix(call, ft_batch_count(p, 2),
                         ft_scratch_of(8, rows_of(p), 1), permutation_matrix);
  return singular(call, failure, true, p->ndim > 2, "the pivot ",
                  " is none of a factorisation: it must be between 1 and the "
                  "number of rows");
}
