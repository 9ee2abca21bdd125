//===- PointwiseComplex.cpp - Functions of real and complex numbers -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of PointwiseBody that complex numbers have too. Where a part is
// infinite they give what C's library does (Annex G), as PyTorch's kernels do,
// which call it.

#include "compiler/lower/ComplexScalar.h"
#include "compiler/lower/rules/PointwiseBody.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace ft {

static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
static constexpr double kPi = 3.14159265358979323846;

static bool isComplexValue(Value x) { return isa<ComplexType>(x.getType()); }

static Value isInfinite(PointwiseBody &p, Value x) {
  return p.eq(p.abs(x), p.like(x, kInf));
}

Value PointwiseBody::sin(Value x) {
  if (!isComplexValue(x))
    return math::SinOp::create(b, loc, x);
  // sin x cosh y + i cos x sinh y; 0 cosh y is 0 for the largest y too.
  Value y = complex::SinOp::create(b, loc, x), re = real(x);
  return makeComplex(select(eq(re, zero(re)), re, real(y)), imag(y));
}
Value PointwiseBody::cos(Value x) {
  if (!isComplexValue(x))
    return math::CosOp::create(b, loc, x);
  // cos x cosh y - i sin x sinh y
  Value y = complex::CosOp::create(b, loc, x), re = real(x);
  return makeComplex(real(y), select(eq(re, zero(re)), zero(re), imag(y)));
}
Value PointwiseBody::tan(Value x) {
  if (!isComplexValue(x))
    return math::TanOp::create(b, loc, x);
  return complex::TanOp::create(b, loc, x);
}
Value PointwiseBody::expm1(Value x) {
  if (!isComplexValue(x))
    return math::ExpM1Op::create(b, loc, x);
  // e^x cos y - 1 = expm1(x) cos y - 2 sin²(y/2)
  Value re = real(x), im = imag(x), half = sin(mul(im, 0.5));
  return makeComplex(sub(mul(expm1(re), cos(im)), mul(square(half), 2)),
                     mul(exp(re), sin(im)));
}
Value PointwiseBody::log1p(Value x) {
  if (!isComplexValue(x))
    return math::Log1pOp::create(b, loc, x);
  // log |1 + z|: near 0 by log1p(x (2 + x) + y²) / 2, which 1 + z would lose,
  // and elsewhere as it stands, since near -1 that cancels.
  Value re = real(x), im = imag(x), up = add(re, 1);
  Value square = add(mul(re, add(re, 2)), mul(im, im));
  Value near = mul(log1p(square), 0.5);
  Value far = log(complexModulus(*this, makeComplex(up, im)));
  Value small = lt(complexModulus(*this, x), like(re, 0.5));
  return makeComplex(select(small, near, far), atan2(im, up));
}

/// i z.
static Value timesI(PointwiseBody &p, Value z) {
  return p.makeComplex(p.neg(p.imag(z)), p.real(z));
}

// Hyperbolic and inverse functions of complex numbers by their definitions in
// terms of exp, log and sqrt; MLIR has no ops for them.
Value PointwiseBody::sinh(Value x) {
  if (!isComplexValue(x))
    return math::SinhOp::create(b, loc, x);
  // sinh z = -i sin(i z)
  Value s = sin(timesI(*this, x));
  return makeComplex(imag(s), neg(real(s)));
}
Value PointwiseBody::cosh(Value x) {
  if (!isComplexValue(x))
    return math::CoshOp::create(b, loc, x);
  return cos(timesI(*this, x));
}
// 1 + z and 1 - z that keep the sign of an imaginary zero, which decides the
// side of a branch cut.
static Value onePlus(PointwiseBody &p, Value z) {
  return p.makeComplex(p.add(p.real(z), 1), p.imag(z));
}
static Value oneMinus(PointwiseBody &p, Value z) {
  return p.makeComplex(p.add(p.neg(p.real(z)), 1), p.neg(p.imag(z)));
}

