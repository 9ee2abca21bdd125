/*===- scan.c - Running totals along a dim -------------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tensor is seen as [outer, n, inner], n along the dim that is scanned. One
 * pass, each element read and written once; float32 and its complex numbers
 * add up in double, as PyTorch's CPU kernels do.
 *
 *   inner = 1   1 2 3 4 -> 1 3 6 10         a row, one step after the other
 *   inner = 3   1 2 3      1 2 3            columns side by side: BLOCK of them
 *               4 5 6  ->  5 7 9            have their totals on the stack, and
 *                                           each row is one loop over lanes
 *
 * Rows, or blocks of columns, run in parallel. Cost: linear. Both operands are
 * row-major. Sums of integers wrap.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/scan.h"

#include "runtime/kernels/elements.h"
#include "runtime/kernels/kernels.h"

#include <math.h>

enum { BLOCK = 128, ENOUGH = 1 << 14 };

/* One block of columns. Offsets in elements; `width` is at most BLOCK. */
typedef struct columns {
  const void *x;
  void *y;
  int64_t n, inner, width;
} columns;

static inline double plus(double a, double b) { return a + b; }
static inline double times(double a, double b) { return a * b; }
static inline uint64_t plus_integer(uint64_t a, uint64_t b) { return a + b; }
static inline uint64_t times_integer(uint64_t a, uint64_t b) { return a * b; }

/* log(exp(a) + exp(b)); an infinite maximum is its own result, since inf - inf
 * must not be formed. */
static inline double log_plus(double a, double b) {
  if (isnan(a) || isnan(b))
    return a + b;
  double low = a < b ? a : b, high = a < b ? b : a;
  return isinf(high) || isinf(low) ? high : high + log1p(exp(low - high));
}

#define SCAN(name, type, total, start, combine)                                \
  static void name(columns c) {                                                \
    const type *x = c.x;                                                       \
    type *y = c.y;                                                             \
    if (c.inner == 1) {                                                        \
      total sum = start;                                                       \
      for (int64_t i = 0; i < c.n; ++i)                                        \
        y[i] = (type)(sum = combine(sum, x[i]));                               \
      return;                                                                  \
    }                                                                          \
    total sums[BLOCK];                                                         \
    for (int64_t k = 0; k < c.width; ++k)                                      \
      sums[k] = start;                                                         \
    for (int64_t i = 0; i < c.n; ++i, x += c.inner, y += c.inner)              \
      for (int64_t k = 0; k < c.width; ++k)                                    \
        y[k] = (type)(sums[k] = combine(sums[k], x[k]));                       \
  }
SCAN(sum_f32, float, double, 0, plus)
SCAN(sum_f64, double, double, 0, plus)
SCAN(sum_i64, uint64_t, uint64_t, 0, plus_integer)
SCAN(product_f32, float, double, 1, times)
SCAN(product_f64, double, double, 1, times)
SCAN(product_i64, uint64_t, uint64_t, 1, times_integer)
SCAN(log_sum_f32, float, double, -INFINITY, log_plus)
SCAN(log_sum_f64, double, double, -INFINITY, log_plus)
#undef SCAN

typedef struct number {
  double re, im;
} number;

