//===- PointwiseComparison.cpp - Formulas with bool results ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/PointwiseBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace ft {

using P = PointwiseBody;

static constexpr double kInf = std::numeric_limits<double>::infinity();

static Value falseValue(P &p) { return p.constantInt(p.b.getI1Type(), 0); }

static Value eq(P &p) { return p.eq(p[0], p[1]); }
static Value ne(P &p) { return p.ne(p[0], p[1]); }
static Value lt(P &p) { return p.lt(p[0], p[1]); }
static Value le(P &p) { return p.le(p[0], p[1]); }
static Value gt(P &p) { return p.gt(p[0], p[1]); }
static Value ge(P &p) { return p.ge(p[0], p[1]); }

static Value isInf(P &p, Value x) {
  if (p.isComplex())
    return p.bitOr(p.eq(p.abs(p.real(x)), p.like(p.real(x), kInf)),
                   p.eq(p.abs(p.imag(x)), p.like(p.imag(x), kInf)));
  if (p.isInteger())
    return falseValue(p);
  return p.eq(p.abs(x), p.like(x, kInf));
}

/// Neither infinite nor NaN: the difference with itself is 0.
static Value isFinite(P &p, Value x) {
  return p.logicalNot(p.bitOr(isInf(p, x), p.isNan(x)));
}

static Value isSignedInf(P &p, double inf) {
  return p.isInteger() ? falseValue(p) : p.eq(p[0], p.like(p[0], inf));
}

static Value signBit(P &p) {
  Value x = p[0];
  if (p.isUnsigned())
    return falseValue(p);
  if (p.isFloat()) // also for -0 and NaN
    x = arith::BitcastOp::create(
        p.b, p.loc, p.b.getIntegerType(x.getType().getIntOrFloatBitWidth()), x);
  return p.cmp(P::Cmp::Lt, x, p.zero(x));
}

Value isClose(P &p) {
  Value x = p[0], y = p[1];
  Value close = p.eq(x, y);
  if (p.flag(4))
    close = p.bitOr(close, p.bitAnd(p.isNan(x), p.isNan(y)));
  if (p.isInteger()) { // PyTorch measures their distance in float32
    x = p.cast(x, p.dtype, DType::F32);
    y = p.cast(y, p.dtype, DType::F32);
  }
  Value distance = p.abs(p.sub(x, y)), size = p.abs(y);
  Value allowed = p.add(p.mul(size, p.number(2)), p.number(3));
  Value within = p.cmp(P::Cmp::Le, distance, allowed);
  Value finite = p.cmp(P::Cmp::Lt, distance, p.like(distance, kInf));
  return p.bitOr(close, p.bitAnd(finite, within));
}

static const FormulaRow kRows[] = {
    {"eq.Tensor", eq, ComputeIn::Operands},
    {"eq.Scalar", eq, ComputeIn::Operands},
    {"ne.Tensor", ne, ComputeIn::Operands},
    {"ne.Scalar", ne, ComputeIn::Operands},
    {"not_equal.Tensor", ne, ComputeIn::Operands},
    {"not_equal.Scalar", ne, ComputeIn::Operands},
    {"lt.Tensor", lt, ComputeIn::Operands},
    {"lt.Scalar", lt, ComputeIn::Operands},
    {"less.Tensor", lt, ComputeIn::Operands},
    {"less.Scalar", lt, ComputeIn::Operands},
    {"le.Tensor", le, ComputeIn::Operands},
    {"le.Scalar", le, ComputeIn::Operands},
    {"less_equal.Tensor", le, ComputeIn::Operands},
    {"less_equal.Scalar", le, ComputeIn::Operands},
    {"gt.Tensor", gt, ComputeIn::Operands},
    {"gt.Scalar", gt, ComputeIn::Operands},
    {"greater.Tensor", gt, ComputeIn::Operands},
    {"greater.Scalar", gt, ComputeIn::Operands},
    {"ge.Tensor", ge, ComputeIn::Operands},
    {"ge.Scalar", ge, ComputeIn::Operands},
    {"greater_equal.Tensor", ge, ComputeIn::Operands},
    {"greater_equal.Scalar", ge, ComputeIn::Operands},
    {"isclose.default", isClose, ComputeIn::Operands},

    {"isnan.default", [](P &p) { return p.isNan(p[0]); }, ComputeIn::Operands},
    {"isinf.default", [](P &p) { return isInf(p, p[0]); }, ComputeIn::Operands},
    {"isfinite.default", [](P &p) { return isFinite(p, p[0]); },
     ComputeIn::Operands},
    {"isposinf.default", [](P &p) { return isSignedInf(p, kInf); },
     ComputeIn::Operands},
    {"isneginf.default", [](P &p) { return isSignedInf(p, -kInf); },
     ComputeIn::Operands},
    {"isreal.default",
     [](P &p) { return p.eq(p.imag(p[0]), p.zero(p.imag(p[0]))); },
     ComputeIn::Operands},
    {"signbit.default", signBit, ComputeIn::Operands},

    {"logical_not.default", [](P &p) { return p.logicalNot(p.truth(0)); },
     ComputeIn::Operands},
    {"logical_and.default",
     [](P &p) { return p.bitAnd(p.truth(0), p.truth(1)); },
     ComputeIn::Operands},
    {"logical_or.default", [](P &p) { return p.bitOr(p.truth(0), p.truth(1)); },
     ComputeIn::Operands},
    {"logical_xor.default",
     [](P &p) { return p.bitXor(p.truth(0), p.truth(1)); },
     ComputeIn::Operands},
};

ArrayRef<FormulaRow> comparisonFormulas() { return kRows; }

} // namespace ft
