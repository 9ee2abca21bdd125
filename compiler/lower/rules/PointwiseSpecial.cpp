//===- PointwiseSpecial.cpp - Formulas of the gamma and error functions ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In double but for erf itself. Loops are unrolled: what would run a number of
// times that depends on x is computed that often at most, and selected.

#include "compiler/lower/rules/PointwiseBody.h"
#include "compiler/lower/rules/SeriesTables.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ft {

using P = PointwiseBody;

static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
static constexpr double kPi = 3.14159265358979323846;
static constexpr double kLogPi = 1.14472988584940017414;
static constexpr double kSqrt1_2 = 0.70710678118654752440;
static constexpr double kSqrt2 = 1.41421356237309504880;
static constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

/// Bernoulli numbers B(2k), k = 1…
static constexpr double kBernoulli[] = {
    1.0 / 6,       -1.0 / 30,       1.0 / 42,       -1.0 / 30,
    5.0 / 66,      -691.0 / 2730,   7.0 / 6,        -3617.0 / 510,
    43867.0 / 798, -174611.0 / 330, 854513.0 / 138, -236364091.0 / 2730};

//===--- Gamma
//-------------------------------------------------------------===//

/// log|Γ| by Stirling's series at z ≥ 8, where shifting up leads; below 1/2 by
/// reflection.
static Value logGamma(P &p, Value x) {
  Value reflect = p.lt(x, p.like(x, 0.5));
  Value z = p.select(reflect, p.sub(p.one(x), x), x);
  Value product = p.one(z), shifted = z;
  for (int i = 0; i < 8; ++i) {
    Value low = p.lt(shifted, p.like(z, 8));
    product = p.select(low, p.mul(product, shifted), product);
    shifted = p.select(low, p.add(shifted, 1), shifted);
  }
  Value inverse = p.reciprocal(shifted), square = p.square(inverse);
  SmallVector<double> series; // B(2k) / (2k (2k-1)), highest first
  for (int k = 8; k >= 1; --k)
    series.push_back(kBernoulli[k - 1] / (2.0 * k * (2 * k - 1)));
  Value tail = p.mul(p.polynomial(square, series), inverse);
  Value y = p.mul(p.add(shifted, -0.5), p.log(shifted));
  y = p.add(p.sub(y, shifted), p.add(tail, 0.91893853320467274178));
  y = p.sub(y, p.log(product));
  // |sin| of the distance to the nearest integer: exact near the poles.
  Value distance = p.sub(x, p.round(x));
  Value sine = p.abs(p.sin(p.mul(distance, kPi)));
  Value mirrored = p.sub(p.sub(p.like(x, kLogPi), p.log(sine)), y);
  y = p.select(reflect, mirrored, y);
  // The roots, which the sum of terms misses by a rounding.
  Value root = p.bitOr(p.eq(x, p.one(x)), p.eq(x, p.like(x, 2)));
  y = p.select(root, p.zero(y), y);
  Value infinite = p.eq(p.abs(x), p.like(x, kInf));
  return p.select(infinite, p.like(x, kInf), p.select(p.isNan(x), x, y));
}

/// ψ by its asymptotic series at z ≥ 10.
static Value digamma(P &p, Value x) {
  Value reflect = p.lt(x, p.zero(x));
  Value z = p.select(reflect, p.sub(p.one(x), x), x);
  Value sum = p.zero(z);
  for (int i = 0; i < 10; ++i) {
    Value low = p.lt(z, p.like(z, 10));
    sum = p.select(low, p.sub(sum, p.reciprocal(z)), sum);
    z = p.select(low, p.add(z, 1), z);
  }
  Value inverse = p.reciprocal(z), square = p.square(inverse);
  SmallVector<double> series; // B(2k) / 2k
  for (int k = 8; k >= 1; --k)
    series.push_back(kBernoulli[k - 1] / (2.0 * k));
  Value y = p.sub(p.log(z), p.mul(inverse, 0.5));
  y = p.sub(y, p.mul(p.polynomial(square, series), square));
  y = p.add(y, sum);
  Value distance = p.sub(x, p.round(x));
  Value cotangent = p.div(p.like(x, kPi), p.tan(p.mul(distance, kPi)));
  y = p.select(reflect, p.sub(y, cotangent), y);
  y = p.select(p.bitAnd(reflect, p.eq(distance, p.zero(x))), p.like(x, kNan),
               y);
  y = p.select(p.eq(x, p.zero(x)), p.copySign(p.like(x, kInf), p.neg(x)), y);
  y = p.select(p.eq(x, p.like(x, kInf)), x, y);
  y = p.select(p.eq(x, p.like(x, -kInf)), p.like(x, kNan), y);
  return p.select(p.isNan(x), x, y);
}

