//===- PointwiseOrthogonal.cpp - Formulas of orthogonal polynomials -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f(x, n) with n a tensor, truncated to an integer; negative n gives 0.
// Chebyshev polynomials follow their recurrence for n up to 8 (T: 6), which is
// exact where the value is a small number (U1(0) = 0), then the closed forms in
// the angle θ = acos x (t = acosh |x| outside [-1, 1]). The others follow their
// three-term recurrence for n up to kDegree, beyond which the result is NaN.
// All in double.

#include "compiler/lower/rules/PointwiseBody.h"

#include <limits>

using namespace mlir;

namespace ft {

using P = PointwiseBody;

static constexpr int kDegree = 1 << 20;
static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

static Value degree(P &p) { return p.truncate(p[1]); }

static Value ifNonNegative(P &p, Value n, Value y) {
  // What no integer of 64 bits holds, NaN too, becomes the least one.
  Value whole = p.bitAnd(p.le(p.zero(n), n), p.lt(n, p.like(n, 0x1p63)));
  return p.select(whole, y, p.zero(y));
}

/// (-1)^n.
static Value alternating(P &p, Value n) {
  Value half = p.mul(n, 0.5);
  Value odd = p.ne(p.floor(half), half);
  return p.select(odd, p.like(n, -1), p.one(n));
}

enum class Kind { T, U, V, W };

/// The polynomial of degree n, 1 ≤ n ≤ 8 (T: 6), else `others`:
/// p(k + 1) = 2 x p(k) - p(k - 1).
static Value chebyshevOfLowDegree(P &p, Kind kind, Value x, Value n,
                                  Value others) {
  Value twice = p.mul(x, 2), previous = p.one(x), current = x;
  if (kind != Kind::T)
    current = kind == Kind::U   ? twice
              : kind == Kind::V ? p.add(twice, -1)
                                : p.add(twice, 1);
  Value y = others;
  for (int k = 1, last = kind == Kind::T ? 6 : 8;; ++k) {
    y = p.select(p.eq(n, p.like(n, k)), current, y);
    if (k == last)
      return y;
    Value next = p.sub(p.mul(twice, current), previous);
    previous = current;
    current = next;
  }
}

static Value chebyshev(P &p, Kind kind, bool shifted) {
  Value x = p[0], n = degree(p);
  if (shifted)
    x = p.add(p.mul(x, 2), -1);
  Value one = p.one(x), a = p.abs(x);
  Value inside = p.lt(a, one), negative = p.lt(x, p.zero(x));
  Value theta = p.acos(p.select(inside, x, p.zero(x)));
  Value t = p.acosh(p.select(p.lt(one, a), a, p.like(a, 2)));
  Value sign = p.select(negative, alternating(p, n), one);
  Value half = p.add(n, 0.5), next = p.add(n, 1), twice = p.add(p.mul(n, 2), 1);
  auto ratio = [&](Value f, Value g) { return p.div(f, g); };
  Value within, beyond, edge;
  switch (kind) {
  case Kind::T:
    within = p.cos(p.mul(n, theta));
    beyond = p.cosh(p.mul(n, t));
    edge = one;
    break;
  case Kind::U:
    within = ratio(p.sin(p.mul(next, theta)), p.sin(theta));
    beyond = ratio(p.sinh(p.mul(next, t)), p.sinh(t));
    edge = next;
    break;
  case Kind::V:
  case Kind::W: {
    Value short_ = p.mul(theta, 0.5), halfT = p.mul(t, 0.5);
    Value cosine = ratio(p.cosh(p.mul(half, t)), p.cosh(halfT));
    Value sine = ratio(p.sinh(p.mul(half, t)), p.sinh(halfT));
    bool isV = kind == Kind::V;
    within = isV ? ratio(p.cos(p.mul(half, theta)), p.cos(short_))
                 : ratio(p.sin(p.mul(half, theta)), p.sin(short_));
    beyond = isV ? p.select(negative, sine, cosine)
                 : p.select(negative, cosine, sine);
    edge =
        isV ? p.select(negative, twice, one) : p.select(negative, one, twice);
    break;
  }
  }
  Value outer = p.mul(sign, p.select(p.eq(a, one), edge, beyond));
  Value y = p.select(inside, within, outer);
  // Of infinities the recurrence gives NaN, as the closed forms: inf / inf.
  y = p.select(p.eq(a, p.like(a, kInf)), p.like(x, kNan), y);
  y = p.select(p.isNan(x), x, y);
  y = chebyshevOfLowDegree(p, kind, x, n, y);
  return ifNonNegative(p, n, p.select(p.eq(n, p.zero(n)), one, y));
}

/// p(k+1) = step(k, p(k), p(k-1)) from p(0) = 1 and p(1) = first.
static Value recurrence(
    P &p, Value first,
    llvm::function_ref<Value(Value k, Value current, Value previous)> step) {
  Value n = degree(p), one = p.one(n);
  SmallVector<Value> last = p.repeat(
      {one, first, one}, // k, p(k), p(k-1)
      [&](ValueRange v) {
        Value more = p.bitAnd(p.lt(v[0], n), p.lt(v[0], p.like(n, kDegree)));
        return p.bitAnd(more, p.eq(v[1], v[1])); // NaN stays
      },
      [&](ValueRange v) -> SmallVector<Value> {
        return {p.add(v[0], 1), step(v[0], v[1], v[2]), v[1]};
      });
  Value y = p.select(p.eq(n, p.zero(n)), one, last[1]);
  Value nan = p.like(n, std::numeric_limits<double>::quiet_NaN());
  y = p.select(p.lt(p.like(n, kDegree), n), nan, y);
  return ifNonNegative(p, n, y);
}

static Value hermiteH(P &p) {
  Value twice = p.mul(p[0], 2);
  return recurrence(p, twice, [&](Value k, Value c, Value b) {
    return p.sub(p.mul(twice, c), p.mul(b, p.mul(k, 2)));
  });
}

static Value hermiteHe(P &p) {
  Value x = p[0];
  return recurrence(p, x, [&](Value k, Value c, Value b) {
    return p.sub(p.mul(x, c), p.mul(b, k));
  });
}

static Value laguerre(P &p) {
  Value x = p[0];
  return recurrence(p, p.sub(p.one(x), x), [&](Value k, Value c, Value b) {
    Value slope = p.sub(p.add(p.mul(k, 2), 1), x);
    return p.div(p.sub(p.mul(slope, c), p.mul(b, k)), p.add(k, 1));
  });
}

static Value legendre(P &p) {
  Value x = p[0];
  return recurrence(p, x, [&](Value k, Value c, Value b) {
    Value twice = p.add(p.mul(k, 2), 1);
    return p.div(p.sub(p.mul(p.mul(x, c), twice), p.mul(b, k)), p.add(k, 1));
  });
}

template <Kind kKind, bool kShifted>
static Value chebyshevRow(P &p) {
  return chebyshev(p, kKind, kShifted);
}

/// The three overloads of a polynomial: x, n or neither is a number.
#define FT_POLYNOMIAL(name, formula)                                           \
  {"special_" name ".default", formula, ComputeIn::Double},                    \
      {"special_" name ".x_scalar", formula, ComputeIn::Double}, {             \
    "special_" name ".n_scalar", formula, ComputeIn::Double                    \
  }

static const FormulaRow kRows[] = {
    FT_POLYNOMIAL("chebyshev_polynomial_t", (chebyshevRow<Kind::T, false>)),
    FT_POLYNOMIAL("chebyshev_polynomial_u", (chebyshevRow<Kind::U, false>)),
    FT_POLYNOMIAL("chebyshev_polynomial_v", (chebyshevRow<Kind::V, false>)),
    FT_POLYNOMIAL("chebyshev_polynomial_w", (chebyshevRow<Kind::W, false>)),
    FT_POLYNOMIAL("shifted_chebyshev_polynomial_t",
                  (chebyshevRow<Kind::T, true>)),
    FT_POLYNOMIAL("shifted_chebyshev_polynomial_u",
                  (chebyshevRow<Kind::U, true>)),
    FT_POLYNOMIAL("shifted_chebyshev_polynomial_v",
                  (chebyshevRow<Kind::V, true>)),
    FT_POLYNOMIAL("shifted_chebyshev_polynomial_w",
                  (chebyshevRow<Kind::W, true>)),
    FT_POLYNOMIAL("hermite_polynomial_h", hermiteH),
    FT_POLYNOMIAL("hermite_polynomial_he", hermiteHe),
    FT_POLYNOMIAL("laguerre_polynomial_l", laguerre),
    FT_POLYNOMIAL("legendre_polynomial_p", legendre),
};

#undef FT_POLYNOMIAL

ArrayRef<FormulaRow> orthogonalFormulas() { return kRows; }

} // namespace ft
