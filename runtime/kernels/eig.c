/*===- eig.c - Eigenvalues and eigenvectors of any matrix ----------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Balanced, brought to Hessenberg form, then to Schur form A = Z T Z^H. A real
 * Schur form becomes a complex one by a rotation for each 2 × 2 block. T x = t
 * x is solved backwards for each diagonal element t; Z x, unbalanced, is an
 * eigenvector, scaled to length 1 with its largest element real, as LAPACK
 * does. Conjugate eigenvalues of a real matrix have conjugate vectors.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/dense.h"
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/reflectors.h"
#include "runtime/kernels/schur.h"

#include <float.h>

#define FT_COMPLEX 0
#include "runtime/kernels/eig.inc"
#undef FT_COMPLEX
#define FT_COMPLEX 1
#include "runtime/kernels/eig.inc"

/* Rotates rows and columns k, k + 1 of T so that the 2 × 2 block there becomes
 * triangular, with the eigenvalue of positive imaginary part first. */
static void make_triangular(int64_t n, ft_c128 *t, ft_c128 *z, int64_t k) {
  double a = creal(t[k + k * n]), c = creal(t[k + 1 + k * n]);
  double b = creal(t[k + (k + 1) * n]);
  double im = sqrt(fabs(b)) * sqrt(fabs(c));
  ft_c128 value = ft_complex(a, im);
  /* (b, value - a) is an eigenvector of the block, whose diagonal is a, a. */
  double r = hypot(b, im);
  ft_c128 x = b / r, y = ft_complex(0, im / r);
  for (int64_t j = k; j < n; ++j) {
    ft_c128 p = t[k + j * n], q = t[k + 1 + j * n];
    t[k + j * n] = conj(x) * p + conj(y) * q;
    t[k + 1 + j * n] = x * q - y * p;
  }
  for (int64_t turn = 0; turn < 2; ++turn) {
    ft_c128 *u = (turn ? z : t) + k * n, *v = u + n;
    for (int64_t i = 0; i < (turn ? n : k + 2); ++i) {
      ft_c128 p = u[i], q = v[i];
      u[i] = p * x + q * y;
      v[i] = q * conj(x) - p * conj(y);
    }
  }
  t[k + 1 + k * n] = 0;
  t[k + k * n] = value;
  t[k + 1 + (k + 1) * n] = conj(value);
}

/* x of (T - t[k]) x = 0 with x[k] = 1, elements before it. */
static void solve_backwards(int64_t n, const ft_c128 *t, int64_t k, double tiny,
                            ft_c128 *x) {
  memset(x, 0, (size_t)n * sizeof *x);
  x[k] = 1;
  for (int64_t i = 0; i < k; ++i)
    x[i] = -t[i + k * n];
  for (int64_t j = k - 1; j >= 0; --j) {
    ft_c128 pivot = t[j + j * n] - t[k + k * n];
    if (fabs(creal(pivot)) + fabs(cimag(pivot)) < tiny)
      pivot = tiny;
    x[j] = ft_complex_div(x[j], pivot);
    double size = hypot(creal(x[j]), cimag(x[j]));
    if (size > 1e100)
      for (int64_t i = 0; i <= k; ++i)
        x[i] /= size;
    for (int64_t i = 0; i < j; ++i)
      x[i] -= x[j] * t[i + j * n];
  }
}

/* Undoes the balancing of a vector. */
static void unbalance(int64_t n, int64_t lo, int64_t hi, const double *with,
                      ft_c128 *v) {
  for (int64_t i = lo; i <= hi && i < n; ++i)
    v[i] *= with[i];
  for (int64_t step = 0; step < n; ++step) {
    /* From the middle outwards: the reverse of how they were made. */
    int64_t i = step < lo                  ? lo - 1 - step
                : step < lo + (n - 1 - hi) ? hi + 1 + (step - lo)
                                           : n;
    if (i >= n)
      break;
    int64_t j = (int64_t)with[i];
    ft_c128 kept = v[i];
    v[i] = v[j];
    v[j] = kept;
  }
}

