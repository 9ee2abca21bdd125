/*===- random.c - Random numbers that take loops -------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/philox.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

int32_t ft_k_random_key(const ft_kernel_call *call) {
  uint64_t *key = call->results[0].data;
  key[0] = call->seed;
  key[1] = call->offset;
  return FT_OK;
}

/* The first argument of the others is the key of their draw: they are functions
 * of their arguments. */
static ft_stream stream_of(const ft_kernel_call *call, uint64_t element) {
  const uint64_t *key = call->args[0].tensor->data;
  return ft_stream_at(key[0], key[1], element);
}

/* A number in [0, n), n > 0; those of the last, incomplete part of 2^64 are
 * drawn again. */
static uint64_t below(ft_stream *s, uint64_t n) {
  uint64_t rest = (UINT64_MAX % n + 1) % n, bits;
  do
    bits = ft_next_bits(s);
  while (bits > UINT64_MAX - rest);
  return bits % n;
}

/* Fisher and Yates: element i changes places with one of those up to it. */
int32_t ft_k_random_permutation(const ft_kernel_call *call) {
  int64_t *order = call->results[0].data, n = call->results[0].shape[0];
  for (int64_t i = 0; i < n; ++i) {
    ft_stream s = stream_of(call, (uint64_t)i);
    int64_t j = (int64_t)below(&s, (uint64_t)i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  return FT_OK;
}

/*===- Samples of given weights -------------------------------------------===*/

static int32_t check_weights(const ft_kernel_call *call, const double *weights,
                             int64_t n, int64_t count, int replace) {
  int64_t positive = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!(weights[i] >= 0) || isinf(weights[i]))
      return call->fail(call, FT_ERROR_TENSOR,
                        "a probability is negative, infinite or NaN");
    positive += weights[i] > 0;
  }
  if (!positive)
    return call->fail(call, FT_ERROR_TENSOR,
                      "the sum of the probabilities is not positive");
  if (!replace && positive < count)
    return call->fail(call, FT_ERROR_TENSOR,
                      "fewer probabilities are positive than samples are to be "
                      "drawn without replacement");
  return FT_OK;
}

/* The first of the running sums that is above a uniform number. */
static void draw_with(ft_stream *s, const double *weights, double *sums,
                      int64_t n, int64_t *samples, int64_t count) {
  double sum = 0;
  int64_t last = 0;
  for (int64_t i = 0; i < n; ++i) {
    sums[i] = sum += weights[i];
    if (weights[i] > 0)
      last = i;
  }
  for (int64_t k = 0; k < count; ++k) {
    double x = ft_next_open(s) * sum;
    int64_t lo = 0, hi = last;
    while (lo < hi) {
      int64_t middle = lo + (hi - lo) / 2;
      if (sums[middle] > x)
        hi = middle;
      else
        lo = middle + 1;
    }
    samples[k] = lo;
  }
}

/* The smallest waiting times of events with these rates, in their order; a
 * heap keeps the `count` smallest so far, the latest at its root. */
static void draw_without(ft_stream *s, const double *weights, double *times,
                         int64_t n, int64_t *samples, int64_t count) {
  for (int64_t i = 0; i < n; ++i)
    times[i] = weights[i] > 0 ? -log(ft_next_open(s)) / weights[i] : INFINITY;
  int64_t kept = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!(weights[i] > 0))
      continue;
    int64_t at;
    if (kept < count) {
      at = kept++;
      for (; at > 0 && times[samples[(at - 1) / 2]] < times[i];
           at = (at - 1) / 2)
        samples[at] = samples[(at - 1) / 2];
    } else if (times[i] < times[samples[0]]) {
      at = 0;
      for (int64_t child; (child = 2 * at + 1) < kept; at = child) {
        if (child + 1 < kept &&
            times[samples[child + 1]] > times[samples[child]])
          ++child;
        if (times[samples[child]] <= times[i])
          break;
        samples[at] = samples[child];
      }
    } else {
      continue;
    }
    samples[at] = i;
  }
  for (int64_t end = kept - 1; end > 0; --end) {
    int64_t moved = samples[end], at = 0;
    samples[end] = samples[0];
    for (int64_t child; (child = 2 * at + 1) < end; at = child) {
      if (child + 1 < end && times[samples[child + 1]] > times[samples[child]])
        ++child;
      if (times[samples[child]] <= times[moved])
        break;
      samples[at] = samples[child];
    }
    samples[at] = moved;
  }
}

int32_t ft_k_random_samples(const ft_kernel_call *call) {
  const DLTensor *w = call->args[1].tensor, *out = &call->results[0];
  int replace = call->args[2].integer != 0;
  int64_t n = w->shape[w->ndim - 1], count = out->shape[out->ndim - 1];
  int64_t rows = w->ndim > 1 ? w->shape[0] : 1;
  const double *weights = w->data;
  double *scratch = call->results[1].data;
  int64_t *samples = out->data;
  for (int64_t r = 0; r < rows; ++r, weights += n, samples += count) {
    int32_t code = check_weights(call, weights, n, count, replace);
    if (code != FT_OK)
      return code;
    ft_stream s = stream_of(call, (uint64_t)r);
    (replace ? draw_with : draw_without)(&s, weights, scratch, n, samples,
                                         count);
  }
  return FT_OK;
}

/*===- Counts -------------------------------------------------------------===*/

/* log(k!), without the global sign that lgamma writes for negative arguments:
 * Stirling's series above 9, exact products below. */
static double log_factorial(double k) {
  if (k < 10) {
    double product = 1;
    for (double i = 2; i <= k; ++i)
      product *= i;
    return log(product);
  }
  double x = k + 1, y = 1 / (x * x);
  double series =
      (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y / 1680))) / x;
  return (x - 0.5) * log(x) - x + 0.91893853320467274178 + series;
}

