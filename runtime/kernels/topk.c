/*===- topk.c - The k largest or smallest of rows ------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which of several equal elements is chosen, and in which order they stand, is
 * the algorithm's choice, and programs see it. PyTorch's CPU kernel selects
 * with the C++ library: a heap of the k first elements, which is then sorted,
 * if 64 k is at most n; else quickselect up to the k-th element and introsort
 * of those before it. These are those algorithms with the pivots and thresholds
 * of GNU's library, so that ties come out as they do there.
 *
 * Cost: O(n log k), or O(n + k log k).
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/kernels.h"

#include <math.h>
#include <stddef.h>

enum { SHORT_SORT = 16, SHORT_SELECT = 3 };

typedef struct {
  union {
    double real;
    int64_t whole;
  } value;
  int64_t place;
} item;

/* What one call compares by. */
typedef struct {
  int whole, largest;
} order;

/* Whether a comes before b; NaN is the largest number. */
static int before(const order *o, const item *a, const item *b) {
  if (o->whole)
    return o->largest ? a->value.whole > b->value.whole
                      : a->value.whole < b->value.whole;
  double x = a->value.real, y = b->value.real;
  if (o->largest)
    return (isnan(x) && !isnan(y)) || x > y;
  return (!isnan(x) && isnan(y)) || x < y;
}

static void swap(item *a, item *b) {
  item t = *a;
  *a = *b;
  *b = t;
}

/*===--- Heaps: the last in order on top ----------------------------------===*/

/* Moves the hole at `hole` down to a leaf, always to the later child, then lets
 * `value` rise from there. */
static void settle(const order *o, item *heap, ptrdiff_t hole, ptrdiff_t n,
                   item value) {
  ptrdiff_t top = hole, child = hole;
  while (child < (n - 1) / 2) {
    child = 2 * child + 2;
    if (before(o, &heap[child], &heap[child - 1]))
      --child;
    heap[hole] = heap[child];
    hole = child;
  }
  if (n % 2 == 0 && child == (n - 2) / 2) { /* a last child alone */
    child = 2 * child + 1;
    heap[hole] = heap[child];
    hole = child;
  }
  for (; hole > top; hole = (hole - 1) / 2) {
    item *parent = &heap[(hole - 1) / 2];
    if (!before(o, parent, &value))
      break;
    heap[hole] = *parent;
  }
  heap[hole] = value;
}

/* Puts the top of the heap into *to, and what stood there into the heap. */
static void replace_top(const order *o, item *heap, ptrdiff_t n, item *to) {
  item value = *to;
  *to = heap[0];
  settle(o, heap, 0, n, value);
}

/* The k first of n, as a heap in front. */
static void heap_select(const order *o, item *a, ptrdiff_t k, ptrdiff_t n) {
  for (ptrdiff_t parent = (k - 2) / 2; k >= 2 && parent >= 0; --parent)
    settle(o, a, parent, k, a[parent]);
  for (ptrdiff_t i = k; i < n; ++i)
    if (before(o, &a[i], &a[0]))
      replace_top(o, a, k, &a[i]);
}

static void heap_sort(const order *o, item *heap, ptrdiff_t n) {
  for (; n > 1; --n)
    replace_top(o, heap, n - 1, &heap[n - 1]);
}

/*===--- Partitions -------------------------------------------------------===*/

/* Lets a[i] sink in front of what comes after it. */
static void insert(const order *o, item *a, ptrdiff_t i) {
  item value = a[i];
  for (; i > 0 && before(o, &value, &a[i - 1]); --i)
    a[i] = a[i - 1];
  a[i] = value;
}

static void insertion_sort(const order *o, item *a, ptrdiff_t n) {
  for (ptrdiff_t i = 1; i < n; ++i)
    insert(o, a, i);
}

/* Swaps the median of three elements to the front. */
static void median_to_front(const order *o, item *front, item *a, item *b,
                            item *c) {
  item *median;
  if (before(o, a, b))
    median = before(o, b, c) ? b : before(o, a, c) ? c : a;
  else
    median = before(o, a, c) ? a : before(o, b, c) ? c : b;
  swap(front, median);
}

/* Splits a[1..n) at the pivot, which stands in front; where the second part
 * starts. Elements equal to the pivot are swapped like others. */
static ptrdiff_t partition(const order *o, item *a, ptrdiff_t n) {
  median_to_front(o, a, &a[1], &a[n / 2], &a[n - 1]);
  ptrdiff_t low = 1, high = n;
  for (;;) {
    while (before(o, &a[low], &a[0]))
      ++low;
    --high;
    while (before(o, &a[0], &a[high]))
      --high;
    if (low >= high)
      return low;
    swap(&a[low], &a[high]);
    ++low;
  }
}

/* Twice the logarithm: how often a partition may fail to help. */
static int depth_for(ptrdiff_t n) {
  int depth = 0;
  for (; n > 1; n /= 2)
    depth += 2;
  return depth;
}

/* Puts the element of rank k in its place, earlier ones in front of it. */
static void quick_select(const order *o, item *a, ptrdiff_t k, ptrdiff_t n) {
  int depth = depth_for(n);
  while (n > SHORT_SELECT) {
    if (depth-- == 0) {
      heap_select(o, a, k + 1, n);
      swap(a, &a[k]);
      return;
    }
    ptrdiff_t cut = partition(o, a, n);
    if (cut <= k) {
      a += cut;
      k -= cut;
      n -= cut;
    } else {
      n = cut;
    }
  }
  insertion_sort(o, a, n);
}

static void sort_roughly(const order *o, item *a, ptrdiff_t n, int depth) {
  while (n > SHORT_SORT) {
    if (depth-- == 0) {
      heap_select(o, a, n, n);
      heap_sort(o, a, n);
      return;
    }
    ptrdiff_t cut = partition(o, a, n);
    sort_roughly(o, a + cut, n - cut, depth);
    n = cut;
  }
}

static void sort(const order *o, item *a, ptrdiff_t n) {
  sort_roughly(o, a, n, depth_for(n));
  insertion_sort(o, a, n);
}

int32_t ft_k_topk(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  int64_t k = call->args[1].integer, rows = x->shape[0], n = x->shape[1];
  order o = {x->dtype.code == kDLInt, call->args[2].integer != 0};
  const double *real = x->data;
  const int64_t *whole = x->data;
  double *values = call->results[0].data;
  int64_t *whole_values = call->results[0].data;
  int64_t *places = call->results[1].data;
  item *queue = call->results[2].data;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < n; ++i) {
      if (o.whole)
        queue[i].value.whole = whole[r * n + i];
      else
        queue[i].value.real = real[r * n + i];
      queue[i].place = i;
    }
    if (k * 64 <= n) {
      heap_select(&o, queue, k, n);
      heap_sort(&o, queue, k);
    } else {
      quick_select(&o, queue, k - 1, n);
      sort(&o, queue, k - 1);
    }
    for (int64_t i = 0; i < k; ++i) {
      if (o.whole)
        whole_values[r * k + i] = queue[i].value.whole;
      else
        values[r * k + i] = queue[i].value.real;
      places[r * k + i] = queue[i].place;
    }
  }
  return FT_OK;
}
