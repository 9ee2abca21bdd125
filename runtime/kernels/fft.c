/*===- fft.c - Fourier transforms along one dim --------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Idea. A transform of n = p m points is m transforms of p points, a
 * multiplication by powers of w = exp(-2 pi i / n), and p transforms of m:
 *
 *   X[q + p f] = sum_i  w^(i q) (sum_j x[i + m j] w_p^(j q))  w_m^(i f)
 *
 * One pass does the inner sums for the first factor p and stores the results
 * of each q together, so that the next pass sees p signals of m points. After
 * the last factor the spectrum stands in order: passes read one buffer and
 * write the other, and nothing is ever sorted.
 *
 *   n = 6 = 2 * 3:  x0 x1 x2 | x3 x4 x5      pass 2 pairs x_i with x_(i+3)
 *                   a0 a1 a2 | b0 b1 b2      pass 3 transforms a and b
 *                   X0 X1 X2 X3 X4 X5        X_(q + 2 f)
 *
 * Factors 4, 2, 3 and 5 are written out, other primes up to FT_FFT_LARGEST are
 * sums. A larger prime factor makes the transform a convolution of a length
 * that has only small ones (Bluestein): with k j = (k² + j² - (k - j)²) / 2,
 *
 *   X[k] = c[k] sum_j (x[j] c[j]) / c[k - j],     c[j] = w^(j² / 2)
 *
 * Powers of w come from an angle of at most pi / 4, reduced in integers, and
 * are right to the last place of double.
 *
 * Cost: 5 n log2 n operations for a smooth n, three transforms of 2 n for
 * others. Real signals are transformed as complex ones.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/matrices.h"

/* exp(sign * 2 pi i k / n). */
static ft_c128 root_of_unity(int64_t k, int64_t n, double sign) {
  const double two_pi = 6.283185307179586476925;
  /* Eighths of a turn: the angle is (8 k / n) eighths. */
  int64_t eighth = 8 * k / n, rest = 8 * k - eighth * n;
  bool mirrored = eighth & 1;
  if (mirrored)
    rest = n - rest;
  double angle = two_pi * ((double)rest / (8 * (double)n));
  double c = cos(angle), s = sin(angle), re, im;
  if (mirrored) {
    double kept = c;
    c = s;
    s = kept;
  }
  switch (eighth >> 1 & 3) {
  case 0:
    re = c, im = s;
    break;
  case 1:
    re = -s, im = c;
    break;
  case 2:
    re = -c, im = -s;
    break;
  default:
    re = s, im = -c;
    break;
  }
  return ft_complex(re, sign * im);
}

/*===- Passes -------------------------------------------------------------===*/

struct pass {
  int64_t done;         /* product of the factors of earlier passes */
  int64_t rest;         /* of those of later ones */
  const ft_c128 *roots; /* of n = done * factor * rest, in order */
  double sign;
};

static ft_c128 times_i(ft_c128 x, double sign) {
  return ft_complex(-sign * cimag(x), sign * creal(x));
}

#define IN(j) in[i + p.rest * ((j) + factor * k)]
#define OUT(q) out[i + p.rest * (k + p.done * (q))]
#define ROOT(q) p.roots[p.done * i * (q)]

static void pass2(struct pass p, const ft_c128 *in, ft_c128 *out) {
  const int64_t factor = 2;
  for (int64_t k = 0; k < p.done; ++k)
    for (int64_t i = 0; i < p.rest; ++i) {
      ft_c128 a = IN(0), b = IN(1);
      OUT(0) = a + b;
      OUT(1) = (a - b) * ROOT(1);
    }
}

static void pass3(struct pass p, const ft_c128 *in, ft_c128 *out) {
  const int64_t factor = 3;
  const double half_root3 = 0.86602540378443864676;
  for (int64_t k = 0; k < p.done; ++k)
    for (int64_t i = 0; i < p.rest; ++i) {
      ft_c128 a = IN(0), sum = IN(1) + IN(2), difference = IN(1) - IN(2);
      ft_c128 even = a - 0.5 * sum;
      ft_c128 odd = times_i(half_root3 * difference, p.sign);
      OUT(0) = a + sum;
      OUT(1) = (even + odd) * ROOT(1);
      OUT(2) = (even - odd) * ROOT(2);
    }
}

static void pass4(struct pass p, const ft_c128 *in, ft_c128 *out) {
  const int64_t factor = 4;
  for (int64_t k = 0; k < p.done; ++k)
    for (int64_t i = 0; i < p.rest; ++i) {
      ft_c128 a = IN(0) + IN(2), b = IN(0) - IN(2);
      ft_c128 c = IN(1) + IN(3), d = times_i(IN(1) - IN(3), p.sign);
      OUT(0) = a + c;
      OUT(1) = (b + d) * ROOT(1);
      OUT(2) = (a - c) * ROOT(2);
      OUT(3) = (b - d) * ROOT(3);
    }
}

