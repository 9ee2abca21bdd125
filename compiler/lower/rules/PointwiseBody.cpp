//===- PointwiseBody.cpp - Scalar arithmetic of formulas ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/PointwiseBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ft {

PointwiseBody::PointwiseBody(ScalarBuilder &s, const AtenCall &call,
                             DType dtype, DType numberDtype, DType resultDtype,
                             ValueRange elements, ArrayRef<DType> dtypes)
    : ScalarBuilder(s.b, s.loc), dtype(dtype), resultDtype(resultDtype),
      call(call), numberDtype(numberDtype), elementOf(call.args.size()),
      dtypeOf(call.args.size(), DType::F32) {
  unsigned next = 0;
  for (auto [i, arg] : llvm::enumerate(call.args)) {
    if (!isElement(arg) || next == elements.size())
      continue;
    elementOf[i] = elements[next];
    dtypeOf[i] = dtypes[next++];
  }
}

/// A number argument as a constant of `to`.
static Value numberConstant(PointwiseBody &p, const Arg &arg, DType to) {
  Type type = computeType(p.b.getContext(), to);
  double real = arg.kind == Arg::Bool  ? double(arg.boolean)
                : arg.kind == Arg::Int ? double(arg.dim.value())
                                       : arg.real;
  if (to == DType::Bool)
    return p.constantInt(type, real != 0 || arg.imag != 0);
  if (isIntegral(to)) {
    if (arg.kind == Arg::Int)
      return p.constantInt(type, arg.dim.value());
    return p.constantInt(type, static_cast<int64_t>(real));
  }
  if (!isComplex(to))
    return p.constant(type, real);
  Type part = cast<ComplexType>(type).getElementType();
  return p.makeComplex(p.constant(part, real), p.constant(part, arg.imag));
}

Value PointwiseBody::as(unsigned i, DType to) {
  const Arg &arg = call.args[i];
  if (arg.kind == Arg::Tensor) {
    // An integer is first rounded to the float that the call promotes it to.
    if (to == DType::F64 && resultDtype == DType::F32 && isIntegral(dtypeOf[i]))
      return cast(cast(elementOf[i], dtypeOf[i], resultDtype), resultDtype, to);
    return cast(elementOf[i], dtypeOf[i], to);
  }
  auto number = [&](DType dtype) {
    return elementOf[i] ? cast(elementOf[i], dtypeOf[i], dtype)
                        : numberConstant(*this, arg, dtype);
  };
  if (to != dtype || numberDtype == dtype)
    return number(to);
  return cast(number(numberDtype), numberDtype, to);
}

Number PointwiseBody::number(unsigned i) {
  if (!isNumberOfRun(call.args[i]))
    return Number(call.number(i));
  // A fraction would be lost.
  needsConstant |= isInteger() && isFloating(dtypeOf[i]);
  return Number(*this, (*this)[i]);
}

Value Number::in(PointwiseBody &p, Type type) const {
  if (isKnown())
    return p.constant(type, known_);
  if (ofRun.getType() == type)
    return ofRun;
  return p.cast(ofRun, p.dtype,
                isa<Float64Type>(type) ? DType::F64 : DType::F32);
}

template <typename Known, typename Code>
static Number combined(PointwiseBody *body, Number x, Number y, Known known,
                       Code code) {
  if (!body)
    return Number(known(x.known(), y.known()));
  Type type = body->type();
  return Number(*body, code(*body, x.in(*body, type), y.in(*body, type)));
}

Number operator+(Number x, Number y) {
  return combined(
      x.body ? x.body : y.body, x, y, [](double a, double b) { return a + b; },
      [](PointwiseBody &p, Value a, Value b) { return p.add(a, b); });
}
Number operator-(Number x, Number y) {
  return combined(
      x.body ? x.body : y.body, x, y, [](double a, double b) { return a - b; },
      [](PointwiseBody &p, Value a, Value b) { return p.sub(a, b); });
}
Number operator*(Number x, Number y) {
  return combined(
      x.body ? x.body : y.body, x, y, [](double a, double b) { return a * b; },
      [](PointwiseBody &p, Value a, Value b) { return p.mul(a, b); });
}
Number operator/(Number x, Number y) {
  return combined(
      x.body ? x.body : y.body, x, y, [](double a, double b) { return a / b; },
      [](PointwiseBody &p, Value a, Value b) { return p.div(a, b); });
}

