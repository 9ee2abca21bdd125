//===- VectorNorm.cpp - Lowering of norms and distances --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Linalg.h"
#include "compiler/lower/rules/PNorm.h"
#include "dialects/ft/Promotion.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace ft {

using Ints = Dims;

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
  c.setResult(0, pNorm(c, x, p, dims, keepDim, c.resultMeta(0).dtype));
  return success();
}

/// The sum of the powers: (self, ord, dim, keepdim, dtype).
static LogicalResult powerSum(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  double p = c.number(1);
  DType dtype = c.resultMeta(0).dtype, acc = opmathType(dtype);
  if (c.call().args[4].kind == Arg::DType)
    x = c.cast(x, c.call().args[4].dtype);
  LoweredTensor y = pNorm(c, x, p, reducedDims(c, 2, x.rank()), c.flag(3), acc);
  if (!std::isinf(p) && p != 0)
    y = c.pointwise(y, y.dims(), acc, [&](ScalarBuilder &s, ValueRange v) {
      return math::PowFOp::create(s.b, s.loc, v[0],
                                  s.constant(v[0].getType(), p));
    });
  c.setResult(0, c.cast(y, dtype));
  return success();
}

/// linalg_norm without an order is the 2-norm of all elements; with an order it
/// is a vector norm for one dim, a matrix norm for two.
static LogicalResult linalgNorm(LowerCall &c) {
  bool vector = c.operand(0).rank() <= 1;
  if (!c.isNone(2))
    vector = c.call().args[2].kind != Arg::List || c.dimsArg(2).size() <= 1;
  return c.isNone(1) || vector ? norm(c) : lowerMatrixNorm(c);
}

/// The p-norm of self - other.
static LogicalResult dist(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  DType dtype = a.dtype, right = b.dtype;
  DType wide = opmathType(promoteTypes(dtype, right).value_or(dtype));
  Ints sizes = a.dims(), other = b.dims();
  if (other.size() > sizes.size())
    std::swap(sizes, other);
  for (size_t i = 0, skip = sizes.size() - other.size(); i < other.size(); ++i)
    if (sizes[skip + i].is(1))
      sizes[skip + i] = other[i];
  LoweredTensor d =
      c.pointwise({a, b}, sizes, wide, [&](ScalarBuilder &s, ValueRange v) {
        return s.sub(s.cast(v[0], dtype, wide), s.cast(v[1], right, wide));
      });
  c.setResult(0, pNorm(c, d, c.number(2), allDims(d.rank()), false,
                       c.resultMeta(0).dtype));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("dist.default", dist),
    anyShape("frobenius_norm.dim", norm),
    anyShape("linalg_norm.default", linalgNorm),
    anyShape("linalg__powsum.default", powerSum),
    anyShape("linalg_vector_norm.default", norm),
    anyShape("native_norm.ScalarOpt_dim_dtype", norm),
    anyShape("native_norm.default", norm),
    anyShape("norm.Scalar", norm),
    anyShape("norm.ScalarOpt_dim", norm),
    anyShape("norm.ScalarOpt_dim_dtype", norm),
    anyShape("norm.ScalarOpt_dtype", norm),
};

ArrayRef<LowerRuleRow> vectorNormLowerRules() { return kRows; }

} // namespace ft
