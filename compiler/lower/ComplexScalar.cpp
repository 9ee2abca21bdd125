//===- ComplexScalar.cpp - Complex functions of special values ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/ComplexScalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;

namespace {
struct Parts {
  Value re, im;
};
} // namespace

static Parts partsOf(ScalarBuilder &s, Value z) {
  return {complex::ReOp::create(s.b, s.loc, z),
          complex::ImOp::create(s.b, s.loc, z)};
}
static Value join(ScalarBuilder &s, Value re, Value im) {
  return complex::CreateOp::create(s.b, s.loc, ComplexType::get(re.getType()),
                                   re, im);
}
static Value both(ScalarBuilder &s, Value x, Value y) {
  return arith::AndIOp::create(s.b, s.loc, x, y);
}
static Value either(ScalarBuilder &s, Value x, Value y) {
  return arith::OrIOp::create(s.b, s.loc, x, y);
}
static Value absolute(ScalarBuilder &s, Value x) {
  return math::AbsFOp::create(s.b, s.loc, x);
}
static Value withSign(ScalarBuilder &s, Value x, Value sign) {
  return math::CopySignOp::create(s.b, s.loc, x, sign);
}
static Value infinity(ScalarBuilder &s, Value like) {
  return s.constant(like.getType(), std::numeric_limits<double>::infinity());
}
static Value isInfinite(ScalarBuilder &s, Value x) {
  return s.cmp(Cmp::Eq, absolute(s, x), infinity(s, x));
}
static Value isNan(ScalarBuilder &s, Value x) { return s.cmp(Cmp::Ne, x, x); }

// With y = c + di, |c| >= |d|, r = d / c and q = 1 / (c + d r):
//
//   (a + bi) / y = ((a + b r) q, (b - a r) q)
//
// and the same with parts exchanged, and the imaginary one negated, otherwise.
Value complexQuotient(ScalarBuilder &s, Value x, Value y) {
  auto [a, b] = partsOf(s, x);
  auto [c, d] = partsOf(s, y);
  Value sizeC = absolute(s, c), sizeD = absolute(s, d);
  Value upright = s.cmp(Cmp::Ge, sizeC, sizeD);
  Value large = s.select(upright, c, d), small = s.select(upright, d, c);
  Value ratio = s.div(small, large);
  Value scale = s.div(s.one(c), s.add(large, s.mul(small, ratio)));
  Value u = s.select(upright, a, b), v = s.select(upright, b, a);
  Value re = s.mul(s.add(u, s.mul(v, ratio)), scale);
  Value im = s.mul(s.sub(v, s.mul(u, ratio)), scale);
  im = s.select(upright, im, s.neg(im));
  Value byZero = both(s, s.cmp(Cmp::Eq, sizeC, s.zero(c)),
                      s.cmp(Cmp::Eq, sizeD, s.zero(d)));
  return join(s, s.select(byZero, s.div(a, sizeC), re),
              s.select(byZero, s.div(b, sizeD), im));
}

Value complexExp(ScalarBuilder &s, Value z) {
  auto [x, y] = partsOf(s, z);
  Value size = s.exp(x), zero = s.zero(x);
  Value re = s.mul(size, math::CosOp::create(s.b, s.loc, y));
  Value im = s.mul(size, math::SinOp::create(s.b, s.loc, y));
  Value vanishes = s.cmp(Cmp::Eq, x, s.neg(infinity(s, x)));
  Value noAngle = both(s, vanishes, isNan(s, re));
  re = s.select(noAngle, zero, re);
  im = s.select(noAngle, zero, im);
  return join(s, re, s.select(s.cmp(Cmp::Eq, y, zero), y, im));
}

Value complexModulus(ScalarBuilder &s, Value z) {
  auto [x, y] = partsOf(s, z);
  Value infinite = either(s, isInfinite(s, x), isInfinite(s, y));
  return s.select(infinite, infinity(s, x),
                  complex::AbsOp::create(s.b, s.loc, z));
}

Value complexLog(ScalarBuilder &s, Value z) {
  auto [x, y] = partsOf(s, z);
  return join(s, s.log(complexModulus(s, z)),
              math::Atan2Op::create(s.b, s.loc, y, x));
}

// Where both parts come out as NaN though a factor is infinite, its infinite
// parts count as ±1, its others as ±0, and the other factor's NaNs as ±0: that
// gives the direction of the product.
Value infiniteProduct(ScalarBuilder &s, Value x, Value y) {
  auto [a, b] = partsOf(s, x);
  auto [c, d] = partsOf(s, y);
  auto product = [&](Value p, Value q, Value r, Value t) -> Parts {
    return {s.sub(s.mul(p, r), s.mul(q, t)), s.add(s.mul(p, t), s.mul(q, r))};
  };
  Parts plain = product(a, b, c, d);
  Value left = either(s, isInfinite(s, a), isInfinite(s, b));
  Value right = either(s, isInfinite(s, c), isInfinite(s, d));
  Value zero = s.zero(a), one = s.one(a);
  auto directed = [&](Value part, Value own, Value other) {
    Value unit = s.select(isInfinite(s, part), one, zero);
    Value known =
        s.select(both(s, other, isNan(s, part)), withSign(s, zero, part), part);
    return s.select(own, withSign(s, unit, part), known);
  };
  Parts far = product(directed(a, left, right), directed(b, left, right),
                      directed(c, right, left), directed(d, right, left));
  Value lost = both(s, isNan(s, plain.re), isNan(s, plain.im));
  Value use = both(s, lost, either(s, left, right));
  Value inf = infinity(s, a);
  return join(s, s.select(use, s.mul(inf, far.re), plain.re),
              s.select(use, s.mul(inf, far.im), plain.im));
}

} // namespace ft
