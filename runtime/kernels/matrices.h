/*===- matrices.h - Batches of matrices in tensors ------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A kernel of this folder works on one matrix at a time: it loads the matrix
 * from its tensor, whatever the strides, into a column-major block of doubles,
 * computes there, and stores the result, rounded once. float32 is computed in
 * double too, so there are two instances of each algorithm, not four, and a
 * float32 result is right to its last place unless the problem is
 * ill-conditioned even in double.
 *
 * Transposing is free: a view has a stride for each dim, and exchanging them
 * transposes. So does reversing (a negative stride), which makes an upper
 * triangular system a lower one:
 *
 *   [1 2]                      [3 0]
 *   [0 3] x = b   reversed     [2 1] x' = b'    x'_i = x_(n-1-i)
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_KERNELS_MATRICES_H
#define FORETRACE_RUNTIME_KERNELS_MATRICES_H

#include "foretrace/kernel.h"

#include "runtime/kernels/scratch.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef double complex ft_c128;
typedef float complex ft_c64;

/* C11's CMPLX, which the C library offers to GCC only. */
static inline ft_c128 ft_complex(double re, double im) {
  return __builtin_complex(re, im);
}
static inline ft_c64 ft_complexf(float re, float im) {
  return __builtin_complex(re, im);
}

/* One matrix (a vector is one column, a number 1 × 1) of a tensor. */
typedef struct ft_view {
  char *data;
  DLDataType dtype;
  int64_t rows, cols;
  int64_t row_stride, col_stride; /* in elements */
} ft_view;

/* Matrix `index` of `t`, counted over the leading dims of `batch`, all but its
 * last `batch_trailing`. The leading dims of `t` are broadcast to them. */
ft_view ft_matrix_at(const DLTensor *t, int32_t trailing, const DLTensor *batch,
                     int32_t batch_trailing, int64_t index);
/* The number of matrices. */
int64_t ft_batch_count(const DLTensor *t, int32_t trailing);

ft_view ft_transposed(ft_view v);
/* Element (i, j), 1 × 1. */
ft_view ft_element(ft_view v, int64_t i, int64_t j);
/* Rows and columns in opposite order. */
ft_view ft_reversed(ft_view v);
ft_view ft_rows_reversed(ft_view v);
/* A block of `size` double (complex) elements as a view. */
ft_view ft_block_d(double *data, int64_t rows, int64_t cols, int64_t ld);
ft_view ft_block_z(ft_c128 *data, int64_t rows, int64_t cols, int64_t ld);

static inline bool ft_is_complex(const DLTensor *t) {
  return t->dtype.code == kDLComplex;
}
static inline bool ft_is_double(DLDataType dtype) {
  return dtype.bits == (dtype.code == kDLComplex ? 128 : 64);
}

/* To and from column-major blocks. A complex block takes real tensors too. */
void ft_load_d(ft_view v, double *a, int64_t ld);
void ft_load_z(ft_view v, ft_c128 *a, int64_t ld, bool conjugate);
void ft_store_d(ft_view v, const double *a, int64_t ld);
void ft_store_z(ft_view v, const ft_c128 *a, int64_t ld);
/* The real parts, to a real tensor. */
void ft_store_real(ft_view v, const ft_c128 *a, int64_t ld);
/* A single element: int32 or int64 tensors, and real ones. */
void ft_put_integer(ft_view v, int64_t row, int64_t value);
int64_t ft_get_integer(ft_view v, int64_t row);

/* Scratch memory, taken from the front; starts at multiples of 64. */
void *ft_take(char **scratch, int64_t bytes);

/*===- Running over a batch -----------------------------------------------===*/

/* Computes matrix `index`; 0, or what went wrong there. */
typedef int64_t (*ft_matrix_fn)(const ft_kernel_call *call, int64_t index,
                                char *scratch);

typedef struct ft_failure {
  int64_t index; /* the first matrix that failed, -1 if none did */
  int64_t info;
} ft_failure;

/* Runs `f` over `count` matrices, pieces of the batch in parallel. The call's
 * last result is the scratch, of at least `bytes` a piece: if not, the call
 * fails and the index is -2. */
ft_failure ft_for_each_matrix(const ft_kernel_call *call, int64_t count,
                              int64_t bytes, ft_matrix_fn f);

/* The same for what shares work between the matrices lo … hi of a piece. */
typedef int64_t (*ft_range_fn)(const ft_kernel_call *call, int64_t lo,
                               int64_t hi, char *scratch);
ft_failure ft_for_each_range(const ft_kernel_call *call, int64_t count,
                             int64_t bytes, ft_range_fn f);

/* Fails with `reason`, after "(batch element 3) " where there is a batch;
 * a %d in `reason` is the info. */
int32_t ft_fail_matrix(const ft_kernel_call *call, ft_failure failure,
                       bool batched, const char *before, const char *after);

/* x / y without overflow of intermediate results. */
static inline ft_c128 ft_complex_div(ft_c128 x, ft_c128 y) {
  double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
  if (fabs(c) >= fabs(d)) {
    double r = c == 0 && d == 0 ? 0 : d / c, s = 1 / (c + d * r);
    return ft_complex((a + b * r) * s, (b - a * r) * s);
  }
  double r = c / d, s = 1 / (c * r + d);
  return ft_complex((a * r + b) * s, (b * r - a) * s);
}

#endif /* FORETRACE_RUNTIME_KERNELS_MATRICES_H */