static void normalize(int64_t n, ft_c128 *v) {
  double length = ft_norm_z(n, v, 1), most = -1;
  int64_t largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    double size = hypot(creal(v[i]), cimag(v[i]));
    if (size > most) {
      most = size;
      largest = i;
    }
  }
  ft_c128 phase = most > 0 ? conj(v[largest]) / most : 1;
  for (int64_t i = 0; i < n; ++i)
    v[i] = v[i] / length * phase;
  v[largest] = creal(v[largest]);
}

/* (A, vectors) -> eigenvalues, eigenvectors */
static int64_t eig_matrix(const ft_kernel_call *c, int64_t index, char *s) {
  const DLTensor *given = c->args[0].tensor;
  bool is_complex = ft_is_complex(given), vectors = c->args[1].integer;
  ft_view from = ft_matrix_at(given, 2, given, 2, index);
  ft_view values = ft_matrix_at(&c->results[0], 1, given, 2, index);
  int64_t n = from.rows, bytes = n * n * (int64_t)sizeof(ft_c128);
  ft_c128 *t = ft_take(&s, bytes), *z = ft_take(&s, bytes);
  ft_c128 *v = ft_take(&s, bytes), *x = ft_take(&s, n * 16);
  double *with = ft_take(&s, n * 8);
  double *real_t = ft_take(&s, bytes / 2), *real_z = ft_take(&s, bytes / 2);
  int64_t lo, hi, info;
  ft_load_z(from, t, n, false);
  double finite = 0;
  for (int64_t i = 0; i < n * n; ++i)
    finite += fabs(creal(t[i])) * 0 + fabs(cimag(t[i])) * 0;
  if (finite != 0)
    return -1;
  if (is_complex) {
    balance_z(n, t, &lo, &hi, with);
    hessenberg_z(n, lo, hi, t, z, x, v);
    info = ft_schur_z(n, lo, hi, t, z);
  } else {
    ft_load_d(from, real_t, n);
    balance_d(n, real_t, &lo, &hi, with);
    hessenberg_d(n, lo, hi, real_t, real_z, (double *)x, (double *)v);
    info = ft_schur_d(n, lo, hi, real_t, real_z);
    for (int64_t i = 0; i < n * n; ++i) {
      t[i] = real_t[i];
      z[i] = real_z[i];
    }
    for (int64_t k = 0; k + 1 < n; ++k)
      if (real_t[k + 1 + k * n] != 0)
        make_triangular(n, t, z, k);
  }
  double norm = 0;
  for (int64_t i = 0; i < n; ++i) {
    x[i] = t[i + i * n];
    for (int64_t j = i; j < n; ++j)
      norm = fmax(norm, fabs(creal(t[i + j * n])) + fabs(cimag(t[i + j * n])));
  }
  ft_store_z(values, x, n);
  if (!vectors || info)
    return info;
  double tiny = fmax(DBL_EPSILON * norm, DBL_MIN / DBL_EPSILON);
  for (int64_t k = 0; k < n; ++k) {
    ft_c128 *column = v + k * n, value = t[k + k * n];
    bool conjugate = !is_complex && k > 0 && cimag(value) < 0;
    for (int64_t i = 0; conjugate && i < n; ++i)
      column[i] = conj(column[i - n]);
    if (conjugate)
      continue;
    solve_backwards(n, t, k, tiny, x);
    memset(column, 0, (size_t)n * 16);
    ft_gemm_z(n, 1, k + 1, 1, z, n, x, n, column, n);
    unbalance(n, lo, hi, with, column);
    normalize(n, column);
    for (int64_t i = 0; !is_complex && cimag(value) == 0 && i < n; ++i)
      column[i] = creal(column[i]);
  }
  ft_store_z(ft_matrix_at(&c->results[1], 2, given, 2, index), v, n);
  return 0;
}

int32_t ft_k_eig(const ft_kernel_call *call) {
  const DLTensor *a = call->args[0].tensor;
  ft_failure failure =
      ft_for_each_matrix(call, ft_batch_count(a, 2),
                         ft_scratch_eig(a->shape[a->ndim - 1]), eig_matrix);
  if (failure.index == -2)
    return FT_ERROR_MEMORY;
  if (failure.index < 0)
    return FT_OK;
  if (failure.info == -1)
    return ft_fail_matrix(call, failure, a->ndim > 2,
                          "the input matrix contains infinities or NaNs", NULL);
  return ft_fail_matrix(call, failure, a->ndim > 2,
                        "the algorithm failed to converge (error code: ", ")");
}
