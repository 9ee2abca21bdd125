//===- PointwiseBessel.cpp - Formulas of Bessel and Airy functions --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function is a Chebyshev series of what is left after its growth, its
// logarithm or its oscillation is taken off, near zero and far from it; the
// half that does not apply is computed and not selected. All in double.

#include "compiler/lower/rules/PointwiseBody.h"
#include "compiler/lower/rules/SeriesTables.h"

#include <limits>

using namespace mlir;

namespace ft {

using P = PointwiseBody;

static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
static constexpr double kPi = 3.14159265358979323846;

/// Keeps the argument of the half that is not selected inside its interval.
static Value atMost(P &p, Value x, double high) {
  return p.select(p.lt(x, p.like(x, high)), x, p.like(x, high));
}
static Value atLeast(P &p, Value x, double low) {
  return p.select(p.lt(p.like(x, low), x), x, p.like(x, low));
}

//===--- I: exp(-x) I(x) on [0, 8], times sqrt(x) in 8/x beyond
//------------===//

static Value i0e(P &p, Value x) {
  Value a = p.abs(x), far = atLeast(p, a, 8);
  Value small = p.chebyshev(atMost(p, a, 8), 0, 8, kI0Small);
  Value large =
      p.div(p.chebyshev(p.div(p.like(a, 8), far), 0, 1, kI0Large), p.sqrt(far));
  return p.select(p.isNan(x), x, p.select(p.le(a, p.like(a, 8)), small, large));
}

static Value i1e(P &p, Value x) {
  Value a = p.abs(x), far = atLeast(p, a, 8), near = atMost(p, a, 8);
  Value small = p.mul(near, p.chebyshev(near, 0, 8, kI1Small));
  Value large =
      p.div(p.chebyshev(p.div(p.like(a, 8), far), 0, 1, kI1Large), p.sqrt(far));
  Value y = p.select(p.le(a, p.like(a, 8)), small, large);
  y = p.select(p.lt(x, p.zero(x)), p.neg(y), y);
  return p.select(p.isNan(x), x, y);
}

/// exp|x|, infinite where the result's own exponential is.
static Value growth(P &p, Value x) {
  Value e = p.exp(p.abs(x));
  if (p.resultDtype == DType::F64)
    return e;
  return p.cast(p.cast(e, DType::F64, DType::F32), DType::F32, DType::F64);
}

static Value i0(P &p, Value x) { return p.mul(i0e(p, x), p.exp(p.abs(x))); }
static Value i1(P &p, Value x) { return p.mul(i1e(p, x), p.exp(p.abs(x))); }

//===--- K: the logarithm taken off on (0, 2], exp(x) sqrt(x) K beyond
//-----===//

/// The value at x ≤ 0, where K is infinite or undefined.
static Value positiveOnly(P &p, Value x, Value y, double atZero) {
  y = p.select(p.eq(x, p.zero(x)), p.like(x, atZero), y);
  y = p.select(p.lt(x, p.zero(x)), p.like(x, kNan), y);
  return p.select(p.isNan(x), x, y);
}

static Value k0(P &p, Value x, bool scaled) {
  Value near = atLeast(p, atMost(p, x, 2), 1e-300), far = atLeast(p, x, 2);
  Value small = p.sub(p.chebyshev(p.square(near), 0, 4, kK0Small),
                      p.mul(p.log(p.mul(near, 0.5)), i0(p, near)));
  Value large =
      p.div(p.chebyshev(p.div(p.like(x, 2), far), 0, 1, kK0Large), p.sqrt(far));
  if (scaled)
    small = p.mul(small, p.exp(near));
  else
    large = p.mul(large, p.exp(p.neg(far)));
  return positiveOnly(p, x, p.select(p.le(x, p.like(x, 2)), small, large),
                      kInf);
}

static Value k1(P &p, Value x, bool scaled) {
  Value near = atLeast(p, atMost(p, x, 2), 1e-300), far = atLeast(p, x, 2);
  Value small = p.add(p.mul(p.log(p.mul(near, 0.5)), i1(p, near)),
                      p.div(p.chebyshev(p.square(near), 0, 4, kK1Small), near));
  Value large =
      p.div(p.chebyshev(p.div(p.like(x, 2), far), 0, 1, kK1Large), p.sqrt(far));
  if (scaled)
    small = p.mul(small, p.exp(near));
  else
    large = p.mul(large, p.exp(p.neg(far)));
  return positiveOnly(p, x, p.select(p.le(x, p.like(x, 2)), small, large),
                      kInf);
}

//===--- J and Y: in x² on [0, 8], amplitude and phase beyond
//--------------===//

namespace {
/// sqrt(2 / (pi x)) (P sin/cos θ ± Q cos/sin θ), θ = x - (2 n + 1) pi / 4.
struct Oscillation {
  Value j, y;
};
} // namespace

static Oscillation oscillation(P &p, Value x, int order) {
  Value v = p.square(p.div(p.like(x, 8), x));
  Value amplitude = p.sqrt(p.div(p.like(x, 2 / kPi), x));
  Value even = order ? p.chebyshev(v, 0, 1, kP1) : p.chebyshev(v, 0, 1, kP0);
  Value odd = order ? p.chebyshev(v, 0, 1, kQ1) : p.chebyshev(v, 0, 1, kQ0);
  odd = p.mul(odd, p.div(p.like(x, 8), x));
  Value phase = p.add(x, -(2 * order + 1) * kPi / 4);
  Value c = p.cos(phase), s = p.sin(phase);
  return {p.mul(amplitude, p.sub(p.mul(even, c), p.mul(odd, s))),
          p.mul(amplitude, p.add(p.mul(even, s), p.mul(odd, c)))};
}

static Value j0(P &p, Value x) {
  Value a = p.abs(x);
  Value small = p.chebyshev(p.square(atMost(p, a, 8)), 0, 64, kJ0Small);
  Value large = oscillation(p, atLeast(p, a, 8), 0).j;
  Value y = p.select(p.le(a, p.like(a, 8)), small, large);
  y = p.select(p.eq(a, p.like(a, kInf)), p.zero(a), y);
  return p.select(p.isNan(x), x, y);
}

static Value j1(P &p, Value x) {
  Value a = p.abs(x), near = atMost(p, a, 8);
  Value small = p.mul(near, p.chebyshev(p.square(near), 0, 64, kJ1Small));
  Value large = oscillation(p, atLeast(p, a, 8), 1).j;
  Value y = p.select(p.le(a, p.like(a, 8)), small, large);
  y = p.select(p.eq(a, p.like(a, kInf)), p.zero(a), y);
  y = p.select(p.lt(x, p.zero(x)), p.neg(y), y);
  return p.select(p.isNan(x), x, y);
}

static Value y0(P &p, Value x) {
  Value near = atLeast(p, atMost(p, x, 8), 1e-300);
  Value small = p.add(p.chebyshev(p.square(near), 0, 64, kY0Small),
                      p.mul(p.mul(p.log(near), 2 / kPi),
                            p.chebyshev(p.square(near), 0, 64, kJ0Small)));
  Value large = oscillation(p, atLeast(p, x, 8), 0).y;
  Value y = p.select(p.le(x, p.like(x, 8)), small, large);
  y = p.select(p.eq(x, p.like(x, kInf)), p.zero(x), y);
  return positiveOnly(p, x, y, -kInf);
}

static Value y1(P &p, Value x) {
  Value near = atLeast(p, atMost(p, x, 8), 1e-300);
  Value j = p.mul(near, p.chebyshev(p.square(near), 0, 64, kJ1Small));
  Value logarithm = p.sub(p.mul(p.log(near), j), p.reciprocal(near));
  Value small = p.add(p.mul(near, p.chebyshev(p.square(near), 0, 64, kY1Small)),
                      p.mul(logarithm, 2 / kPi));
  Value large = oscillation(p, atLeast(p, x, 8), 1).y;
  Value y = p.select(p.le(x, p.like(x, 8)), small, large);
  y = p.select(p.eq(x, p.like(x, kInf)), p.zero(x), y);
  return positiveOnly(p, x, y, -kInf);
}

/// sin(x) / x, by its series where that would cancel.
static Value sphericalJ0(P &p) {
  Value x = p[0], x2 = p.square(x);
  static const double kSeries[] = {-1.0 / 39916800, 1.0 / 362880, -1.0 / 5040,
                                   1.0 / 120,       -1.0 / 6,     1};
  Value small = p.polynomial(x2, kSeries);
  Value y = p.select(p.lt(p.abs(x), p.like(x, 0.5)), small, p.div(p.sin(x), x));
  return p.select(p.eq(p.abs(x), p.like(x, kInf)), p.zero(x), y);
}

/// Decay taken off above 2 (in 1/ζ, ζ = 2/3 x^1.5), amplitude and phase below
/// -6 (in 1/ζ²), the function itself between.
static Value airyAi(P &p) {
  Value x = p[0];
  auto zeta = [&](Value a) { return p.mul(p.mul(a, p.sqrt(a)), 2.0 / 3); };
  auto quarter = [&](Value a) { return p.sqrt(p.sqrt(a)); };
  const double kZeta2 = 1.8856180831641267, kZeta6 = 9.797958971132712;
  const double kSqrtPi = 1.7724538509055160;
  Value high = atLeast(p, x, 2), low = atLeast(p, p.neg(x), 6);
  Value middle = p.chebyshev(atLeast(p, atMost(p, x, 2), -6), -6, 2, kAiMiddle);
  Value z = zeta(high);
  Value decay = p.chebyshev(p.reciprocal(z), 0, 1 / kZeta2, kAiLarge);
  Value above =
      p.div(p.mul(decay, p.exp(p.neg(z))), p.mul(quarter(high), 2 * kSqrtPi));
  Value w = zeta(low), v = p.reciprocal(p.square(w));
  double most = 1 / (kZeta6 * kZeta6);
  Value even = p.chebyshev(v, 0, most, kAiP);
  Value odd = p.div(p.chebyshev(v, 0, most, kAiQ), w);
  Value phase = p.add(w, kPi / 4);
  Value below =
      p.div(p.sub(p.mul(even, p.sin(phase)), p.mul(odd, p.cos(phase))),
            p.mul(quarter(low), kSqrtPi));
  Value y = p.select(p.le(x, p.like(x, 2)), middle, above);
  y = p.select(p.lt(x, p.like(x, -6)), below, y);
  Value infinite = p.eq(p.abs(x), p.like(x, kInf)); // as PyTorch has it
  y = p.select(infinite, p.like(x, kNan), y);
  return p.select(p.isNan(x), x, y);
}

static Value i0Row(P &p) { return p.mul(i0e(p, p[0]), growth(p, p[0])); }
static Value i1Row(P &p) { return p.mul(i1e(p, p[0]), growth(p, p[0])); }

static const FormulaRow kRows[] = {
    {"i0.default", i0Row, ComputeIn::Double},
    {"special_i0.default", i0Row, ComputeIn::Double},
    {"special_i0e.default", [](P &p) { return i0e(p, p[0]); },
     ComputeIn::Double},
    {"special_i1.default", i1Row, ComputeIn::Double},
    {"special_i1e.default", [](P &p) { return i1e(p, p[0]); },
     ComputeIn::Double},
    {"special_modified_bessel_i0.default", i0Row, ComputeIn::Double},
    {"special_modified_bessel_i1.default", i1Row, ComputeIn::Double},
    {"special_modified_bessel_k0.default",
     [](P &p) { return k0(p, p[0], false); }, ComputeIn::Double},
    {"special_modified_bessel_k1.default",
     [](P &p) { return k1(p, p[0], false); }, ComputeIn::Double},
    {"special_scaled_modified_bessel_k0.default",
     [](P &p) { return k0(p, p[0], true); }, ComputeIn::Double},
    {"special_scaled_modified_bessel_k1.default",
     [](P &p) { return k1(p, p[0], true); }, ComputeIn::Double},
    {"special_bessel_j0.default", [](P &p) { return j0(p, p[0]); },
     ComputeIn::Double},
    {"special_bessel_j1.default", [](P &p) { return j1(p, p[0]); },
     ComputeIn::Double},
    {"special_bessel_y0.default", [](P &p) { return y0(p, p[0]); },
     ComputeIn::Double},
    {"special_bessel_y1.default", [](P &p) { return y1(p, p[0]); },
     ComputeIn::Double},
    {"special_spherical_bessel_j0.default", sphericalJ0, ComputeIn::Double},
    {"special_airy_ai.default", airyAi, ComputeIn::Double},
};

ArrayRef<FormulaRow> besselFormulas() { return kRows; }

} // namespace ft