static void pass5(struct pass p, const ft_c128 *in, ft_c128 *out) {
  const int64_t factor = 5;
  const double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;
  const double s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
  for (int64_t k = 0; k < p.done; ++k)
    for (int64_t i = 0; i < p.rest; ++i) {
      ft_c128 a = IN(0);
      ft_c128 sum1 = IN(1) + IN(4), difference1 = IN(1) - IN(4);
      ft_c128 sum2 = IN(2) + IN(3), difference2 = IN(2) - IN(3);
      ft_c128 even1 = a + c1 * sum1 + c2 * sum2;
      ft_c128 even2 = a + c2 * sum1 + c1 * sum2;
      ft_c128 odd1 = times_i(s1 * difference1 + s2 * difference2, p.sign);
      ft_c128 odd2 = times_i(s2 * difference1 - s1 * difference2, p.sign);
      OUT(0) = a + sum1 + sum2;
      OUT(1) = (even1 + odd1) * ROOT(1);
      OUT(2) = (even2 + odd2) * ROOT(2);
      OUT(3) = (even2 - odd2) * ROOT(3);
      OUT(4) = (even1 - odd1) * ROOT(4);
    }
}

static void pass_prime(struct pass p, int64_t factor, const ft_c128 *in,
                       ft_c128 *out) {
  int64_t step = p.done * p.rest; /* roots of the factor in those of n */
  for (int64_t k = 0; k < p.done; ++k)
    for (int64_t i = 0; i < p.rest; ++i)
      for (int64_t q = 0; q < factor; ++q) {
        ft_c128 sum = IN(0);
        for (int64_t j = 1, at = q; j < factor; ++j) {
          sum += IN(j) * p.roots[at * step];
          at += q;
          at -= at >= factor ? factor : 0;
        }
        OUT(q) = sum * ROOT(q);
      }
}

#undef IN
#undef OUT
#undef ROOT

static int64_t next_factor(int64_t n) {
  if (n % 4 == 0)
    return 4;
  for (int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0)
      return p;
  return n;
}

/* Transforms `x` of n points, by way of `y`; where the result stands. */
static ft_c128 *transform(int64_t n, const ft_c128 *roots, double sign,
                          ft_c128 *x, ft_c128 *y) {
  struct pass p = {1, n, roots, sign};
  while (p.rest > 1) {
    int64_t factor = next_factor(p.rest);
    p.rest /= factor;
    switch (factor) {
    case 2:
      pass2(p, x, y);
      break;
    case 3:
      pass3(p, x, y);
      break;
    case 4:
      pass4(p, x, y);
      break;
    case 5:
      pass5(p, x, y);
      break;
    default:
      pass_prime(p, factor, x, y);
      break;
    }
    p.done *= factor;
    ft_c128 *kept = x;
    x = y;
    y = kept;
  }
  return x;
}

/*===- Plans --------------------------------------------------------------===*/

/* What the lines of a piece share, in its scratch memory. */
struct plan {
  int64_t n;      /* points of a line */
  int64_t length; /* of the transforms: n, or that of the convolution */
  double sign;
  ft_c128 *roots;
  ft_c128 *chirp, *kernel; /* of a convolution: c[j], transformed 1 / c[j] */
  ft_c128 *line, *other;   /* two buffers of `length` */
};

/* c[j] = w^(j² / 2) = exp(sign pi i j² / n), j² reduced mod 2 n. */
static void make_chirp(struct plan *p) {
  int64_t square = 0, period = 2 * p->n;
  for (int64_t j = 0; j < p->n; ++j) {
    p->chirp[j] = root_of_unity(square, period, p->sign);
    square = (square + 2 * j + 1) % period;
  }
}

static struct plan make_plan(int64_t n, double sign, char *scratch) {
  struct plan p = {.n = n, .sign = sign};
  int64_t padded = ft_fft_convolution(n), size = sizeof(ft_c128);
  p.length = padded ? padded : n;
  p.roots = ft_take(&scratch, p.length * size);
  p.line = ft_take(&scratch, p.length * size);
  p.other = ft_take(&scratch, p.length * size);
  /* Convolutions are transformed forth and, conjugated, back. */
  for (int64_t k = 0; k < p.length; ++k)
    p.roots[k] = root_of_unity(k, p.length, padded ? -1 : sign);
  if (!padded)
    return p;
  p.chirp = ft_take(&scratch, n * size);
  p.kernel = ft_take(&scratch, p.length * size);
  make_chirp(&p);
  memset(p.line, 0, (size_t)(p.length * size));
  for (int64_t j = 0; j < n; ++j) {
    p.line[j] = conj(p.chirp[j]);
    if (j > 0)
      p.line[p.length - j] = conj(p.chirp[j]);
  }
  memcpy(p.kernel, transform(p.length, p.roots, -1, p.line, p.other),
         (size_t)(p.length * size));
  return p;
}

