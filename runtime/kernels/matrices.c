/*===- matrices.c - Batches of matrices in tensors ------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/matrices.h"

/*===- Views --------------------------------------------------------------===*/

static int64_t bytes_of(DLDataType dtype) { return dtype.bits / 8; }

ft_view ft_matrix_at(const DLTensor *t, int32_t trailing, const DLTensor *batch,
                     int32_t batch_trailing, int64_t index) {
  int32_t own = t->ndim - trailing, lead = batch->ndim - batch_trailing;
  int64_t offset = 0;
  for (int32_t d = lead - 1; d >= 0; --d) {
    int64_t position = index % batch->shape[d];
    index /= batch->shape[d];
    int32_t mine = d - (lead - own);
    if (mine >= 0 && t->shape[mine] != 1)
      offset += position * t->strides[mine];
  }
  ft_view v = {
      (char *)t->data + offset * bytes_of(t->dtype), t->dtype, 1, 1, 0, 0};
  if (trailing >= 1) {
    int32_t row = t->ndim - trailing;
    v.rows = t->shape[row];
    v.row_stride = t->strides[row];
  }
  if (trailing >= 2) {
    v.cols = t->shape[t->ndim - 1];
    v.col_stride = t->strides[t->ndim - 1];
  }
  return v;
}

int64_t ft_batch_count(const DLTensor *t, int32_t trailing) {
  int64_t count = 1;
  for (int32_t d = 0; d < t->ndim - trailing; ++d)
    count *= t->shape[d];
  return count;
}

ft_view ft_transposed(ft_view v) {
  ft_view r = v;
  r.rows = v.cols;
  r.cols = v.rows;
  r.row_stride = v.col_stride;
  r.col_stride = v.row_stride;
  return r;
}

ft_view ft_element(ft_view v, int64_t i, int64_t j) {
  v.data += (i * v.row_stride + j * v.col_stride) * bytes_of(v.dtype);
  v.rows = v.cols = 1;
  return v;
}

ft_view ft_rows_reversed(ft_view v) {
  if (v.rows > 0)
    v.data += (v.rows - 1) * v.row_stride * bytes_of(v.dtype);
  v.row_stride = -v.row_stride;
  return v;
}

ft_view ft_reversed(ft_view v) {
  return ft_transposed(ft_rows_reversed(ft_transposed(ft_rows_reversed(v))));
}

ft_view ft_block_d(double *data, int64_t rows, int64_t cols, int64_t ld) {
  ft_view v = {(char *)data, {kDLFloat, 64, 1}, rows, cols, 1, ld};
  return v;
}

ft_view ft_block_z(ft_c128 *data, int64_t rows, int64_t cols, int64_t ld) {
  ft_view v = {(char *)data, {kDLComplex, 128, 1}, rows, cols, 1, ld};
  return v;
}

/*===- Loading and storing ------------------------------------------------===*/

#define FOR_ELEMENTS(type, statement)                                          \
  for (int64_t j = 0; j < v.cols; ++j) {                                       \
    type *p = (type *)v.data + j * v.col_stride;                               \
    for (int64_t i = 0; i < v.rows; ++i, p += v.row_stride)                    \
      statement;                                                               \
  }

void ft_load_d(ft_view v, double *a, int64_t ld) {
  if (ft_is_double(v.dtype))
    FOR_ELEMENTS(double, a[i + j * ld] = *p)
  else
    FOR_ELEMENTS(float, a[i + j * ld] = *p)
}

void ft_load_z(ft_view v, ft_c128 *a, int64_t ld, bool conjugate) {
  double sign = conjugate ? -1 : 1;
  if (v.dtype.code != kDLComplex) {
    if (ft_is_double(v.dtype))
      FOR_ELEMENTS(double, a[i + j * ld] = *p)
    else
      FOR_ELEMENTS(float, a[i + j * ld] = *p)
  } else if (ft_is_double(v.dtype)) {
    FOR_ELEMENTS(ft_c128,
                 a[i + j * ld] = ft_complex(creal(*p), sign * cimag(*p)))
  } else {
    FOR_ELEMENTS(ft_c64, a[i + j * ld] = ft_complex((double)crealf(*p),
                                                    sign * (double)cimagf(*p)))
  }
}

void ft_store_d(ft_view v, const double *a, int64_t ld) {
  if (ft_is_double(v.dtype))
    FOR_ELEMENTS(double, *p = a[i + j * ld])
  else
    FOR_ELEMENTS(float, *p = (float)a[i + j * ld])
}

void ft_store_z(ft_view v, const ft_c128 *a, int64_t ld) {
  if (ft_is_double(v.dtype))
    FOR_ELEMENTS(ft_c128, *p = a[i + j * ld])
  else
    FOR_ELEMENTS(ft_c64, *p = ft_complexf((float)creal(a[i + j * ld]),
                                          (float)cimag(a[i + j * ld])))
}

