//===- VectorNorm.cpp - Lowering of norms and distances --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The p-norm of the elements along some dims:
//
//   p = inf    max |x|          p = 1   sum |x|
//   p = -inf   min |x|          p = 2   sqrt(sum x^2)
//   p = 0      count of x != 0  else    (sum |x|^p)^(1/p)

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace ft {

using Ints = SmallVector<int64_t, 6>;

static Value absolute(ScalarBuilder &s, Value x) {
  if (auto type = dyn_cast<ComplexType>(x.getType()))
    return complex::AbsOp::create(s.b, s.loc, type.getElementType(), x);
  return math::AbsFOp::create(s.b, s.loc, x);
}

/// The norm along `dims` of |f(element…)|, in `dtype`; computed in its opmath
/// dtype. `difference` (may have no value) is subtracted first.
static LoweredTensor normOf(LowerCall &c, LoweredTensor x, double p,
                            ArrayRef<unsigned> dims, bool keepDim,
                            DType dtype) {
  DType from = x.dtype, real = opmathType(dtype);
  Start start{real, 0, std::nullopt};
  bool empty = countOf(x, dims) == 0;
  if (std::isinf(p) && !empty)
    start = p > 0 ? start : highestOf(real);
  LoweredTensor sum = reduceTo(c, x, dims, keepDim, start, [&](ReduceStep &r) {
    ScalarBuilder &s = r.s;
    DType wide = isComplex(from) ? opmathType(from) : real;
    Value v = absolute(s, s.cast(r.elements[0], from, wide));
    Value a = r.accumulators[0];
    if (std::isinf(p))
      return SmallVector<Value>{p > 0 ? s.maximum(a, v) : s.minimum(a, v)};
    if (p == 0)
      v = s.select(s.cmp(ScalarBuilder::Cmp::Ne, v, s.zero(v)), s.one(v),
                   s.zero(v));
    else if (p == 2)
      v = s.mul(v, v);
    else if (p != 1)
      v = math::PowFOp::create(s.b, s.loc, v, s.constant(v.getType(), p));
    return SmallVector<Value>{s.add(a, v)};
  })[0];
  return c.pointwise(sum, sum.sizes(), dtype,
                     [&](ScalarBuilder &s, ValueRange v) {
                       Value y = v[0];
                       if (p == 2)
                         y = s.sqrt(y);
                       else if (p != 0 && p != 1 && !std::isinf(p))
                         y = math::PowFOp::create(
                             s.b, s.loc, y, s.constant(y.getType(), 1 / p));
                       return s.cast(y, real, dtype);
                     });
}

/// Any of norm.*, linalg_vector_norm, frobenius_norm: arguments by name.
static LogicalResult norm(LowerCall &c) {
  const Schema &schema = *c.call().schema;
  LoweredTensor x = c.operand(0);
  int order = std::max(schema.argIndex("p"), schema.argIndex("ord"));
  double p = order < 0 || c.isNone(static_cast<unsigned>(order))
                 ? 2
                 : c.number(static_cast<unsigned>(order));
  int dim = schema.argIndex("dim"), keep = schema.argIndex("keepdim");
  SmallVector<unsigned> dims =
      dim < 0 ? allDims(x.rank())
              : reducedDims(c, static_cast<unsigned>(dim), x.rank());
  bool keepDim = keep >= 0 && c.flag(static_cast<unsigned>(keep));
  // An explicit dtype converts the elements first.
  int dtype = schema.argIndex("dtype");
  if (dtype >= 0 && c.call().args[dtype].kind == Arg::DType)
    x = c.cast(x, c.call().args[dtype].dtype);
  c.setResult(0, normOf(c, x, p, dims, keepDim, c.resultMeta(0).dtype));
  return success();
}

/// linalg_norm without an order is the 2-norm of all elements; with an order it
/// is a vector norm for one dim. Matrix norms need factorisations or sums of
/// rows and have no rule.
static LogicalResult linalgNorm(LowerCall &c) {
  bool vector = c.operand(0).rank() <= 1;
  if (!c.isNone(2))
    vector = c.call().args[2].kind != Arg::List || c.integers(2).size() <= 1;
  if (!c.isNone(1) && !vector)
    return c.unsupported("matrix norms");
  return norm(c);
}

/// The p-norm of self - other.
static LogicalResult dist(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  DType dtype = a.dtype, right = b.dtype, wide = opmathType(dtype);
  Ints sizes = a.sizes(), other = b.sizes();
  if (other.size() > sizes.size())
    std::swap(sizes, other);
  for (size_t i = 0, skip = sizes.size() - other.size(); i < other.size(); ++i)
    if (sizes[skip + i] == 1)
      sizes[skip + i] = other[i];
  LoweredTensor d =
      c.pointwise({a, b}, sizes, wide, [&](ScalarBuilder &s, ValueRange v) {
        return s.sub(s.cast(v[0], dtype, wide), s.cast(v[1], right, wide));
      });
  c.setResult(0, normOf(c, d, c.number(2), allDims(d.rank()), false,
                        c.resultMeta(0).dtype));
  return success();
}

static const LowerRuleRow kRows[] = {
    {"dist.default", dist},
    {"frobenius_norm.dim", norm},
    {"linalg_norm.default", linalgNorm},
    {"linalg_vector_norm.default", norm},
    {"native_norm.ScalarOpt_dim_dtype", norm},
    {"native_norm.default", norm},
    {"norm.Scalar", norm},
    {"norm.ScalarOpt_dim", norm},
    {"norm.ScalarOpt_dim_dtype", norm},
    {"norm.ScalarOpt_dtype", norm},
};

ArrayRef<LowerRuleRow> vectorNormLowerRules() { return kRows; }

} // namespace ft