/* Transforms the n points in p->line; where the spectrum stands. */
static ft_c128 *run_plan(const struct plan *p) {
  if (!p->chirp)
    return transform(p->n, p->roots, p->sign, p->line, p->other);
  for (int64_t j = 0; j < p->n; ++j)
    p->line[j] *= p->chirp[j];
  for (int64_t j = p->n; j < p->length; ++j)
    p->line[j] = 0;
  ft_c128 *x = transform(p->length, p->roots, -1, p->line, p->other);
  /* The inverse of a transform is the conjugate of that of the conjugate. */
  for (int64_t j = 0; j < p->length; ++j)
    x[j] = conj(x[j] * p->kernel[j]);
  x = transform(p->length, p->roots, -1, x, x == p->line ? p->other : p->line);
  double scale = 1 / (double)p->length;
  for (int64_t k = 0; k < p->n; ++k)
    x[k] = conj(x[k]) * p->chirp[k] * scale;
  return x;
}

/*===- Lines of tensors ---------------------------------------------------===*/

/* A tensor seen with one dim moved to the end. */
struct lines {
  int64_t shape[64], strides[64];
  DLTensor tensor;
};

static void make_lines(struct lines *l, const DLTensor *t, int64_t dim) {
  int32_t last = t->ndim - 1;
  for (int32_t d = 0, at = 0; d <= last; ++d) {
    int32_t to = d == dim ? last : at++;
    l->shape[to] = t->shape[d];
    l->strides[to] = t->strides[d];
  }
  l->tensor = *t;
  l->tensor.shape = l->shape;
  l->tensor.strides = l->strides;
}

/* The points of a real signal's spectrum that the given half mirrors; the
 * imaginary parts of the points that mirror themselves do not count. */
static void complete(ft_c128 *x, int64_t n, int64_t given) {
  int64_t half = n / 2 + 1;
  for (int64_t k = given; k < half; ++k)
    x[k] = 0;
  x[0] = creal(x[0]);
  if (n % 2 == 0)
    x[n / 2] = creal(x[n / 2]);
  for (int64_t k = half; k < n; ++k)
    x[k] = conj(x[n - k]);
}

/* 1, 1 / sqrt(count) or 1 / count: arguments `norm` (0, 1 or 2) and `count`. */
static double scale_of(const ft_kernel_call *call) {
  double count = (double)call->args[6].integer;
  switch (call->args[5].integer) {
  case 1:
    return 1 / sqrt(count);
  case 2:
    return 1 / count;
  default:
    return 1;
  }
}

/* (signal, dim, points, inverse, conjugate, norm, count): the signal is complex
 * or real; so is the result, which holds as many points of each line as it has
 * room for. A complex signal with a real result is the half that is given of a
 * mirrored spectrum. `conjugate` applies to the signal. */
static int64_t run_lines(const ft_kernel_call *call, int64_t lo, int64_t hi,
                         char *scratch) {
  const DLTensor *signal = call->args[0].tensor;
  int64_t dim = call->args[1].integer, n = call->args[2].integer;
  bool conjugate = call->args[4].integer;
  double scale = scale_of(call);
  struct plan plan = make_plan(n, call->args[3].integer ? 1 : -1, scratch);
  struct lines from, to;
  make_lines(&from, signal, dim);
  make_lines(&to, &call->results[0], dim);
  bool mirrored = ft_is_complex(signal) && !ft_is_complex(&call->results[0]);
  for (int64_t line = lo; line < hi; ++line) {
    ft_view in = ft_matrix_at(&from.tensor, 1, &from.tensor, 1, line);
    ft_view out = ft_matrix_at(&to.tensor, 1, &to.tensor, 1, line);
    int64_t most = mirrored ? n / 2 + 1 : n;
    if (in.rows > most)
      in.rows = most;
    ft_load_z(in, plan.line, n, conjugate);
    if (mirrored)
      complete(plan.line, n, in.rows);
    for (int64_t k = in.rows; !mirrored && k < n; ++k)
      plan.line[k] = 0;
    ft_c128 *x = run_plan(&plan);
    if (scale != 1)
      for (int64_t k = 0; k < n; ++k)
        x[k] *= scale;
    if (mirrored)
      ft_store_real(out, x, n);
    else
      ft_store_z(out, x, n);
  }
  return 0;
}

int32_t ft_k_fft(const ft_kernel_call *call) {
  const DLTensor *result = &call->results[0];
  int64_t dim = call->args[1].integer, n = call->args[2].integer;
  int64_t lines = 1;
  for (int32_t d = 0; d < result->ndim; ++d)
    lines *= d == dim ? 1 : result->shape[d];
  if (n < 1 || result->shape[dim] > n)
    return call->fail(call, FT_ERROR_TENSOR,
                      "the result has more points than the transform");
  ft_failure failure =
      ft_for_each_range(call, lines, ft_scratch_fft(n), run_lines);
  return failure.index == -2 ? FT_ERROR_MEMORY : FT_OK;
}