double PointwiseBody::known(unsigned i) {
  needsConstant |= isNumberOfRun(call.args[i]);
  return call.number(i);
}

bool PointwiseBody::flag(unsigned i) {
  needsConstant |= isNumberOfRun(call.args[i]);
  return call.flag(i);
}

Value PointwiseBody::scaled(Value x, unsigned i) {
  const Arg &arg = call.args[i];
  bool isOne = (arg.kind == Arg::Int && arg.dim.is(1)) ||
               (arg.kind == Arg::Float && arg.real == 1) ||
               (arg.kind == Arg::Bool && arg.boolean);
  return isOne && !isRuntimeNumber(arg) ? x : mul(x, (*this)[i]);
}

Value PointwiseBody::refuse() {
  refused = true;
  return k(0);
}

static bool isBool(Value x) { return x.getType().isInteger(1); }
static bool isComplexValue(Value x) { return isa<ComplexType>(x.getType()); }
static bool isIntegerValue(Value x) { return isa<IntegerType>(x.getType()); }

Value PointwiseBody::add(Value x, Value y) {
  return isBool(x) ? bitOr(x, y) : ScalarBuilder::add(x, y);
}

Value PointwiseBody::mul(Value x, Value y) {
  return isBool(x) ? bitAnd(x, y) : ScalarBuilder::mul(x, y);
}

Value PointwiseBody::mul(Value x, double y) {
  if (!isComplexValue(x))
    return mul(x, like(x, y));
  return makeComplex(mul(real(x), y), mul(imag(x), y));
}

Value PointwiseBody::eq(Value x, Value y) {
  if (isComplexValue(x))
    return complex::EqualOp::create(b, loc, x, y);
  return cmp(Cmp::Eq, x, y);
}

Value PointwiseBody::isNan(Value x) {
  if (isComplexValue(x))
    return bitOr(isNan(real(x)), isNan(imag(x)));
  if (isIntegerValue(x))
    return constantInt(b.getI1Type(), 0);
  return cmp(Cmp::Ne, x, x);
}

Value PointwiseBody::logicalNot(Value x) {
  return bitXor(x, constantInt(x.getType(), isBool(x) ? 1 : -1));
}
Value PointwiseBody::bitAnd(Value x, Value y) {
  return arith::AndIOp::create(b, loc, x, y);
}
Value PointwiseBody::bitOr(Value x, Value y) {
  return arith::OrIOp::create(b, loc, x, y);
}
Value PointwiseBody::bitXor(Value x, Value y) {
  return arith::XOrIOp::create(b, loc, x, y);
}

Value PointwiseBody::abs(Value x) {
  if (isComplexValue(x))
    return complex::AbsOp::create(b, loc, x);
  if (isIntegerValue(x)) {
    if (isUnsigned())
      return x;
    return math::AbsIOp::create(b, loc, x);
  }
  return math::AbsFOp::create(b, loc, x);
}

Value PointwiseBody::sigmoid(Value x) {
  return reciprocal(add(one(x), exp(neg(x))));
}

template <typename FloatOp>
static Value floatOnly(PointwiseBody &p, Value x) {
  if (isIntegerValue(x))
    return x; // rounding an integer
  if (isComplexValue(x))
    return p.refuse();
  return FloatOp::create(p.b, p.loc, x);
}

template <typename FloatOp, typename ComplexOp>
static Value floatOrComplex(PointwiseBody &p, Value x) {
  if (isComplexValue(x))
    return ComplexOp::create(p.b, p.loc, x);
  return FloatOp::create(p.b, p.loc, x);
}