// The inverse functions are Kahan's ("Branch cuts for complex elementary
// functions", 1987): by the real functions of products of two square roots,
// which neither cancel, as z + sqrt(z² + 1) does for Re z < 0, nor overflow.
//
//   asin z = atan2(x, Re(r s)) + i asinh(Im(conj(r) s)),
//   r = sqrt(1 - z), s = sqrt(1 + z)
Value PointwiseBody::asinh(Value x) {
  if (!isComplexValue(x))
    return math::AsinhOp::create(b, loc, x);
  // -i asin(i z)
  Value s = asin(timesI(*this, x));
  return makeComplex(imag(s), neg(real(s)));
}
/// `angle`, but that of z where z has an infinite imaginary part: square roots
/// keep no ratio of two infinities.
static Value angleOfFar(PointwiseBody &p, Value z, Value angle) {
  Value x = p.real(z), y = p.imag(z);
  Value size = p.select(p.eq(x, x), p.like(x, kPi / 2), p.like(x, kNan));
  size = p.select(p.eq(x, p.like(x, kInf)), p.like(x, kPi / 4), size);
  size = p.select(p.eq(x, p.like(x, -kInf)), p.like(x, 3 * kPi / 4), size);
  return p.select(isInfinite(p, y), p.copySign(size, y), angle);
}

Value PointwiseBody::acosh(Value x) {
  if (!isComplexValue(x))
    return math::AcoshOp::create(b, loc, x);
  Value r = sqrt(neg(oneMinus(*this, x))), s = sqrt(onePlus(*this, x));
  Value re = asinh(add(mul(real(r), real(s)), mul(imag(r), imag(s))));
  Value angle = mul(atan2(imag(r), real(s)), 2);
  return makeComplex(re, angleOfFar(*this, x, angle));
}
Value PointwiseBody::atanh(Value x) {
  if (!isComplexValue(x))
    return math::AtanhOp::create(b, loc, x);
  // log1p(4 x / ((1 - x)² + y²)) / 4 for x >= 0, which is odd in x; the angle
  // is that of (1 + z) (1 - conj z), halved.
  Value y = imag(x), size = abs(real(x));
  Value less = add(neg(size), 1), more = add(size, 1), yy = mul(y, y);
  Value part = div(mul(size, 4), add(mul(less, less), yy));
  Value far = bitOr(isInfinite(*this, size), isInfinite(*this, y));
  part = select(far, zero(size), part);
  Value re = copySign(mul(log1p(part), 0.25), real(x));
  Value angle = atan2(mul(y, 2), sub(mul(less, more), yy));
  Value right = copySign(like(y, kPi / 2), y);
  return makeComplex(re, select(bitAnd(far, eq(y, y)), right, mul(angle, 0.5)));
}
Value PointwiseBody::asin(Value x) {
  if (!isComplexValue(x))
    return math::AsinOp::create(b, loc, x);
  Value r = sqrt(oneMinus(*this, x)), s = sqrt(onePlus(*this, x));
  Value across = sub(mul(real(r), real(s)), mul(imag(r), imag(s)));
  Value im = asinh(sub(mul(real(r), imag(s)), mul(imag(r), real(s))));
  // across is inf - inf on the real axis' ends.
  Value end =
      bitAnd(isInfinite(*this, real(x)), lt(abs(imag(x)), like(im, kInf)));
  Value right = copySign(like(im, kPi / 2), real(x));
  return makeComplex(select(end, right, atan2(real(x), across)), im);
}
Value PointwiseBody::acos(Value x) {
  if (!isComplexValue(x))
    return math::AcosOp::create(b, loc, x);
  Value r = sqrt(oneMinus(*this, x)), s = sqrt(onePlus(*this, x));
  Value im = asinh(sub(mul(real(s), imag(r)), mul(imag(s), real(r))));
  Value angle = mul(atan2(real(r), real(s)), 2);
  return makeComplex(abs(angleOfFar(*this, x, angle)), im);
}
Value PointwiseBody::atan(Value x) {
  if (!isComplexValue(x))
    return math::AtanOp::create(b, loc, x);
  // -i atanh(i z)
  Value s = atanh(timesI(*this, x));
  return makeComplex(imag(s), neg(real(s)));
}
Value PointwiseBody::atan2(Value y, Value x) {
  return math::Atan2Op::create(b, loc, y, x);
}

Value PointwiseBody::complexAbs(Value z) { return complexModulus(*this, z); }

/// exp(y log x), with the products of infinities that C has.
Value PointwiseBody::complexPow(Value x, Value y) {
  return exp(infiniteProduct(*this, y, log(x)));
}

} // namespace ft
