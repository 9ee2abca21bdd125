/*===- gamma.c - The incomplete gamma function ---------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * P(a, x), the part of the integral of t^(a-1) e^-t that lies below x, and
 * Q = 1 - P, the part above. Whichever is the smaller one is computed (so that
 * neither is a difference of nearly equal numbers), by
 *
 *   x < a + 1             the series of P, whose terms have one sign
 *   x < 1.1, Q wanted     the series of x^-a P - 1, without the leading 1
 *   x >= a + 1            the continued fraction of Q, by Lentz
 *   a > 1e6               the normal distribution and its first corrections
 *                         (Temme, 1979): the others would take sqrt(a) terms
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/kernels.h"

#include <math.h>

static const double kTiny = 0x1p-53;

/* log(1 + y) - y without cancellation. */
static double log1p_less(double y) {
  if (fabs(y) > 0.25)
    return log1p(y) - y;
  double power = y * y, sum = 0;
  for (int n = 2; n < 60; ++n, power *= -y) {
    double term = -power / n;
    sum += term;
    if (fabs(term) < kTiny * fabs(sum))
      break;
  }
  return sum;
}

/* x^a e^-x / Gamma(a + 1); for large a by Stirling's series, as the powers and
 * Gamma alone overflow. */
static double prefactor(double a, double x) {
  if (a < 10) {
    double y = a * log(x) - x - lgamma(a + 1);
    return exp(y);
  }
  double r = 1 / (a * a);
  double stirling =
      (1.0 / 12 -
       r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r / 1188)))) /
      a;
  double y = fabs(x - a) < 0.25 * a ? a * log1p_less((x - a) / a)
                                    : a * log(x / a) - (x - a);
  return exp(y - stirling) / sqrt(6.28318530717958647693 * a);
}

/* Sum of x^n / ((a + 1) ... (a + n)), times the prefactor. */
static double lower_series(double a, double x) {
  double term = 1, sum = 1, n = a;
  for (int i = 0; i < 100000 && term > kTiny * sum; ++i) {
    n += 1;
    term *= x / n;
    sum += term;
  }
  return prefactor(a, x) * sum;
}

/* Q for small x: 1 - x^a / Gamma(a + 1) in one piece, less the rest. */
static double upper_series(double a, double x) {
  double power = 1, sum = 0;
  for (int n = 1; n < 200; ++n) {
    power *= -x / n;
    double term = power / (a + n);
    sum += term;
    if (fabs(term) <= kTiny * fabs(sum))
      break;
  }
  double y = a * log(x) - lgamma(a + 1);
  return -expm1(y) - a * exp(y) * sum;
}

static double upper_fraction(double a, double x) {
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int i = 1; i < 100000; ++i) {
    double an = -i * (i - a);
    b += 2;
    d = an * d + b;
    if (fabs(d) < 1e-300)
      d = 1e-300;
    c = b + an / c;
    if (fabs(c) < 1e-300)
      c = 1e-300;
    d = 1 / d;
    h *= d * c;
    if (fabs(d * c - 1) < kTiny)
      break;
  }
  return prefactor(a, x) * a * h;
}

/* Q for large a; `sign` -1 gives P. eta^2 / 2 = y - log(1 + y). */
static double normal_tail(double a, double x, double sign) {
  double y = (x - a) / a, eta = sqrt(-2 * log1p_less(y));
  if (y < 0)
    eta = -eta;
  double c0 = fabs(eta) < 1e-3 ? -1.0 / 3 + eta * (1.0 / 12 - eta * (2.0 / 135))
                               : 1 / y - 1 / eta;
  double rest = exp(-0.5 * a * eta * eta) / sqrt(6.28318530717958647693 * a);
  return 0.5 * erfc(sign * eta * sqrt(0.5 * a)) +
         sign * rest * (c0 - 1 / (540 * a));
}

static double incomplete_gamma(double a, double x, int upper) {
  if (!(a >= 0) || !(x >= 0))
    return NAN;
  if (a == 0)
    return x > 0 ? !upper : NAN;
  if (x == 0)
    return upper;
  if (isinf(a))
    return isinf(x) ? NAN : upper;
  if (isinf(x))
    return !upper;
  if (a > 1e6)
    return normal_tail(a, x, upper ? 1 : -1);
  if (x >= a + 1 && x > 1.1) {
    double q = upper_fraction(a, x);
    return upper ? q : 1 - q;
  }
  if (upper && x <= 1.1)
    return upper_series(a, x);
  double p = lower_series(a, x);
  return upper ? 1 - p : p;
}

static void gamma_piece(void *args, int64_t lo, int64_t hi) {
  const ft_kernel_call *call = args;
  const double *a = call->args[0].tensor->data, *x = call->args[1].tensor->data;
  double *out = call->results[0].data;
  int upper = call->args[2].integer != 0;
  for (int64_t i = lo; i < hi; ++i)
    out[i] = incomplete_gamma(a[i], x[i], upper);
}

int32_t ft_k_incomplete_gamma(const ft_kernel_call *call) {
  call->parallel_for(call, gamma_piece, (void *)(uintptr_t)call,
                     ft_kernel_numel(&call->results[0]), 64);
  return FT_OK;
}