static inline number times_complex(number a, number b) {
  return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* e^z. Where e^re is 0 or infinite, a sine or cosine of 0 counts as such. */
static number exponential(number z) {
  double size = exp(z.re), c = cos(z.im), s = sin(z.im);
  return (number){c == 0 ? 0 : size * c, s == 0 ? 0 : size * s};
}

/* log(1 + z), near 0 by the square of |1 + z|, which is 1 + re (2 + re) + im^2:
 * log(1 + 1e-20) is 1e-20. */
static number log_one_plus(number z) {
  double angle = atan2(z.im, z.re + 1);
  if (hypot(z.re, z.im) >= 0.5)
    return (number){log(hypot(z.re + 1, z.im)), angle};
  double square = z.re * (2 + z.re) + z.im * z.im;
  return (number){square == 0 ? z.re : 0.5 * log1p(square), angle};
}

/* log(exp(a) + exp(b)): the one with the larger real part, and what the other
 * adds to it. Of two numbers whose exponential is 0 the sum so far stays; a
 * part that is NaN is both. */
static number log_plus_complex(number sum, number x) {
  number low = x.re < sum.re ? x : sum, high = x.re < sum.re ? sum : x;
  if (isnan(x.re) || isnan(x.im) || isnan(sum.re) || isnan(sum.im))
    return (number){NAN, NAN};
  if (isinf(low.re) && low.re == high.re) {
    if (low.re < 0)
      return low;
    number a = exponential(low), b = exponential(high);
    return log_one_plus((number){a.re + b.re - 1, a.im + b.im});
  }
  number rest = {low.re - high.re, low.im - high.im};
  number ratio = isinf(rest.re) ? (number){0, 0} : exponential(rest);
  number more = log_one_plus(ratio);
  return (number){high.re + more.re, high.im + more.im};
}

/* Parts one after the other, as they lie in memory. */
#define SCAN_COMPLEX(name, type, start, combine)                               \
  static void name(columns c) {                                                \
    for (int64_t k = 0; k < c.width; ++k) {                                    \
      const type *x = (const type *)c.x + 2 * k;                               \
      type *y = (type *)c.y + 2 * k;                                           \
      number total = {start, 0};                                               \
      for (int64_t i = 0; i < c.n; ++i) {                                      \
        total = combine(total, (number){x[0], x[1]});                          \
        y[0] = (type)total.re;                                                 \
        y[1] = (type)total.im;                                                 \
        x += 2 * c.inner;                                                      \
        y += 2 * c.inner;                                                      \
      }                                                                        \
    }                                                                          \
  }
SCAN_COMPLEX(product_c64, float, 1, times_complex)
SCAN_COMPLEX(product_c128, double, 1, times_complex)
SCAN_COMPLEX(log_sum_c64, float, -INFINITY, log_plus_complex)
SCAN_COMPLEX(log_sum_c128, double, -INFINITY, log_plus_complex)
#undef SCAN_COMPLEX

static void (*scan_of(DLDataType dtype, int64_t kind))(columns) {
  bool wide = dtype.bits == (dtype.code == kDLComplex ? 128 : 64);
  if (dtype.code == kDLComplex && kind == FT_SCAN_PRODUCT)
    return wide ? product_c128 : product_c64;
  if (dtype.code == kDLComplex && kind == FT_SCAN_LOG_SUM_EXP)
    return wide ? log_sum_c128 : log_sum_c64;
  if (dtype.code != kDLFloat && dtype.code != kDLComplex)
    return kind == FT_SCAN_SUM ? sum_i64 : product_i64;
  switch (kind) {
  case FT_SCAN_SUM:
    return wide ? sum_f64 : sum_f32;
  case FT_SCAN_PRODUCT:
    return wide ? product_f64 : product_f32;
  default:
    return wide ? log_sum_f64 : log_sum_f32;
  }
}

/* [outer, n, inner], and in how many blocks the columns go. */
typedef struct split {
  int64_t outer, n, inner, blocks;
} split;

static split split_at(const DLTensor *t, int64_t dim, int64_t parts) {
  split s = {1, t->shape[dim], parts, 0};
  for (int32_t d = 0; d < t->ndim; ++d)
    if (d < dim)
      s.outer *= t->shape[d];
    else if (d > dim)
      s.inner *= t->shape[d];
  s.blocks = (s.inner + BLOCK - 1) / BLOCK;
  return s;
}

/* Columns of a block. */
static int64_t width_of(const split *s, int64_t block) {
  int64_t left = s->inner - block * BLOCK;
  return left < BLOCK ? left : BLOCK;
}

static void run(const ft_kernel_call *call, const split *s,
                void (*body)(void *, int64_t, int64_t), void *args) {
  int64_t width = s->inner < BLOCK ? s->inner : BLOCK;
  int64_t work = s->n * width;
  if (s->outer * s->inner > 0 && s->n > 0)
    call->parallel_for(call, body, args, s->outer * s->blocks,
                       work < ENOUGH ? ENOUGH / work : 1);
}

typedef struct scan_args {
  split s;
  const char *x;
  char *y;
  int64_t size; /* bytes of an element, of a part of a sum of complex numbers */
  void (*scan)(columns);
} scan_args;

static void scan_body(void *args, int64_t lo, int64_t hi) {
  const scan_args *a = args;
  const split *s = &a->s;
  for (int64_t at = lo; at < hi; ++at) {
    int64_t row = at / s->blocks, block = at % s->blocks;
    int64_t first = (row * s->n * s->inner + block * BLOCK) * a->size;
    a->scan((columns){a->x + first, a->y + first, s->n, s->inner,
                      width_of(s, block)});
  }
}

int32_t ft_k_scan(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  int64_t kind = call->args[2].integer;
  /* The parts of complex numbers add up by themselves. */
  int64_t parts = x->dtype.code == kDLComplex && kind == FT_SCAN_SUM ? 2 : 1;
  scan_args args = {split_at(x, call->args[1].integer, parts), x->data,
                    call->results[0].data, ft_element_size(x) / parts,
                    scan_of(x->dtype, kind)};
  run(call, &args.s, scan_body, &args);
  return FT_OK;
}

/*===- Extremes -----------------------------------------------------------===*/

typedef struct extreme_args {
  split s;
  DLDataType dtype;
  const char *x;
  char *values;
  int64_t *places;
  bool largest;
} extreme_args;

/* NaN is above all numbers, whichever extreme is looked for. */
static uint64_t rank_of(const extreme_args *a, const char *at) {
  uint64_t key = ft_order_key(a->dtype, at);
  return a->largest || ft_key_is_nan(a->dtype, key) ? key : ~key;
}

static void extreme_body(void *args, int64_t lo, int64_t hi) {
  const extreme_args *a = args;
  const split *s = &a->s;
  int64_t size = a->dtype.bits / 8;
  for (int64_t at = lo; at < hi; ++at) {
    int64_t row = at / s->blocks, block = at % s->blocks;
    int64_t first = row * s->n * s->inner + block * BLOCK;
    int64_t width = width_of(s, block), best[BLOCK];
    uint64_t ranks[BLOCK];
    for (int64_t i = 0; i < s->n; ++i)
      for (int64_t k = 0; k < width; ++k) {
        int64_t here = first + i * s->inner + k;
        uint64_t rank = rank_of(a, a->x + here * size);
        if (i == 0 || rank >= ranks[k]) {
          ranks[k] = rank;
          best[k] = i;
        }
        ft_copy_element(a->values + here * size,
                        a->x + (first + best[k] * s->inner + k) * size, size);
        a->places[here] = best[k];
      }
  }
}

int32_t ft_k_scan_extreme(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  extreme_args args = {split_at(x, call->args[1].integer, 1),
                       x->dtype,
                       x->data,
                       call->results[0].data,
                       call->results[1].data,
                       call->args[2].integer != 0};
  run(call, &args.s, extreme_body, &args);
  return FT_OK;
}