/* Small rates: how many uniform factors stay above exp(-rate). Others: the
 * transformed rejection of Hoermann (1993), PTRS: k is a ratio of uniform
 * numbers stretched to the distribution's width, accepted in about 9 of 10
 * tries, most of them without a logarithm. */
static double poisson(ft_stream *s, double rate) {
  if (rate == 0)
    return 0;
  if (rate < 10) {
    double limit = exp(-rate), product = ft_next_open(s);
    double k = 0;
    for (; product > limit; ++k)
      product *= ft_next_open(s);
    return k;
  }
  double root = sqrt(rate), log_rate = log(rate);
  double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  double v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = ft_next_open(s) - 0.5, v = ft_next_open(s);
    double us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r)
      return k;
    if (k < 0 || (us < 0.013 && v > us))
      continue;
    if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <=
        k * log_rate - rate - log_factorial(k))
      return k;
  }
}

/* Few successes: the gaps between them are geometric. Others: Hoermann's BTRS
 * (1993), as above. Never more than half of the trials succeed here. */
static double successes(ft_stream *s, double n, double p) {
  if (p == 0 || n == 0)
    return 0;
  if (n * p < 10) {
    double k = -1, sum = 0, rate = log1p(-p);
    do {
      sum += ceil(log(ft_next_open(s)) / rate);
      ++k;
    } while (sum <= n);
    return k;
  }
  double q = 1 - p, spq = sqrt(n * p * q);
  double b = 1.15 + 2.53 * spq, a = -0.0873 + 0.0248 * b + 0.01 * p;
  double c = n * p + 0.5, v_r = 0.92 - 4.2 / b;
  double alpha = (2.83 + 5.1 / b) * spq, m = floor((n + 1) * p);
  double odds = log(p / q), h = log_factorial(m) + log_factorial(n - m);
  for (;;) {
    double u = ft_next_open(s) - 0.5, v = ft_next_open(s);
    double us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r)
      return k;
    if (k < 0 || k > n)
      continue;
    v = log(v * alpha / (a / (us * us) + b));
    if (v <= h - log_factorial(k) - log_factorial(n - k) + (k - m) * odds)
      return k;
  }
}

static double binomial(ft_stream *s, double n, double p) {
  if (isnan(n) || isnan(p) || isinf(n))
    return NAN;
  n = floor(n);
  if (n <= 0 || p <= 0)
    return 0;
  if (p >= 1)
    return n;
  return p <= 0.5 ? successes(s, n, p) : n - successes(s, n, 1 - p);
}

/* Marsaglia and Tsang (2000): a cube of a shifted normal number, accepted in 19
 * of 20 tries. Below 1, a number of shape a + 1 times u^(1/a). */
static double gamma_number(ft_stream *s, double shape) {
  if (!(shape > 0))
    return shape == 0 ? 0 : NAN;
  double scale = 1;
  if (shape < 1) {
    scale = exp(log(ft_next_open(s)) / shape);
    shape += 1;
  }
  double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    double radius = sqrt(-2 * log(ft_next_open(s)));
    double x = radius * cos(6.28318530717958647693 * ft_next_open(s));
    double v = 1 + c * x;
    if (v <= 0)
      continue;
    v = v * v * v;
    if (log(ft_next_open(s)) < 0.5 * x * x + d * (1 - v + log(v)))
      return scale * d * v;
  }
}

static void gamma_numbers_piece(void *args, int64_t lo, int64_t hi) {
  const ft_kernel_call *call = args;
  const double *shape = call->args[1].tensor->data;
  double *out = call->results[0].data;
  for (int64_t i = lo; i < hi; ++i) {
    ft_stream s = stream_of(call, (uint64_t)i);
    out[i] = gamma_number(&s, shape[i]);
  }
}

static void poisson_piece(void *args, int64_t lo, int64_t hi) {
  const ft_kernel_call *call = args;
  const double *rate = call->args[1].tensor->data;
  double *out = call->results[0].data;
  for (int64_t i = lo; i < hi; ++i) {
    if (!(rate[i] >= 0) || isinf(rate[i])) {
      call->fail(call, FT_ERROR_TENSOR, "a rate is negative, infinite or NaN");
      return;
    }
    ft_stream s = stream_of(call, (uint64_t)i);
    out[i] = poisson(&s, rate[i]);
  }
}

static void binomial_piece(void *args, int64_t lo, int64_t hi) {
  const ft_kernel_call *call = args;
  const double *count = call->args[1].tensor->data;
  const double *p = call->args[2].tensor->data;
  double *out = call->results[0].data;
  for (int64_t i = lo; i < hi; ++i) {
    ft_stream s = stream_of(call, (uint64_t)i);
    out[i] = binomial(&s, count[i], p[i]);
  }
}

enum { GRAIN = 256 };

int32_t ft_k_random_poisson(const ft_kernel_call *call) {
  call->parallel_for(call, poisson_piece, (void *)(uintptr_t)call,
                     ft_kernel_numel(&call->results[0]), GRAIN);
  return FT_OK;
}

int32_t ft_k_random_gamma(const ft_kernel_call *call) {
  call->parallel_for(call, gamma_numbers_piece, (void *)(uintptr_t)call,
                     ft_kernel_numel(&call->results[0]), GRAIN);
  return FT_OK;
}

int32_t ft_k_random_binomial(const ft_kernel_call *call) {
  call->parallel_for(call, binomial_piece, (void *)(uintptr_t)call,
                     ft_kernel_numel(&call->results[0]), GRAIN);
  return FT_OK;
}
