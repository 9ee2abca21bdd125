/*===- sort.c - Sorting rows ---------------------------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * By digits of 8 bits, the lowest first: each pass counts how often each digit
 * occurs, which says where its elements go, and moves them in their order. So
 * equal elements keep theirs. What is sorted are numbers that order elements
 * as their dtype does (ft_order_key), each with its place in the row.
 *
 *   31 12 32 11   by the last digit: 31 11 12 32   by the first: 11 12 31 32
 *
 * Passes in which all elements have one digit are left out. Cost: n times the
 * bytes of an element; scratch: two copies of keys and places.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/elements.h"
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/matrices.h"

enum { DIGITS = 256 };

typedef struct keyed {
  uint64_t key;
  int64_t place;
} keyed;

/* Sorts `from`, with `to` as room; returns which of them has the result. */
static keyed *sort_keys(keyed *from, keyed *to, int64_t n, int64_t bytes) {
  int64_t counts[8][DIGITS];
  memset(counts, 0, sizeof counts);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t b = 0; b < bytes; ++b)
      ++counts[b][from[i].key >> 8 * b & (DIGITS - 1)];
  for (int64_t b = 0; b < bytes; ++b) {
    int64_t *next = counts[b], at = 0;
    if (next[from[0].key >> 8 * b & (DIGITS - 1)] == n)
      continue;
    for (int64_t d = 0; d < DIGITS; ++d) {
      int64_t count = next[d];
      next[d] = at;
      at += count;
    }
    for (int64_t i = 0; i < n; ++i)
      to[next[from[i].key >> 8 * b & (DIGITS - 1)]++] = from[i];
    keyed *other = from;
    from = to;
    to = other;
  }
  return from;
}

static int64_t sort_row(const ft_kernel_call *call, int64_t row,
                        char *scratch) {
  const DLTensor *x = call->args[0].tensor;
  const DLTensor *values = &call->results[0], *places = &call->results[1];
  int64_t n = x->shape[1], keep = values->shape[1], size = ft_element_size(x);
  keyed *first = ft_take(&scratch, n * (int64_t)sizeof *first);
  keyed *second = ft_take(&scratch, n * (int64_t)sizeof *second);
  uint64_t flip = call->args[1].integer ? ~(uint64_t)0 : 0;
  const char *from = (const char *)x->data + row * x->strides[0] * size;
  int64_t step = x->strides[1] * size;
  for (int64_t i = 0; i < n; ++i)
    first[i] = (keyed){ft_order_key(x->dtype, from + i * step) ^ flip, i};
  const keyed *sorted = sort_keys(first, second, n, size);
  char *to = (char *)values->data + row * values->strides[0] * size;
  int64_t *at = (int64_t *)places->data + row * places->strides[0];
  for (int64_t i = 0; i < keep; ++i) {
    ft_copy_element(to + i * values->strides[1] * size,
                    from + sorted[i].place * step, size);
    at[i * places->strides[1]] = sorted[i].place;
  }
  return 0;
}

int32_t ft_k_sort(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  ft_failure failure = ft_for_each_matrix(
      call, x->shape[0], ft_scratch_sort(x->shape[1]), sort_row);
  return failure.index == -2 ? FT_ERROR_MEMORY : FT_OK;
}