/// Hurwitz' ζ(s, q) by Euler and Maclaurin after the first terms, which end
/// above 9. Not defined for s < 1, nor at negative q unless s is whole.
static Value zeta(P &p, Value s, Value q) {
  // From far below zero it would take for ever: what is left out there, less
  // than 1e-5, has the same fraction.
  constexpr double kFar = -1e5;
  Value fraction = p.sub(q, p.floor(q));
  Value least = p.select(p.lt(q, p.like(q, kFar)), p.add(fraction, kFar), q);
  Value exponent = p.neg(s);
  Value end = p.max(p.add(least, 9), p.like(q, 10));
  Value half = p.mul(s, 0.5);
  Value odd = p.ne(p.floor(half), half);
  auto termAt = [&](Value a) { // a negative base to a whole power, by parity
    Value magnitude = p.pow(p.abs(a), exponent);
    Value flip = p.bitAnd(odd, p.lt(a, p.zero(q)));
    return p.select(flip, p.neg(magnitude), magnitude);
  };
  auto negligible = [&](Value sum, Value term) {
    return p.lt(p.abs(term), p.mul(sum, 0x1p-53));
  };
  Value first = termAt(least);
  // The count of terms, the sum, its last term. Steps are counted since 1 is
  // nothing beside a large q.
  SmallVector<Value> head = p.repeat(
      {p.one(q), first, p.like(q, kInf)},
      [&](ValueRange v) {
        return p.bitAnd(p.lt(p.add(least, v[0]), end),
                        p.logicalNot(negligible(v[1], v[2])));
      },
      [&](ValueRange v) -> SmallVector<Value> {
        Value term = termAt(p.add(least, v[0]));
        return {p.add(v[0], 1), p.add(v[1], term), term};
      });
  Value a = p.add(least, head[0]), sum = head[1];
  Value done = negligible(sum, head[2]), enough = sum;
  // sum + a^(1-s)/(s-1) + a^-s/2 + Σ B(2k)/(2k)! s(s+1)…(s+2k-2) a^(-s-2k+1)
  Value power = p.pow(a, exponent);
  sum = p.add(sum,
              p.add(p.div(p.mul(power, a), p.add(s, -1)), p.mul(power, 0.5)));
  Value factor = s, scale = p.div(power, a);
  double factorial = 2;
  for (int k = 1; k <= 12; ++k) {
    sum =
        p.add(sum, p.mul(p.mul(factor, scale), kBernoulli[k - 1] / factorial));
    factor = p.mul(factor, p.mul(p.add(s, 2 * k - 1), p.add(s, 2 * k)));
    scale = p.div(scale, p.square(a));
    factorial *= (2 * k + 1) * (2 * k + 2);
  }
  sum = p.select(done, enough, sum);
  Value low = p.le(q, p.zero(q));
  Value pole = p.bitAnd(low, p.eq(q, p.floor(q)));
  Value undefined = p.bitAnd(low, p.ne(s, p.floor(s)));
  sum = p.select(undefined, p.like(q, kNan), sum);
  sum = p.select(pole, p.like(q, kInf), sum);
  sum = p.select(p.lt(s, p.one(s)), p.like(q, kNan), sum);
  return p.select(p.eq(s, p.one(s)), p.like(q, kInf), sum);
}

/// (-1)^(n+1) n! ζ(n + 1, x).
static Value polygamma(P &p) {
  double n = p.known(0);
  Value x = p[1];
  if (n == 0)
    return digamma(p, x);
  double factorial = std::tgamma(n + 1);
  double sign = std::fmod(n, 2) != 0 ? 1 : -1;
  Value y = p.mul(zeta(p, p.like(x, n + 1), x), sign * factorial);
  // PyTorch's trigamma has a limit there, its zeta has none.
  return n == 1 ? p.select(p.eq(x, p.like(x, kInf)), p.zero(x), y) : y;
}

/// log of the multivariate gamma function of `order` dims.
static Value multiLogGamma(P &p) {
  double order = p.known(1);
  Value sum = p.k(order * (order - 1) / 4 * kLogPi);
  for (int i = 0; i < order; ++i)
    sum = p.add(sum, logGamma(p, p.add(p[0], -0.5 * i)));
  return sum;
}

//===--- Error functions
//---------------------------------------------------===//

static Value erf(P &p) { return p.erf(p[0]); }
static Value erfc(P &p) { return p.erfc(p[0]); }

/// exp(x²) erfc(x): (1 + 2x) times it is smooth in (x - 3.75) / (x + 3.75).
static Value erfcx(P &p, Value x) {
  Value a = p.abs(x);
  Value t = p.div(p.add(a, -3.75), p.add(a, 3.75));
  Value y = p.div(p.chebyshev(t, -1, 1, kErfcx), p.add(p.mul(a, 2), 1));
  y = p.select(p.eq(a, p.like(a, kInf)), p.zero(a), y);
  Value low = p.sub(p.mul(p.exp(p.square(x)), 2), y);
  y = p.select(p.lt(x, p.zero(x)), low, y);
  return p.select(p.isNan(x), x, y);
}

