//===- LossBackward.cpp - Lowering of gradients of losses ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The derivative at each element times the incoming gradient, which is one
// number after a reduction; the mean divides by the number of elements.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Indexed.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;

/// d(x, t, …) for elements in the opmath dtype; `ins` are grad, self, target
/// and what else the formula reads.
static LogicalResult
derivative(LowerCall &c, ArrayRef<LoweredTensor> ins, int64_t reduction,
           llvm::function_ref<Value(ScalarBuilder &, ValueRange)> formula) {
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  Dims sizes = c.resultMeta(0).sizes;
  Dim count = product(sizes);
  c.setResult(
      0, c.pointwise(ins, sizes, dtype, [&](ScalarBuilder &s, ValueRange v) {
        SmallVector<Value> x;
        for (auto [value, t] : llvm::zip(v, ins))
          x.push_back(s.cast(value, t.dtype, sum));
        Value y = s.mul(formula(s, ArrayRef(x).drop_front()), x[0]);
        if (reduction == 1)
          y = s.div(y, c.sizeIn(s, count, sum));
        return s.cast(y, sum, dtype);
      }));
  return success();
}

static SmallVector<LoweredTensor> operands(LowerCall &c) {
  return {c.operand(0), c.operand(1), c.operand(2)};
}

static Value number(ScalarBuilder &s, Value like, double v) {
  return s.constant(like.getType(), v);
}

static LogicalResult mse(LowerCall &c) {
  return derivative(c, operands(c), c.integer(3),
                    [](ScalarBuilder &s, ValueRange v) {
                      Value d = s.sub(v[0], v[1]);
                      return s.mul(number(s, d, 2), d);
                    });
}

/// Linear between -limit and limit with this slope, beyond it ± `outer`.
static Value clamped(ScalarBuilder &s, Value d, double limit, double outer,
                     double slope) {
  Value inside = s.mul(d, number(s, d, slope));
  Value high = s.select(s.cmp(Cmp::Ge, d, number(s, d, limit)),
                        number(s, d, outer), inside);
  return s.select(s.cmp(Cmp::Le, d, number(s, d, -limit)), number(s, d, -outer),
                  high);
}

static LogicalResult smoothL1(LowerCall &c) {
  double beta = c.number(4);
  return derivative(
      c, operands(c), c.integer(3), [&](ScalarBuilder &s, ValueRange v) {
        return clamped(s, s.sub(v[0], v[1]), beta, 1, beta == 0 ? 0 : 1 / beta);
      });
}

static LogicalResult huber(LowerCall &c) {
  double delta = c.number(4);
  return derivative(c, operands(c), c.integer(3),
                    [&](ScalarBuilder &s, ValueRange v) {
                      return clamped(s, s.sub(v[0], v[1]), delta, delta, 1);
                    });
}

static LogicalResult softMargin(LowerCall &c) {
  if (isComplex(c.resultMeta(0).dtype))
    return c.unsupported("complex numbers");
  return derivative(c, operands(c), c.integer(3),
                    [](ScalarBuilder &s, ValueRange v) {
                      Value z = s.exp(s.neg(s.mul(v[0], v[1])));
                      return s.div(s.neg(s.mul(v[1], z)), s.add(s.one(z), z));
                    });
}

/// (grad, self, target, weight, reduction): (x - t) / max(x (1 - x), 1e-12).
static LogicalResult bce(LowerCall &c) {
  SmallVector<LoweredTensor> ins = operands(c);
  if (!c.isNone(3))
    ins.push_back(c.operand(3));
  return derivative(c, ins, c.integer(4), [](ScalarBuilder &s, ValueRange v) {
    Value x = v[0];
    Value spread = s.maximum(s.mul(x, s.sub(s.one(x), x)), number(s, x, 1e-12));
    Value y = s.div(s.sub(x, v[1]), spread);
    return v.size() > 2 ? s.mul(y, v[2]) : y;
  });
}

/// (grad, self, target, weight, reduction, ignore_index, total_weight):
/// -weight[t] * grad at the target's class, 0 elsewhere.
static LogicalResult nll(LowerCall &c) {
  LoweredTensor grad = c.operand(0), x = c.operand(1), target = c.operand(2);
  LoweredTensor total = c.operand(6);
  bool weighted = !c.isNone(3);
  int64_t reduction = c.integer(4), ignore = c.integer(5);
  unsigned dim = x.rank() > 1;
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  LoweredTensor weight = weighted ? c.operand(3) : LoweredTensor();
  c.setResult(0, mapIndexed(
                     c, c.empty(x.dims(), dtype), dtype,
                     [&](ArrayRef<AffineExpr> index) {
                       SmallVector<AffineExpr, 6> at(index);
                       AffineExpr ch = at[dim];
                       at.erase(at.begin() + dim);
                       SmallVector<Access> sides = {{target, at}, {total, {}}};
                       if (reduction == 0)
                         sides.push_back({grad, at});
                       else
                         sides.push_back({grad, {}});
                       if (weighted)
                         sides.push_back({weight, {ch}});
                       return sides;
                     },
                     [&](ScalarBuilder &s, ValueRange v) {
                       // The first operand only gives the shape: row-major, so
                       // that loop d runs over logical dim d.
                       Value t = s.cast(v[1], target.dtype, DType::I64);
                       Value g = s.neg(s.cast(v[3], grad.dtype, sum));
                       if (weighted)
                         g = s.mul(g, s.cast(v[4], weight.dtype, sum));
                       if (reduction == 1)
                         g = s.div(g, s.cast(v[2], total.dtype, sum));
                       Value mine = s.cmp(Cmp::Eq, t, loopIndex(s, dim));
                       Value kept = s.cmp(Cmp::Ne, t,
                                          s.constantInt(t.getType(), ignore));
                       mine = arith::AndIOp::create(s.b, s.loc, mine, kept);
                       return s.cast(s.select(mine, g, s.zero(g)), sum, dtype);
                     }));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("binary_cross_entropy_backward.default", bce),
    anyShape("huber_loss_backward.default", huber),
    anyShape("mse_loss_backward.default", mse),
    anyShape("nll_loss2d_backward.default", nll),
    anyShape("nll_loss_backward.default", nll),
    anyShape("smooth_l1_loss_backward.default", smoothL1),
    anyShape("soft_margin_loss_backward.default", softMargin),
};

ArrayRef<LowerRuleRow> lossBackwardLowerRules() { return kRows; }

} // namespace ft