Value PointwiseBody::floor(Value x) {
  return floatOnly<math::FloorOp>(*this, x);
}
Value PointwiseBody::ceil(Value x) { return floatOnly<math::CeilOp>(*this, x); }
Value PointwiseBody::truncate(Value x) {
  return floatOnly<math::TruncOp>(*this, x);
}
Value PointwiseBody::round(Value x) {
  return floatOnly<math::RoundEvenOp>(*this, x);
}
Value PointwiseBody::copySign(Value x, Value sign) {
  return math::CopySignOp::create(b, loc, x, sign);
}
Value PointwiseBody::sin(Value x) {
  return floatOrComplex<math::SinOp, complex::SinOp>(*this, x);
}
Value PointwiseBody::cos(Value x) {
  return floatOrComplex<math::CosOp, complex::CosOp>(*this, x);
}
Value PointwiseBody::tan(Value x) {
  return floatOrComplex<math::TanOp, complex::TanOp>(*this, x);
}
Value PointwiseBody::expm1(Value x) {
  return floatOrComplex<math::ExpM1Op, complex::Expm1Op>(*this, x);
}
Value PointwiseBody::log1p(Value x) {
  Value y = floatOrComplex<math::Log1pOp, complex::Log1pOp>(*this, x);
  if (!isComplexValue(x))
    return y;
  // The pole, which the formula of complex.log1p misses.
  Value im = imag(x);
  double inf = std::numeric_limits<double>::infinity();
  return select(eq(x, like(x, -1)), makeComplex(like(im, -inf), im), y);
}
Value PointwiseBody::erfc(Value x) { return math::ErfcOp::create(b, loc, x); }
Value PointwiseBody::exp2(Value x) {
  if (isComplexValue(x))
    return exp(mul(x, 0.69314718055994530942));
  return math::Exp2Op::create(b, loc, x);
}
Value PointwiseBody::log2(Value x) {
  if (isComplexValue(x))
    return mul(log(x), 1.44269504088896340736);
  return math::Log2Op::create(b, loc, x);
}
Value PointwiseBody::log10(Value x) {
  if (isComplexValue(x))
    return mul(log(x), 0.43429448190325182765);
  return math::Log10Op::create(b, loc, x);
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
Value PointwiseBody::acosh(Value x) {
  if (!isComplexValue(x))
    return math::AcoshOp::create(b, loc, x);
  Value r = sqrt(neg(oneMinus(*this, x))), s = sqrt(onePlus(*this, x));
  Value re = asinh(add(mul(real(r), real(s)), mul(imag(r), imag(s))));
  return makeComplex(re, mul(atan2(imag(r), real(s)), 2));
}
Value PointwiseBody::atanh(Value x) {
  if (!isComplexValue(x))
    return math::AtanhOp::create(b, loc, x);
  // log1p(4 x / ((1 - x)² + y²)) / 4 for x >= 0, which is odd in x; the angle
  // is that of (1 + z) (1 - conj z), halved.
  Value y = imag(x), size = abs(real(x));
  Value less = add(neg(size), 1), more = add(size, 1), yy = mul(y, y);
  Value part = div(mul(size, 4), add(mul(less, less), yy));
  Value inf = like(size, std::numeric_limits<double>::infinity());
  Value far = bitOr(eq(size, inf), eq(abs(y), inf));
  part = select(far, zero(size), part);
  Value re = copySign(mul(log1p(part), 0.25), real(x));
  Value angle = atan2(mul(y, 2), sub(mul(less, more), yy));
  return makeComplex(re, mul(angle, 0.5));
}
Value PointwiseBody::asin(Value x) {
  if (!isComplexValue(x))
    return math::AsinOp::create(b, loc, x);
  Value r = sqrt(oneMinus(*this, x)), s = sqrt(onePlus(*this, x));
  Value across = sub(mul(real(r), real(s)), mul(imag(r), imag(s)));
  Value im = asinh(sub(mul(real(r), imag(s)), mul(imag(r), real(s))));
  return makeComplex(atan2(real(x), across), im);
}
Value PointwiseBody::acos(Value x) {
  if (!isComplexValue(x))
    return math::AcosOp::create(b, loc, x);
  Value r = sqrt(oneMinus(*this, x)), s = sqrt(onePlus(*this, x));
  Value im = asinh(sub(mul(real(s), imag(r)), mul(imag(s), real(r))));
  return makeComplex(mul(atan2(real(r), real(s)), 2), im);
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

Value PointwiseBody::real(Value z) {
  return isComplexValue(z) ? Value(complex::ReOp::create(b, loc, z)) : z;
}
Value PointwiseBody::imag(Value z) {
  return isComplexValue(z) ? Value(complex::ImOp::create(b, loc, z)) : zero(z);
}
Value PointwiseBody::makeComplex(Value re, Value im) {
  return complex::CreateOp::create(b, loc, ComplexType::get(re.getType()), re,
                                   im);
}

Value PointwiseBody::polynomial(Value x, ArrayRef<double> c) {
  Value sum = like(x, c.front());
  for (double coefficient : c.drop_front())
    sum = ScalarBuilder::add(ScalarBuilder::mul(sum, x), like(x, coefficient));
  return sum;
}

Value PointwiseBody::chebyshev(Value x, double low, double high,
                               ArrayRef<double> c) {
  Value t = ScalarBuilder::mul(ScalarBuilder::sub(x, like(x, (low + high) / 2)),
                               like(x, 2 / (high - low)));
  Value twice = ScalarBuilder::add(t, t);
  Value next = zero(x), sum = like(x, c.back());
  for (double coefficient : llvm::reverse(c.drop_front().drop_back())) {
    Value step = ScalarBuilder::sub(ScalarBuilder::mul(twice, sum), next);
    next = sum;
    sum = ScalarBuilder::add(step, like(x, coefficient));
  }
  return ScalarBuilder::add(
      ScalarBuilder::sub(ScalarBuilder::mul(t, sum), next), like(x, c.front()));
}

SmallVector<Value>
PointwiseBody::repeat(ValueRange start,
                      llvm::function_ref<Value(ValueRange)> more,
                      llvm::function_ref<SmallVector<Value>(ValueRange)> next) {
  auto loop = scf::WhileOp::create(
      b, loc, start.getTypes(), start,
      [&](OpBuilder &, Location, ValueRange v) {
        scf::ConditionOp::create(b, loc, more(v), v);
      },
      [&](OpBuilder &, Location, ValueRange v) {
        scf::YieldOp::create(b, loc, next(v));
      });
  return SmallVector<Value>(loop.getResults());
}

/// x to the power y as an unsigned number; products wrap.
static Value naturalPow(PointwiseBody &p, Value x, Value y) {
  llvm::APInt exponent;
  if (matchPattern(y, m_ConstantInt(&exponent))) {
    Value result = p.one(x), square = x;
    for (unsigned i = 0, n = exponent.getActiveBits(); i < n; ++i) {
      if (exponent[i])
        result = p.mul(result, square);
      square = p.mul(square, square);
    }
    return result;
  }
  // Square and multiply: while y: if y odd: result *= x; x *= x; y >>= 1.
  return p.repeat(
      {p.one(x), x, y}, [&](ValueRange v) { return p.ne(v[2], p.zero(y)); },
      [&](ValueRange v) -> SmallVector<Value> {
        Value odd = p.ne(p.bitAnd(v[2], p.one(y)), p.zero(y));
        Value result = p.select(odd, p.mul(v[0], v[1]), v[0]);
        Value rest = arith::ShRUIOp::create(p.b, p.loc, v[2], p.one(y));
        return {result, p.mul(v[1], v[1]), rest};
      })[0];
}

/// Negative exponents give 0 unless |x| = 1.
static Value integerPow(PointwiseBody &p, Value x, Value y) {
  if (p.isUnsigned())
    return naturalPow(p, x, y);
  Value result = naturalPow(p, x, y), zero = p.zero(x);
  Value one = p.one(x), minusOne = p.constantInt(x.getType(), -1);
  Value odd = p.ne(p.bitAnd(y, one), zero);
  Value unit = p.select(p.eq(x, minusOne), p.select(odd, minusOne, one),
                        p.select(p.eq(x, one), one, zero));
  return p.select(p.lt(y, zero), unit, result);
}

Value PointwiseBody::pow(Value x, Value y) {
  if (isBool(x)) // 0 ** 0 = 1
    return bitOr(x, logicalNot(y));
  if (isIntegerValue(x))
    return integerPow(*this, x, y);
  if (isComplexValue(x)) {
    // exp(y log x). Where log x is infinite the product has NaN in it, and the
    // sign of y's real part tells the limit: 0, infinity, NaN for 0 itself.
    Value r = real(y), none = zero(r);
    Value nan = like(r, std::numeric_limits<double>::quiet_NaN());
    Value inf = like(r, std::numeric_limits<double>::infinity());
    Value isZero = eq(x, zero(x));
    Value isInfinite = bitOr(eq(abs(real(x)), inf), eq(abs(imag(x)), inf));
    Value up = select(isZero, lt(r, none), gt(r, none));
    Value down = select(isZero, gt(r, none), lt(r, none));
    Value limit = select(up, makeComplex(inf, nan), makeComplex(nan, nan));
    limit = select(down, zero(x), limit);
    return select(bitOr(isZero, isInfinite), limit, exp(mul(y, log(x))));
  }
  return math::PowFOp::create(b, loc, x, y);
}

Value PointwiseBody::safeDivisor(Value y) {
  Value bad = eq(y, zero(y));
  if (!isUnsigned())
    bad = bitOr(bad, eq(y, constantInt(y.getType(), -1)));
  return select(bad, one(y), y);
}

Value PointwiseBody::truncDiv(Value x, Value y) {
  if (!isIntegerValue(x))
    return truncate(div(x, y));
  if (isBool(x))
    return x;
  Value q = div(x, safeDivisor(y), isUnsigned());
  if (isUnsigned())
    return q;
  return select(eq(y, constantInt(y.getType(), -1)), neg(x), q);
}

Value PointwiseBody::remainderTrunc(Value x, Value y) {
  if (!isIntegerValue(x))
    return arith::RemFOp::create(b, loc, x, y);
  if (isBool(x))
    return zero(x);
  // For -1 and 0 the divisor is 1, which leaves the right remainder 0.
  Value safe = safeDivisor(y);
  if (isUnsigned())
    return arith::RemUIOp::create(b, loc, x, safe);
  return arith::RemSIOp::create(b, loc, x, safe);
}

Value PointwiseBody::remainderFloor(Value x, Value y) {
  Value r = remainderTrunc(x, y);
  if (isIntegerValue(x) && isUnsigned())
    return r;
  Value differ = bitXor(lt(r, zero(r)), lt(y, zero(y)));
  return select(bitAnd(ne(r, zero(r)), differ), ScalarBuilder::add(r, y), r);
}

Value PointwiseBody::floorDiv(Value x, Value y) {
  if (isIntegerValue(x)) {
    Value q = truncDiv(x, y);
    if (isUnsigned())
      return q;
    Value r = remainderTrunc(x, y);
    Value differ = bitXor(lt(r, zero(r)), lt(y, zero(y)));
    return select(bitAnd(ne(r, zero(r)), differ), sub(q, one(q)), q);
  }
  // By the remainder, which is exact: x / y itself may round up to the next
  // integer. The quotient of x - r is within half an ulp of an integer.
  Value r = arith::RemFOp::create(b, loc, x, y);
  Value q = div(sub(x, r), y);
  Value differ = bitXor(lt(r, zero(r)), lt(y, zero(y)));
  q = select(bitAnd(ne(r, zero(r)), differ), sub(q, one(q)), q);
  Value whole = floor(q);
  whole = select(gt(sub(q, whole), like(q, 0.5)), add(whole, one(q)), whole);
  Value quotient = div(x, y);
  whole = select(eq(q, zero(q)), copySign(zero(q), quotient), whole);
  return select(eq(y, zero(y)), quotient, whole);
}

} // namespace ft
