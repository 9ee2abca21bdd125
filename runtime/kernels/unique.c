/*===- unique.c - Distinct values, and where they occur ------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Elements become keys, numbers of 64 bits that are ordered as the elements
 * are; with their positions the keys are sorted by radix, a byte at a time,
 * stable; neighbours of equal keys are one value. NaN equals nothing, so each
 * is a value of its own, as in PyTorch.
 *
 *   [3, 1, NaN, 1]   sorted positions 1 3 0 2   values 1 3 NaN
 *                    inverse 1 0 2 0            counts 2 1 1
 *
 * Cost: up to 8 passes over the keys; bytes that all keys share need none.
 * Slices along a dim are rows of keys and are sorted by merging.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/elements.h"
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/scratch.h"

static const DLDataType kInt64 = {kDLInt, 64, 1};

/* What distinct values are made of: `n` things of `width` keys each. */
typedef struct table {
  DLDataType dtype;
  int64_t n, width;
  uint64_t *keys;    /* [n * width] */
  uint64_t *spare;   /* [n], for sorting single keys */
  int64_t *position; /* [n], in sorted order */
  int64_t *other;    /* [n] */
  int64_t *group;    /* [n]: the value of the i-th in sorted order */
  int64_t groups;
} table;

static table make_table(const ft_kernel_call *call, DLDataType dtype, int64_t n,
                        int64_t width) {
  int64_t *memory = (int64_t *)ft_scratch_memory(call);
  table t = {.dtype = dtype, .n = n, .width = width};
  t.keys = (uint64_t *)memory;
  t.spare = t.keys + n * width;
  t.position = (int64_t *)(t.spare + n);
  t.other = t.position + n;
  t.group = t.other + n;
  for (int64_t i = 0; i < n; ++i)
    t.position[i] = i;
  return t;
}

/*===- Sorting ------------------------------------------------------------===*/

/* Least significant byte first; each pass keeps the order of equal bytes. */
static void sort_keys(table *t) {
  static const int kBytes = 8;
  int64_t counts[8][256];
  memset(counts, 0, sizeof counts);
  for (int64_t i = 0; i < t->n; ++i)
    for (int b = 0; b < kBytes; ++b)
      ++counts[b][t->keys[i] >> (8 * b) & 255];
  for (int b = 0; b < kBytes; ++b) {
    int64_t at = 0, *count = counts[b];
    if (t->n == 0 || count[t->keys[0] >> (8 * b) & 255] == t->n)
      continue;
    for (int v = 0; v < 256; ++v) {
      int64_t c = count[v];
      count[v] = at;
      at += c;
    }
    for (int64_t i = 0; i < t->n; ++i) {
      int64_t to = count[t->keys[i] >> (8 * b) & 255]++;
      t->spare[to] = t->keys[i];
      t->other[to] = t->position[i];
    }
    uint64_t *keys = t->keys;
    int64_t *position = t->position;
    t->keys = t->spare;
    t->spare = keys;
    t->position = t->other;
    t->other = position;
  }
}

/* The order of two rows: negative, 0, positive. */
static int compare_rows(const table *t, int64_t a, int64_t b) {
  const uint64_t *x = t->keys + a * t->width, *y = t->keys + b * t->width;
  for (int64_t i = 0; i < t->width; ++i)
    if (x[i] != y[i])
      return x[i] < y[i] ? -1 : 1;
  return 0;
}

/* Merges sorted runs of 1, 2, 4, … rows. */
static void sort_rows(table *t) {
  for (int64_t run = 1; run < t->n; run *= 2) {
    for (int64_t low = 0; low < t->n; low += 2 * run) {
      int64_t middle = low + run < t->n ? low + run : t->n;
      int64_t high = low + 2 * run < t->n ? low + 2 * run : t->n;
      int64_t i = low, j = middle;
      for (int64_t k = low; k < high; ++k) {
        bool first =
            j == high || (i < middle &&
                          compare_rows(t, t->position[i], t->position[j]) <= 0);
        t->other[k] = first ? t->position[i++] : t->position[j++];
      }
    }
    int64_t *position = t->position;
    t->position = t->other;
    t->other = position;
  }
}

/*===- Groups of equals ---------------------------------------------------===*/

static bool equal_keys(const table *t, const uint64_t *a, const uint64_t *b) {
  for (int64_t i = 0; i < t->width; ++i)
    if (a[i] != b[i] || ft_key_is_nan(t->dtype, a[i]))
      return false;
  return true;
}

/* Numbers the groups of equal neighbours. `in_place`: row i belongs to
 * position[i]; otherwise the keys were moved along. */
static void make_groups(table *t, bool in_place) {
  t->groups = 0;
  for (int64_t i = 0; i < t->n; ++i) {
    int64_t now = in_place ? t->position[i] : i;
    int64_t before = i == 0 ? 0 : in_place ? t->position[i - 1] : i - 1;
    if (i == 0 ||
        !equal_keys(t, t->keys + before * t->width, t->keys + now * t->width))
      ++t->groups;
    t->group[i] = t->groups - 1;
  }
}

