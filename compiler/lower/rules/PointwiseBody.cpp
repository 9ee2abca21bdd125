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

static bool isBool(Value x) { return x.getType().isInteger(1); }
static bool isComplexValue(Value x) { return isa<ComplexType>(x.getType()); }
static bool isIntegerValue(Value x) { return isa<IntegerType>(x.getType()); }

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

bool PointwiseBody::isOne(unsigned i) const {
  const Arg &arg = call.args[i];
  return (arg.kind == Arg::Int && arg.dim.is(1)) ||
         (arg.kind == Arg::Float && arg.real == 1) ||
         (arg.kind == Arg::Bool && arg.boolean);
}

Value PointwiseBody::scaled(Value x, unsigned i) {
  // A complex factor of 1 + 0i is not neutral: infinity times it has NaN.
  return isOne(i) && !isComplexValue(x) ? x : mul(x, (*this)[i]);
}

Value PointwiseBody::refuse() {
  refused = true;
  return k(0);
}

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
    return complexAbs(x);
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
  if (isComplexValue(x))
    return complexPow(x, y);
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