/// The y ≥ 0 with erf(y) = x and erfc(y) = w, x + w = 1, whichever of the two
/// is exact: Winitzki's estimate, then Halley's iteration on erf near zero and
/// on erfc towards infinity.
static Value inverseErf(P &p, Value x, Value w) {
  constexpr double kA = 0.147;
  Value log = p.log(p.mul(w, p.sub(p.like(w, 2), w))); // log(1 - x²)
  Value b = p.add(p.mul(log, 0.5), 2 / (kPi * kA));
  Value y = p.sqrt(p.sub(p.sqrt(p.sub(p.square(b), p.mul(log, 1 / kA))), b));
  Value central = p.lt(x, p.like(x, 0.5));
  for (int i = 0; i < 3; ++i) {
    Value error = p.select(central, p.sub(p.erf(y), x), p.sub(w, p.erfc(y)));
    Value slope = p.mul(p.exp(p.neg(p.square(y))), kTwoOverSqrtPi);
    Value step = p.div(error, slope);
    y = p.sub(y, p.div(step, p.add(p.mul(y, step), 1)));
  }
  return p.select(p.eq(w, p.zero(w)), p.like(w, kInf), y);
}

static Value erfinv(P &p) {
  Value x = p[0], a = p.abs(x);
  Value y = p.copySign(inverseErf(p, a, p.sub(p.one(a), a)), x);
  y = p.select(p.eq(x, p.zero(x)), x, y);
  return p.select(p.lt(p.one(a), a), p.like(a, kNan), y);
}

/// The normal quantile: -sqrt(2) erfc⁻¹(2 q) for the smaller tail q.
static Value ndtri(P &p) {
  Value q = p[0], rest = p.sub(p.one(q), q);
  Value lower = p.lt(q, p.like(q, 0.5));
  Value w = p.mul(p.select(lower, q, rest), 2);
  Value y = p.mul(inverseErf(p, p.sub(p.one(w), w), w), kSqrt2);
  y = p.select(lower, p.neg(y), y);
  Value out = p.bitOr(p.lt(q, p.zero(q)), p.lt(p.one(q), q));
  y = p.select(p.eq(q, p.like(q, 0.5)), p.zero(q), y);
  return p.select(out, p.like(q, kNan), y);
}

/// The normal distribution function, by erfc where erf would cancel.
static Value ndtr(P &p) { return p.mul(p.erfc(p.mul(p[0], -kSqrt1_2)), 0.5); }

static Value logNdtr(P &p) {
  Value x = p[0], t = p.mul(x, kSqrt1_2);
  Value tail = p.sub(p.log(p.mul(erfcx(p, p.neg(t)), 0.5)), p.square(t));
  Value rest = p.log1p(p.mul(p.erfc(t), -0.5));
  return p.select(p.lt(x, p.like(x, -1)), tail, rest);
}

static Value entropy(P &p) {
  Value x = p[0];
  Value y = p.neg(p.mul(x, p.log(x)));
  y = p.select(p.eq(x, p.zero(x)), p.zero(x), y);
  y = p.select(p.lt(x, p.zero(x)), p.like(x, -kInf), y);
  return p.select(p.isNan(x), x, y);
}

static Value logGammaRow(P &p) { return logGamma(p, p[0]); }
static Value digammaRow(P &p) { return digamma(p, p[0]); }
static Value zetaRow(P &p) { return zeta(p, p[0], p[1]); }
static Value erfcxRow(P &p) { return erfcx(p, p[0]); }

static const FormulaRow kRows[] = {
    {"lgamma.default", logGammaRow, ComputeIn::Double},
    {"special_gammaln.default", logGammaRow, ComputeIn::Double},
    {"digamma.default", digammaRow, ComputeIn::Double},
    {"special_digamma.default", digammaRow, ComputeIn::Double},
    {"special_psi.default", digammaRow, ComputeIn::Double},
    {"polygamma.default", polygamma, ComputeIn::Double},
    {"special_polygamma.default", polygamma, ComputeIn::Double},
    {"mvlgamma.default", multiLogGamma, ComputeIn::Double},
    {"special_multigammaln.default", multiLogGamma, ComputeIn::Double},
    {"special_zeta.default", zetaRow, ComputeIn::Double},
    {"special_zeta.self_scalar", zetaRow, ComputeIn::Double},
    {"special_zeta.other_scalar", zetaRow, ComputeIn::Double},
    {"erf.default", erf},
    {"special_erf.default", erf},
    {"erfc.default", erfc},
    {"special_erfc.default", erfc},
    {"erfinv.default", erfinv, ComputeIn::Double},
    {"special_erfinv.default", erfinv, ComputeIn::Double},
    {"special_erfcx.default", erfcxRow, ComputeIn::Double},
    {"special_ndtr.default", ndtr, ComputeIn::Double},
    {"special_ndtri.default", ndtri, ComputeIn::Double},
    {"special_log_ndtr.default", logNdtr, ComputeIn::Double},
    {"special_entr.default", entropy},
};

ArrayRef<FormulaRow> specialFormulas() { return kRows; }

} // namespace ft