/* Results 1 and 2: where each went and how many of each, if asked for. */
static int32_t give_inverse_and_counts(const ft_kernel_call *call,
                                       const table *t, int32_t ndim,
                                       const int64_t *shape, bool inverse,
                                       bool counts) {
  if (inverse) {
    DLTensor *r = call->result(call, 1, kInt64, ndim, shape);
    if (!r)
      return FT_ERROR_TENSOR;
    int64_t *to = r->data; /* row-major: nothing else writes it */
    for (int64_t i = 0; i < t->n; ++i)
      to[t->position[i]] = t->group[i];
  }
  if (counts) {
    DLTensor *r = call->result(call, 2, kInt64, 1, &t->groups);
    if (!r)
      return FT_ERROR_TENSOR;
    int64_t *to = r->data, step = r->strides[0];
    for (int64_t g = 0; g < t->groups; ++g)
      to[g * step] = 0;
    for (int64_t i = 0; i < t->n; ++i)
      ++to[t->group[i] * step];
  }
  return FT_OK;
}

/*===- All elements -------------------------------------------------------===*/

/* x, sorted, inverse, counts -> values, inverse, counts. Results that are not
 * asked for are not among the call's. */
int32_t ft_k_unique(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  table t = make_table(call, x->dtype, ft_kernel_numel(x), 1);
  int64_t n = 0, size = ft_element_size(x);
  for (ft_rows r = ft_rows_of(x->ndim, x->shape, x, NULL, NULL); !r.done;
       ft_next_row(&r)) {
    const char *at = (const char *)x->data + r.offset[0];
    for (int64_t i = 0; i < r.length; ++i, at += r.step[0])
      t.keys[n++] = ft_order_key(x->dtype, at);
  }
  if (call->args[1].integer)
    sort_keys(&t);
  make_groups(&t, false);
  DLTensor *values = call->result(call, 0, x->dtype, 1, &t.groups);
  if (!values)
    return FT_ERROR_TENSOR;
  /* The first element of each group; found by its row-major position. */
  int64_t next = 0;
  for (int64_t i = 0; i < t.n; ++i) {
    if (i && t.group[i] == t.group[i - 1])
      continue;
    int64_t rest = t.position[i], offset = 0;
    for (int32_t d = x->ndim; d-- > 0; rest /= x->shape[d])
      offset += rest % x->shape[d] * x->strides[d];
    ft_copy_element((char *)values->data + next++ * values->strides[0] * size,
                    (const char *)x->data + offset * size, size);
  }
  return give_inverse_and_counts(call, &t, x->ndim, x->shape,
                                 call->args[2].integer, call->args[3].integer);
}

/*===- Slices along a dim -------------------------------------------------===*/

/* x, dim, sorted -> slices, inverse, counts */
int32_t ft_k_unique_dim(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  int32_t dim = (int32_t)call->args[1].integer;
  int64_t n = x->shape[dim], size = ft_element_size(x), rest = 1;
  int64_t shape[FT_KERNEL_DIMS], slice[FT_KERNEL_DIMS];
  memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
  memcpy(slice, x->shape, (size_t)x->ndim * sizeof *slice);
  slice[dim] = 1;
  for (int32_t d = 0; d < x->ndim; ++d)
    rest *= slice[d];
  table t = make_table(call, x->dtype, n, rest);
  for (int64_t k = 0; k < n; ++k) {
    uint64_t *key = t.keys + k * rest;
    const char *base = (const char *)x->data + k * x->strides[dim] * size;
    for (ft_rows r = ft_rows_of(x->ndim, slice, x, NULL, NULL); !r.done;
         ft_next_row(&r)) {
      const char *at = base + r.offset[0];
      for (int64_t i = 0; i < r.length; ++i, at += r.step[0])
        *key++ = ft_order_key(x->dtype, at);
    }
  }
  if (call->args[2].integer)
    sort_rows(&t);
  make_groups(&t, true);
  shape[dim] = t.groups;
  DLTensor *values = call->result(call, 0, x->dtype, x->ndim, shape);
  if (!values)
    return FT_ERROR_TENSOR;
  int64_t to_strides[FT_KERNEL_DIMS], from_strides[FT_KERNEL_DIMS];
  for (int32_t d = 0; d < x->ndim; ++d) {
    to_strides[d] = values->strides[d] * size;
    from_strides[d] = x->strides[d] * size;
  }
  int64_t next = 0;
  for (int64_t i = 0; i < n; ++i)
    if (i == 0 || t.group[i] != t.group[i - 1])
      ft_copy_elements(
          x->ndim, slice, (char *)values->data + next++ * to_strides[dim],
          to_strides, (const char *)x->data + t.position[i] * from_strides[dim],
          from_strides, size);
  return give_inverse_and_counts(call, &t, 1, &n, true, true);
}
