//===- Scalar.cpp - Scalar arithmetic inside kernels -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Scalar.h"

#include "compiler/lower/ComplexScalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cmath>

using namespace mlir;

namespace ft {

Type storageType(MLIRContext *context, DType dtype) {
  if (dtype == DType::Bool)
    return IntegerType::get(context, 8);
  Type type = dtypeToType(context, dtype);
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(context, integer.getWidth());
  return type;
}

Type computeType(MLIRContext *context, DType dtype) {
  if (dtype == DType::Bool)
    return IntegerType::get(context, 1);
  return storageType(context, dtype);
}

DType opmathType(DType dtype) {
  switch (dtype) {
  case DType::F16:
  case DType::BF16:
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::F8E8M0FNU:
    return DType::F32;
  case DType::C32:
    return DType::C64;
  default:
    return dtype;
  }
}

static bool isComplexType(Value v) { return isa<ComplexType>(v.getType()); }
static bool isFloatType(Value v) { return isa<FloatType>(v.getType()); }

Value ScalarBuilder::constant(Type type, double value) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    auto part = cast<FloatType>(complex.getElementType());
    return complex::ConstantOp::create(
        b, loc, type,
        b.getArrayAttr({b.getFloatAttr(part, value), b.getFloatAttr(part, 0)}));
  }
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  return constantInt(type, static_cast<int64_t>(value));
}

Value ScalarBuilder::constantInt(Type type, int64_t value) {
  if (!isa<IntegerType, IndexType>(type))
    return constant(type, static_cast<double>(value));
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  // Wraps, as a conversion to the type would.
  APInt bits = APInt(64, static_cast<uint64_t>(value)).trunc(width);
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, bits));
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static Value castFloat(ScalarBuilder &s, Value v, Type to) {
  unsigned from = v.getType().getIntOrFloatBitWidth();
  unsigned width = to.getIntOrFloatBitWidth();
  if (v.getType() == to)
    return v;
  if (from < width)
    return arith::ExtFOp::create(s.b, s.loc, to, v);
  if (from > width)
    return arith::TruncFOp::create(s.b, s.loc, to, v);
  // Two formats of one width (float16 and bfloat16): through float32.
  Value wide = arith::ExtFOp::create(s.b, s.loc, s.b.getF32Type(), v);
  return arith::TruncFOp::create(s.b, s.loc, to, wide);
}

static Value castInteger(ScalarBuilder &s, Value v, Type to, bool isUnsigned) {
  unsigned from = v.getType().getIntOrFloatBitWidth();
  unsigned width = to.getIntOrFloatBitWidth();
  if (from == width)
    return v;
  if (from > width)
    return arith::TruncIOp::create(s.b, s.loc, to, v);
  if (isUnsigned)
    return arith::ExtUIOp::create(s.b, s.loc, to, v);
  return arith::ExtSIOp::create(s.b, s.loc, to, v);
}

/// A float in [low, high) to an integer; anything else, NaN too, gives the
/// least number of the type, as x86 does. (LLVM's conversion alone would leave
/// it undefined, and with it every comparison of an index.)
template <typename ConversionOp>
static Value convertWithin(ScalarBuilder &s, Value v, Type to, double low,
                           double high) {
  auto bound = [&](double x) { return s.constant(v.getType(), x); };
  Value inside = arith::AndIOp::create(
      s.b, s.loc,
      arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::OGE, v,
                            bound(low)),
      arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::OLT, v,
                            bound(high)));
  Value safe = arith::SelectOp::create(s.b, s.loc, inside, v, bound(0));
  Value integer = ConversionOp::create(s.b, s.loc, to, safe);
  Value least = arith::ConstantOp::create(
      s.b, s.loc,
      s.b.getIntegerAttr(
          to, llvm::APInt::getSignedMinValue(to.getIntOrFloatBitWidth())));
  return arith::SelectOp::create(s.b, s.loc, inside, integer, least);
}

static Value toSigned(ScalarBuilder &s, Value v, Type to) {
  double end = std::ldexp(1.0, int(to.getIntOrFloatBitWidth()) - 1);
  return convertWithin<arith::FPToSIOp>(s, v, to, -end, end);
}

/// Float to integer as x86 does it through 64 bits: the low bits of the
/// truncated value, so that -1.0 to uint8 is 255.
static Value floatToInteger(ScalarBuilder &s, Value v, Type to, DType toDType) {
  if (v.getType().getIntOrFloatBitWidth() < 32)
    v = castFloat(s, v, s.b.getF32Type());
  Type wide = to.getIntOrFloatBitWidth() < 32 ? s.b.getI32Type() : to;
  if (toDType == DType::U64)
    return arith::SelectOp::create(
        s.b, s.loc,
        arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::OLT, v,
                              s.constant(v.getType(), 0x1p63)),
        toSigned(s, v, to),
        convertWithin<arith::FPToUIOp>(s, v, to, 0x1p63, 0x1p64));
  if (toDType == DType::U32)
    wide = s.b.getI64Type();
  return castInteger(s, toSigned(s, v, wide), to, false);
}

