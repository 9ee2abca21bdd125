/*===- elements.c - Walks over elements of tensors ------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/elements.h"

ft_rows ft_rows_of(int32_t ndim, const int64_t *shape, const DLTensor *t0,
                   const DLTensor *t1, const DLTensor *t2) {
  const DLTensor *tensors[FT_WALKED] = {t0, t1, t2};
  ft_rows rows;
  rows.outer = ndim > 0 ? ndim - 1 : 0;
  rows.shape = shape;
  rows.length = ndim > 0 ? shape[ndim - 1] : 1;
  rows.done = rows.length == 0;
  for (int32_t d = 0; d < ndim; ++d)
    rows.done |= shape[d] == 0;
  memset(rows.index, 0, sizeof rows.index);
  memset(rows.offset, 0, sizeof rows.offset);
  for (int32_t k = 0; k < FT_WALKED; ++k) {
    const DLTensor *t = tensors[k];
    for (int32_t d = 0; d < ndim; ++d) {
      int32_t own = t ? d - (ndim - t->ndim) : -1;
      rows.stride[k][d] = own < 0 || t->shape[own] == 1
                              ? 0
                              : t->strides[own] * ft_element_size(t);
    }
    rows.step[k] = ndim > 0 ? rows.stride[k][ndim - 1] : 0;
  }
  return rows;
}

void ft_next_row(ft_rows *rows) {
  int32_t d = rows->outer - 1;
  for (; d >= 0; --d) {
    for (int32_t k = 0; k < FT_WALKED; ++k)
      rows->offset[k] += rows->stride[k][d];
    if (++rows->index[d] < rows->shape[d])
      return;
    for (int32_t k = 0; k < FT_WALKED; ++k)
      rows->offset[k] -= rows->stride[k][d] * rows->shape[d];
    rows->index[d] = 0;
  }
  rows->done = true;
}

int64_t ft_count_true(const DLTensor *t, int32_t ndim, const int64_t *shape) {
  ft_truth truth = ft_truth_of(t->dtype);
  int64_t count = 0;
  for (ft_rows r = ft_rows_of(ndim, shape, t, NULL, NULL); !r.done;
       ft_next_row(&r)) {
    const char *at = (const char *)t->data + r.offset[0];
    for (int64_t i = 0; i < r.length; ++i, at += r.step[0])
      count += ft_is_true(truth, at);
  }
  return count;
}

int64_t ft_list_true(const DLTensor *t, int64_t *to, int64_t next,
                     int64_t across) {
  ft_truth truth = ft_truth_of(t->dtype);
  int64_t count = 0;
  for (ft_rows r = ft_rows_of(t->ndim, t->shape, t, NULL, NULL); !r.done;
       ft_next_row(&r)) {
    const char *at = (const char *)t->data + r.offset[0];
    for (int64_t i = 0; i < r.length; ++i, at += r.step[0]) {
      if (!ft_is_true(truth, at))
        continue;
      int64_t *position = to + count++ * next;
      for (int32_t d = 0; d < r.outer; ++d)
        position[d * across] = r.index[d];
      if (t->ndim)
        position[r.outer * across] = i;
    }
  }
  return count;
}

void ft_copy_elements(int32_t ndim, const int64_t *shape, char *to,
                      const int64_t *to_strides, const char *from,
                      const int64_t *from_strides, int64_t size) {
  if (ndim == 0) {
    ft_copy_element(to, from, size);
    return;
  }
  if (ndim == 1 && to_strides[0] == size && from_strides[0] == size) {
    memcpy(to, from, (size_t)(shape[0] * size));
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i)
    ft_copy_elements(ndim - 1, shape + 1, to + i * to_strides[0],
                     to_strides + 1, from + i * from_strides[0],
                     from_strides + 1, size);
}