void ft_store_real(ft_view v, const ft_c128 *a, int64_t ld) {
  if (ft_is_double(v.dtype))
    FOR_ELEMENTS(double, *p = creal(a[i + j * ld]))
  else
    FOR_ELEMENTS(float, *p = (float)creal(a[i + j * ld]))
}

void ft_put_integer(ft_view v, int64_t row, int64_t value) {
  if (v.dtype.bits == 32)
    ((int32_t *)v.data)[row * v.row_stride] = (int32_t)value;
  else
    ((int64_t *)v.data)[row * v.row_stride] = value;
}

int64_t ft_get_integer(ft_view v, int64_t row) {
  return v.dtype.bits == 32 ? ((int32_t *)v.data)[row * v.row_stride]
                            : ((int64_t *)v.data)[row * v.row_stride];
}

void *ft_take(char **scratch, int64_t bytes) {
  char *start = (char *)(((uintptr_t)*scratch + 63) & ~(uintptr_t)63);
  *scratch = start + bytes;
  return start;
}

/*===- Running over a batch -----------------------------------------------===*/

enum { MOST_PIECES = 64 };

struct pieces {
  const ft_kernel_call *call;
  ft_matrix_fn f;
  ft_range_fn range;
  int64_t count, pieces;
  const DLTensor *scratch;
  ft_failure failures[MOST_PIECES];
};

static void run_pieces(void *args, int64_t lo, int64_t hi) {
  struct pieces *p = args;
  for (int64_t piece = lo; piece < hi; ++piece) {
    char *scratch = (char *)p->scratch->data + piece * p->scratch->strides[0];
    int64_t from = p->count * piece / p->pieces;
    int64_t to = p->count * (piece + 1) / p->pieces;
    if (p->range) {
      int64_t info = p->range(p->call, from, to, scratch);
      if (info != 0)
        p->failures[piece] = (ft_failure){from, info};
      continue;
    }
    for (int64_t i = from; i < to; ++i) {
      int64_t info = p->f(p->call, i, scratch);
      if (info != 0 && p->failures[piece].index < 0)
        p->failures[piece] = (ft_failure){i, info};
    }
  }
}

static ft_failure run_all(const ft_kernel_call *call, int64_t count,
                          int64_t bytes, ft_matrix_fn f, ft_range_fn range) {
  struct pieces p = {.call = call,
                     .f = f,
                     .range = range,
                     .count = count,
                     .scratch = &call->results[call->num_results - 1]};
  p.pieces = p.scratch->shape[0];
  if (p.pieces > MOST_PIECES)
    p.pieces = MOST_PIECES;
  if (p.pieces > count)
    p.pieces = count;
  ft_failure none = {-1, 0};
  if (count <= 0)
    return none;
  if (p.pieces < 1 || p.scratch->shape[1] < bytes) {
    call->fail(call, FT_ERROR_MEMORY, "the scratch memory is too small");
    none.index = -2;
    return none;
  }
  for (int64_t i = 0; i < p.pieces; ++i)
    p.failures[i] = none;
  if (p.pieces == 1)
    run_pieces(&p, 0, 1);
  else
    call->parallel_for(call, run_pieces, &p, p.pieces, 1);
  for (int64_t i = 0; i < p.pieces; ++i)
    if (p.failures[i].index >= 0)
      return p.failures[i];
  return none;
}

ft_failure ft_for_each_matrix(const ft_kernel_call *call, int64_t count,
                              int64_t bytes, ft_matrix_fn f) {
  return run_all(call, count, bytes, f, NULL);
}

ft_failure ft_for_each_range(const ft_kernel_call *call, int64_t count,
                             int64_t bytes, ft_range_fn f) {
  return run_all(call, count, bytes, NULL, f);
}

static char *put_text(char *at, const char *end, const char *text) {
  while (*text && at < end)
    *at++ = *text++;
  return at;
}

static char *put_number(char *at, const char *end, int64_t number) {
  char digits[24];
  char *d = digits + sizeof digits - 1;
  bool negative = number < 0;
  uint64_t n = negative ? 0 - (uint64_t)number : (uint64_t)number;
  *d = 0;
  do
    *--d = (char)('0' + n % 10);
  while (n /= 10);
  if (negative)
    *--d = '-';
  return put_text(at, end, d);
}

int32_t ft_fail_matrix(const ft_kernel_call *call, ft_failure failure,
                       bool batched, const char *before, const char *after) {
  char text[400];
  char *at = text, *end = text + sizeof text - 1;
  if (batched) {
    at = put_text(at, end, "(batch element ");
    at = put_number(at, end, failure.index);
    at = put_text(at, end, ") ");
  }
  at = put_text(at, end, before);
  if (after) {
    at = put_number(at, end, failure.info);
    at = put_text(at, end, after);
  }
  *at = 0;
  return call->fail(call, FT_ERROR_ARGUMENT, text);
}