Value ScalarBuilder::cast(Value v, DType from, DType to) {
  if (from == to)
    return v;
  Type type = computeType(b.getContext(), to);
  if (isComplexType(v)) {
    Type part = mlir::cast<ComplexType>(v.getType()).getElementType();
    if (to == DType::Bool)
      return cmp(Cmp::Ne, v, zero(v));
    Value re = complex::ReOp::create(b, loc, part, v);
    if (auto complex = dyn_cast<ComplexType>(type)) {
      Value im = complex::ImOp::create(b, loc, part, v);
      return complex::CreateOp::create(
          b, loc, type, castFloat(*this, re, complex.getElementType()),
          castFloat(*this, im, complex.getElementType()));
    }
    DType partDType = from == DType::C32   ? DType::F16
                      : from == DType::C64 ? DType::F32
                                           : DType::F64;
    return cast(re, partDType, to);
  }
  if (to == DType::Bool)
    return cmp(Cmp::Ne, v, zero(v));
  if (auto complex = dyn_cast<ComplexType>(type)) {
    DType partDType = to == DType::C32   ? DType::F16
                      : to == DType::C64 ? DType::F32
                                         : DType::F64;
    Value re = cast(v, from, partDType);
    return complex::CreateOp::create(b, loc, type, re, zero(re));
  }
  bool fromUnsigned = from == DType::Bool || isUnsigned(from);
  if (isFloatType(v)) {
    if (isa<FloatType>(type))
      return castFloat(*this, v, type);
    return floatToInteger(*this, v, type, to);
  }
  if (isa<IntegerType>(type))
    return castInteger(*this, v, type, fromUnsigned);
  Type wide = type.getIntOrFloatBitWidth() < 32 ? b.getF32Type() : type;
  Value real = fromUnsigned ? Value(arith::UIToFPOp::create(b, loc, wide, v))
                            : Value(arith::SIToFPOp::create(b, loc, wide, v));
  return castFloat(*this, real, type);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value ScalarBuilder::add(Value x, Value y) {
  if (isComplexType(x))
    return complex::AddOp::create(b, loc, x, y);
  if (isFloatType(x))
    return arith::AddFOp::create(b, loc, x, y);
  // bool + bool is or.
  if (x.getType().isInteger(1))
    return arith::OrIOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

Value ScalarBuilder::sub(Value x, Value y) {
  if (isComplexType(x))
    return complex::SubOp::create(b, loc, x, y);
  if (isFloatType(x))
    return arith::SubFOp::create(b, loc, x, y);
  return arith::SubIOp::create(b, loc, x, y);
}

Value ScalarBuilder::mul(Value x, Value y) {
  if (isComplexType(x))
    return complex::MulOp::create(b, loc, x, y);
  if (isFloatType(x))
    return arith::MulFOp::create(b, loc, x, y);
  if (x.getType().isInteger(1))
    return arith::AndIOp::create(b, loc, x, y);
  return arith::MulIOp::create(b, loc, x, y);
}

Value ScalarBuilder::div(Value x, Value y, bool isUnsigned) {
  if (isComplexType(x))
    return complexQuotient(*this, x, y);
  if (isFloatType(x))
    return arith::DivFOp::create(b, loc, x, y);
  if (isUnsigned)
    return arith::DivUIOp::create(b, loc, x, y);
  return arith::DivSIOp::create(b, loc, x, y);
}

Value ScalarBuilder::neg(Value x) {
  if (isComplexType(x))
    return complex::NegOp::create(b, loc, x);
  if (isFloatType(x))
    return arith::NegFOp::create(b, loc, x);
  return arith::SubIOp::create(b, loc, zero(x), x);
}

Value ScalarBuilder::maximum(Value x, Value y, bool isUnsigned) {
  if (isFloatType(x))
    return arith::MaximumFOp::create(b, loc, x, y);
  if (isUnsigned || x.getType().isInteger(1))
    return arith::MaxUIOp::create(b, loc, x, y);
  return arith::MaxSIOp::create(b, loc, x, y);
}

Value ScalarBuilder::minimum(Value x, Value y, bool isUnsigned) {
  if (isFloatType(x))
    return arith::MinimumFOp::create(b, loc, x, y);
  if (isUnsigned || x.getType().isInteger(1))
    return arith::MinUIOp::create(b, loc, x, y);
  return arith::MinSIOp::create(b, loc, x, y);
}

Value ScalarBuilder::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

Value ScalarBuilder::exp(Value x) {
  if (isComplexType(x))
    return complexExp(*this, x);
  return math::ExpOp::create(b, loc, x);
}

Value ScalarBuilder::log(Value x) {
  if (isComplexType(x))
    return complexLog(*this, x);
  return math::LogOp::create(b, loc, x);
}

Value ScalarBuilder::sqrt(Value x) {
  if (isComplexType(x))
    return complex::SqrtOp::create(b, loc, x);
  return math::SqrtOp::create(b, loc, x);
}

Value ScalarBuilder::tanh(Value x) {
  if (isComplexType(x))
    return complex::TanhOp::create(b, loc, x);
  return math::TanhOp::create(b, loc, x);
}

Value ScalarBuilder::erf(Value x) { return math::ErfOp::create(b, loc, x); }

Value ScalarBuilder::cmp(Cmp kind, Value x, Value y, bool isUnsigned) {
  if (isComplexType(x)) {
    if (kind == Cmp::Eq)
      return complex::EqualOp::create(b, loc, x, y);
    return complex::NotEqualOp::create(b, loc, x, y);
  }
  if (isFloatType(x)) {
    static const arith::CmpFPredicate kFloat[] = {
        arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
        arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE,
        arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return arith::CmpFOp::create(b, loc, kFloat[static_cast<int>(kind)], x, y);
  }
  static const arith::CmpIPredicate kSigned[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
      arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
      arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  static const arith::CmpIPredicate kUnsigned[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
      arith::CmpIPredicate::ult, arith::CmpIPredicate::ule,
      arith::CmpIPredicate::ugt, arith::CmpIPredicate::uge};
  bool useUnsigned = isUnsigned || x.getType().isInteger(1);
  return arith::CmpIOp::create(
      b, loc, (useUnsigned ? kUnsigned : kSigned)[static_cast<int>(kind)], x,
      y);
}

} // namespace ft
