//===- Sym.cpp - Lowering of Python's numbers -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A number that only the run knows is a 0-dim tensor of int64, float64 or bool;
// Python's operators on numbers are formulas like any other. Numbers that the
// fake pass knew are constants by now (KnownNumbers.h).

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/lower/rules/PointwiseBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace ft {

using P = PointwiseBody;

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

static Value sum(P &p) { return p.ScalarBuilder::add(p[0], p[1]); }
static Value difference(P &p) { return p.sub(p[0], p[1]); }
static Value product(P &p) { return p.ScalarBuilder::mul(p[0], p[1]); }
static Value equal(P &p) { return p.eq(p[0], p[1]); }
static Value different(P &p) { return p.ne(p[0], p[1]); }
static Value less(P &p) { return p.lt(p[0], p[1]); }
static Value atMost(P &p) { return p.le(p[0], p[1]); }
static Value greater(P &p) { return p.gt(p[0], p[1]); }
static Value atLeast(P &p) { return p.ge(p[0], p[1]); }
static Value both(P &p) { return p.bitAnd(p.truth(0), p.truth(1)); }
static Value either(P &p) { return p.bitOr(p.truth(0), p.truth(1)); }
static Value no(P &p) { return p.logicalNot(p.truth(0)); }
static Value same(P &p) { return p[0]; }
static Value negated(P &p) { return p.neg(p[0]); }
static Value choice(P &p) { return p.select(p.truth(0), p[1], p[2]); }
static Value root(P &p) { return p.sqrt(p[0]); }
static Value power(P &p) { return p.pow(p[0], p[1]); }
static Value largest(P &p) { return p.max(p[0], p[1]); }
static Value smallest(P &p) { return p.min(p[0], p[1]); }

ArrayRef<FormulaRow> numberFormulas() {
  static const FormulaRow rows[] = {
      {"builtins.round", [](P &p) { return p.round(p[0]); },
       ComputeIn::Numbers},
      {"math.ceil", [](P &p) { return p.ceil(p[0]); }, ComputeIn::Numbers},
      {"math.floor", [](P &p) { return p.floor(p[0]); }, ComputeIn::Numbers},
      {"math.trunc", [](P &p) { return p.truncate(p[0]); }, ComputeIn::Numbers},
      {"operator.and_", both, ComputeIn::Numbers},
      {"operator.eq", equal, ComputeIn::Numbers},
      {"operator.ge", atLeast, ComputeIn::Numbers},
      {"operator.gt", greater, ComputeIn::Numbers},
      {"operator.le", atMost, ComputeIn::Numbers},
      {"operator.lt", less, ComputeIn::Numbers},
      {"operator.ne", different, ComputeIn::Numbers},
      {"operator.or_", either, ComputeIn::Numbers},
      {"operator.pos", same, ComputeIn::Numbers},
      {"operator.rshift", shiftRight, ComputeIn::Numbers},
      {"torch._sym_sqrt", root},
      {"torch.sym_float", same},
      {"torch.sym_int", same, ComputeIn::Numbers},
      {"torch.sym_ite", choice, ComputeIn::Numbers},
      {"torch.sym_max", largest, ComputeIn::Numbers},
      {"torch.sym_min", smallest, ComputeIn::Numbers},
      {"torch.sym_not", no, ComputeIn::Numbers},
      {"torch.sym_sqrt", root},
  };
  return rows;
}

//===----------------------------------------------------------------------===//
// Divisions, which fail where Python raises
//===----------------------------------------------------------------------===//

template <Value (*Divide)(P &), ComputeIn In = ComputeIn::Numbers>
static LogicalResult divide(LowerCall &c) {
  if (c.isRuntimeNumber(1))
    c.checkValue(c.cast(c.operand(1), DType::Bool), "division by zero");
  FailureOr<LoweredTensor> out =
      applyFormula(c, Divide, In, {}, c.resultMeta(0).dtype);
  if (failed(out))
    return failure();
  c.setResult(0, *out);
  return success();
}

static Value floorQuotient(P &p) { return p.floorDiv(p[0], p[1]); }
static Value remainder(P &p) { return p.remainderFloor(p[0], p[1]); }
static Value quotient(P &p) { return p.div(p[0], p[1]); }

//===----------------------------------------------------------------------===//
// Integers of Python have no end; those of 64 bits do
//===----------------------------------------------------------------------===//

// Whether int64 holds the result. Floats always do.
static Value yes(P &p) {
  return arith::ConstantOp::create(p.b, p.loc, p.b.getBoolAttr(true));
}
static Value leastOf(P &p) {
  return p.constantInt(p.type(), std::numeric_limits<int64_t>::min());
}
static Value isNegative(P &p, Value x) { return p.lt(x, p.zero(x)); }
/// Not (both operands have one sign and the result the other).
static Value sumFits(P &p) {
  if (!p.isInteger())
    return yes(p);
  Value x = p[0], y = p[1], r = sum(p);
  return p.logicalNot(isNegative(p, p.bitAnd(p.bitXor(x, r), p.bitXor(y, r))));
}
static Value differenceFits(P &p) {
  if (!p.isInteger())
    return yes(p);
  Value x = p[0], y = p[1], r = difference(p);
  return p.logicalNot(isNegative(p, p.bitAnd(p.bitXor(x, y), p.bitXor(x, r))));
}
/// Dividing gives the operand back; the least number by -1 does not.
static Value productFits(P &p) {
  if (!p.isInteger())
    return yes(p);
  Value x = p[0], y = p[1], least = leastOf(p);
  Value back = p.eq(p.truncDiv(product(p), x), y);
  Value turned = p.bitAnd(p.eq(x, p.neg(p.one(x))), p.eq(y, least));
  return p.bitOr(p.eq(x, p.zero(x)), p.bitAnd(back, p.logicalNot(turned)));
}
static Value negationFits(P &p) {
  if (!p.isInteger())
    return yes(p);
  return p.ne(p[0], leastOf(p));
}
/// Shifting back gives the operand.
static Value shiftFits(P &p) {
  Value x = p[0], n = p[1];
  Value in =
      p.bitAnd(p.le(p.zero(n), n), p.lt(n, p.constantInt(n.getType(), 64)));
  Value by = p.select(in, n, p.zero(n));
  Value back = arith::ShRSIOp::create(
      p.b, p.loc, arith::ShLIOp::create(p.b, p.loc, x, by), by);
  return p.bitOr(p.eq(x, p.zero(x)), p.bitAnd(in, p.eq(back, x)));
}
/// As float64, which is exact where it matters: no power of two or more lies
/// between 2^63 and what rounds to it.
static Value powerFits(P &p) {
  if (!p.isInteger())
    return yes(p);
  Value x = p.cast(p[0], p.dtype, DType::F64);
  Value y = p.cast(p[1], p.dtype, DType::F64);
  Value size =
      math::AbsFOp::create(p.b, p.loc, math::PowFOp::create(p.b, p.loc, x, y));
  return p.cmp(P::Cmp::Lt, size, p.constant(size.getType(), 0x1p63));
}

template <Value (*Compute)(P &), Value (*Fits)(P &)>
static LogicalResult checked(LowerCall &c) {
  FailureOr<LoweredTensor> fits =
      applyFormula(c, Fits, ComputeIn::Numbers, {}, DType::Bool);
  if (failed(fits))
    return failure();
  if (isIntegral(c.resultMeta(0).dtype))
    c.checkValue(*fits, "the result needs more than 64 bits");
  FailureOr<LoweredTensor> out =
      applyFormula(c, Compute, ComputeIn::Numbers, {}, c.resultMeta(0).dtype);
  if (failed(out))
    return failure();
  c.setResult(0, *out);
  return success();
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

/// The only element of a tensor.
static LogicalResult item(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  if (isComplex(x.dtype))
    return c.unsupported("a complex number");
  c.setResult(0, c.cast(c.reshape(c.toRowMajor(x), {}), c.resultMeta(0).dtype));
  return success();
}

/// The sum of a list of numbers.
static LogicalResult sumOfList(LowerCall &c) {
  SmallVector<LoweredTensor> ins;
  int64_t known = 0;
  for (const Arg &item : c.call().args[0].list)
    if (isRuntimeNumber(item))
      ins.push_back(c.operandOf(c.call().operands[item.operand]));
    else
      known += item.dim.value();
  c.setResult(
      0, c.pointwise(ins, {}, DType::I64, [&](ScalarBuilder &s, ValueRange v) {
        Value total = s.constantInt(s.b.getI64Type(), known);
        for (Value number : v)
          total = s.add(total, number);
        return total;
      }));
  return success();
}

/// What the annotations say: `size`, `stride` with several results.
template <Dims TensorMeta::*List>
static LogicalResult entries(LowerCall &c) {
  for (auto [r, d] : llvm::enumerate(c.meta(0).*List))
    c.setResult(static_cast<unsigned>(r),
                c.filledInt({}, DType::I64, d.value()));
  return success();
}

// One entry, or a fact, of the annotation. Such numbers are constants by now
// unless somebody wrote the call with an annotation of its own.
template <Dims TensorMeta::*List>
static LogicalResult entry(LowerCall &c) {
  const TensorMeta &self = c.meta(0);
  unsigned dim =
      LowerCall::wrapDim(c.integer(1), static_cast<unsigned>(self.rank()));
  if (!(self.*List)[dim].isStatic()) {
    std::optional<LoweredTensor> size = foundSize(c, c.operand(0), dim);
    if (!size || List != &TensorMeta::sizes)
      return c.unsupported("a stride that is only known at run time");
    c.setResult(0, *size);
    return success();
  }
  c.setResult(0, c.filledInt({}, DType::I64, (self.*List)[dim].value()));
  return success();
}
static LogicalResult truthOf(LowerCall &c, bool value) {
  c.setResult(0, c.filledInt({}, DType::Bool, value));
  return success();
}
static LogicalResult integerOf(LowerCall &c, int64_t value) {
  c.setResult(0, c.filledInt({}, DType::I64, value));
  return success();
}
static LogicalResult rank(LowerCall &c) {
  return integerOf(c, c.meta(0).rank());
}
static LogicalResult numel(LowerCall &c) {
  return integerOf(c, c.meta(0).numel().value());
}
static LogicalResult offset(LowerCall &c) {
  return integerOf(c, c.meta(0).offset.value());
}
static LogicalResult complexType(LowerCall &c) {
  return truthOf(c, isComplex(c.meta(0).dtype));
}
static LogicalResult floatType(LowerCall &c) {
  return truthOf(c, isFloating(c.meta(0).dtype));
}
static LogicalResult contiguous(LowerCall &c) {
  return truthOf(c, isContiguous(c.meta(0)));
}
static LogicalResult sameSize(LowerCall &c) {
  return truthOf(c, c.meta(0).sizes == c.meta(1).sizes);
}

static const LowerRuleRow kRows[] = {
    {"_local_scalar_dense.default", item},
    {"dim.default", rank},
    {"is_complex.default", complexType},
    {"is_floating_point.default", floatType},
    {"is_same_size.default", sameSize},
    {"item.default", item},
    {"numel.default", numel},
    {"operator.add", checked<sum, sumFits>, Numbers::Runtime},
    {"operator.floordiv", divide<floorQuotient>, Numbers::Runtime},
    {"operator.mod", divide<remainder>, Numbers::Runtime},
    {"operator.mul", checked<product, productFits>, Numbers::Runtime},
    {"operator.neg", checked<negated, negationFits>, Numbers::Runtime},
    {"operator.pow", checked<power, powerFits>, Numbers::Runtime},
    {"operator.lshift", checked<shiftLeft, shiftFits>, Numbers::Runtime},
    {"operator.sub", checked<difference, differenceFits>, Numbers::Runtime},
    {"operator.truediv", divide<quotient, ComputeIn::Result>, Numbers::Runtime},
    {"size.default", entries<&TensorMeta::sizes>},
    {"size.int", entry<&TensorMeta::sizes>},
    {"stride.default", entries<&TensorMeta::strides>},
    {"stride.int", entry<&TensorMeta::strides>},
    {"sym_is_contiguous.default", contiguous},
    {"sym_numel.default", numel},
    {"sym_size.default", entries<&TensorMeta::sizes>},
    {"sym_size.int", entry<&TensorMeta::sizes>},
    {"sym_storage_offset.default", offset},
    {"sym_stride.default", entries<&TensorMeta::strides>},
    {"sym_stride.int", entry<&TensorMeta::strides>},
    {"torch.sym_sum", sumOfList, Numbers::Runtime},
};

ArrayRef<LowerRuleRow> symLowerRules() { return kRows; }

} // namespace ft
