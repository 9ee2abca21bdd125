//===- Loss.cpp - Lowering of elementwise losses ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A formula for each element, then none, mean or sum: one table of formulas.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ft {

using Ints = Dims;
using Cmp = ScalarBuilder::Cmp;

/// A loss of one element, computed in the opmath dtype of the result.
using Formula = llvm::function_ref<Value(ScalarBuilder &, ValueRange)>;

static Ints broadcast(ArrayRef<LoweredTensor> ins) {
  Ints sizes;
  for (const LoweredTensor &t : ins) {
    Ints own = t.dims();
    if (own.size() > sizes.size())
      sizes.insert(sizes.begin(), own.size() - sizes.size(), Dim(1));
    size_t skip = sizes.size() - own.size();
    for (size_t i = 0; i < own.size(); ++i)
      if (!own[i].is(1))
        sizes[skip + i] = own[i];
  }
  return sizes;
}

/// Broadcasts, computes, reduces: 0 none, 1 mean, 2 sum.
static LogicalResult lossOf(LowerCall &c, ArrayRef<LoweredTensor> ins,
                            int64_t reduction, Formula formula) {
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  Ints sizes = broadcast(ins);
  auto body = [&](ScalarBuilder &s, ValueRange v) {
    SmallVector<Value> converted;
    for (auto [value, t] : llvm::zip(v, ins))
      converted.push_back(s.cast(value, t.dtype, sum));
    return formula(s, converted);
  };
  if (reduction == 0) {
    c.setResult(
        0, c.pointwise(ins, sizes, dtype, [&](ScalarBuilder &s, ValueRange v) {
          return s.cast(body(s, v), sum, dtype);
        }));
    return success();
  }
  LoweredTensor loss = c.pointwise(ins, sizes, sum, body);
  SmallVector<unsigned> dims = allDims(loss.rank());
  Dim count = elementsAlong(loss, dims);
  LoweredTensor total = sumOf(c, loss, dims, false, sum);
  c.setResult(
      0, c.pointwise(total, {}, dtype, [&](ScalarBuilder &s, ValueRange v) {
        Value y = v[0];
        if (reduction == 1)
          y = s.div(y, c.sizeIn(s, count, sum));
        return s.cast(y, sum, dtype);
      }));
  return success();
}

static Value number(ScalarBuilder &s, Value like, double v) {
  return s.constant(like.getType(), v);
}

static Value absolute(ScalarBuilder &s, Value x) {
  return math::AbsFOp::create(s.b, s.loc, x);
}

static Value log1p(ScalarBuilder &s, Value x) {
  return math::Log1pOp::create(s.b, s.loc, x);
}

/// log(1 + exp(x)) without overflow: max(x, 0) + log1p(exp(-|x|)).
static Value softplus(ScalarBuilder &s, Value x) {
  return s.add(s.maximum(x, s.zero(x)), log1p(s, s.exp(s.neg(absolute(s, x)))));
}

/// x * log(y) that is 0 where x is 0.
static Value xlogy(ScalarBuilder &s, Value x, Value logY) {
  return s.select(s.cmp(Cmp::Eq, x, s.zero(x)), s.zero(x), s.mul(x, logY));
}

static LogicalResult mse(LowerCall &c) {
  return lossOf(c, {c.operand(0), c.operand(1)}, c.integer(2),
                [](ScalarBuilder &s, ValueRange v) {
                  Value d = s.sub(v[0], v[1]);
                  return s.mul(d, d);
                });
}

static LogicalResult l1(LowerCall &c) {
  return lossOf(c, {c.operand(0), c.operand(1)}, c.integer(2),
                [](ScalarBuilder &s, ValueRange v) {
                  return absolute(s, s.sub(v[0], v[1]));
                });
}

/// Quadratic up to beta, linear beyond; beta 0 is l1.
static LogicalResult smoothL1(LowerCall &c) {
  double beta = c.number(3);
  return lossOf(
      c, {c.operand(0), c.operand(1)}, c.integer(2),
      [&](ScalarBuilder &s, ValueRange v) {
        Value z = absolute(s, s.sub(v[0], v[1]));
        if (beta == 0)
          return z;
        Value square =
            s.div(s.mul(number(s, z, 0.5), s.mul(z, z)), number(s, z, beta));
        Value line = s.sub(z, number(s, z, 0.5 * beta));
        return s.select(s.cmp(Cmp::Lt, z, number(s, z, beta)), square, line);
      });
}

static LogicalResult huber(LowerCall &c) {
  double delta = c.number(3);
  return lossOf(
      c, {c.operand(0), c.operand(1)}, c.integer(2),
      [&](ScalarBuilder &s, ValueRange v) {
        Value z = absolute(s, s.sub(v[0], v[1]));
        Value square = s.mul(number(s, z, 0.5), s.mul(z, z));
        Value line =
            s.mul(number(s, z, delta), s.sub(z, number(s, z, 0.5 * delta)));
        return s.select(s.cmp(Cmp::Le, z, number(s, z, delta)), square, line);
      });
}

/// Logarithms are cut off at -100, as in PyTorch.
static LogicalResult bce(LowerCall &c) {
  SmallVector<LoweredTensor> ins = {c.operand(0), c.operand(1)};
  if (!c.isNone(2))
    ins.push_back(c.operand(2));
  return lossOf(c, ins, c.integer(3), [&](ScalarBuilder &s, ValueRange v) {
    Value x = v[0], t = v[1], floor = number(s, x, -100);
    Value logX = s.maximum(s.log(x), floor);
    Value logRest = s.maximum(log1p(s, s.neg(x)), floor);
    Value y = s.sub(s.mul(s.sub(t, s.one(t)), logRest), s.mul(t, logX));
    return v.size() > 2 ? s.mul(y, v[2]) : y;
  });
}

/// (1 - t) * x + (1 + (pos_weight - 1) * t) * softplus(-x).
static LogicalResult bceWithLogits(LowerCall &c) {
  SmallVector<LoweredTensor> ins = {c.operand(0), c.operand(1)};
  bool weighted = !c.isNone(2), positive = !c.isNone(3);
  if (weighted)
    ins.push_back(c.operand(2));
  if (positive)
    ins.push_back(c.operand(3));
  return lossOf(c, ins, c.integer(4), [&](ScalarBuilder &s, ValueRange v) {
    Value x = v[0], t = v[1];
    Value rest = softplus(s, s.neg(x));
    if (positive) {
      Value p = v[weighted ? 3 : 2];
      rest = s.mul(rest, s.add(s.one(t), s.mul(s.sub(p, s.one(p)), t)));
    }
    Value y = s.add(s.mul(s.sub(s.one(t), t), x), rest);
    return weighted ? s.mul(y, v[2]) : y;
  });
}

static LogicalResult klDiv(LowerCall &c) {
  bool logTarget = c.flag(3);
  return lossOf(c, {c.operand(0), c.operand(1)}, c.integer(2),
                [&](ScalarBuilder &s, ValueRange v) {
                  Value x = v[0], t = v[1];
                  if (logTarget)
                    return s.mul(s.exp(t), s.sub(t, x));
                  return s.sub(xlogy(s, t, s.log(t)), s.mul(t, x));
                });
}

static LogicalResult softMargin(LowerCall &c) {
  if (isComplex(c.meta(0).dtype) || isComplex(c.meta(1).dtype))
    return c.unsupported("complex numbers");
  return lossOf(c, {c.operand(0), c.operand(1)}, c.integer(2),
                [](ScalarBuilder &s, ValueRange v) {
                  return log1p(s, s.exp(s.neg(s.mul(v[0], v[1]))));
                });
}

/// (self, target, margin, reduction): x where t is 1, max(0, margin - x) where
/// it is -1.
static LogicalResult hingeEmbedding(LowerCall &c) {
  double margin = c.number(2);
  return lossOf(c, {c.operand(0), c.operand(1)}, c.integer(3),
                [&](ScalarBuilder &s, ValueRange v) {
                  Value x = v[0], t = v[1], zero = s.zero(x);
                  Value gap = s.maximum(s.sub(number(s, x, margin), x), zero);
                  Value isOne = s.cmp(Cmp::Eq, t, s.one(t));
                  Value isMinus = s.cmp(Cmp::Eq, t, number(s, t, -1));
                  return s.add(s.select(isOne, zero, gap),
                               s.select(isMinus, zero, x));
                });
}

/// (input1, input2, target, margin, reduction).
static LogicalResult marginRanking(LowerCall &c) {
  double margin = c.number(3);
  LoweredTensor target = c.operand(2);
  // The target is negated in its own dtype: 1 becomes 255.
  bool wraps = target.dtype == DType::U8;
  if (wraps)
    target = c.pointwise(target, target.dims(), DType::U8,
                         [](ScalarBuilder &s, ValueRange v) {
                           return s.sub(s.zero(v[0]), v[0]);
                         });
  return lossOf(c, {c.operand(0), c.operand(1), target}, c.integer(4),
                [&](ScalarBuilder &s, ValueRange v) {
                  Value minus = wraps ? v[2] : s.neg(v[2]);
                  Value d = s.mul(minus, s.sub(v[0], v[1]));
                  d = s.add(d, number(s, d, margin));
                  return s.maximum(d, s.zero(d));
                });
}

/// (input, target, log_input, full, eps, reduction).
static LogicalResult poissonNll(LowerCall &c) {
  bool logInput = c.flag(2), full = c.flag(3);
  double eps = c.number(4);
  return lossOf(
      c, {c.operand(0), c.operand(1)}, c.integer(5),
      [&](ScalarBuilder &s, ValueRange v) {
        Value x = v[0], t = v[1];
        Value y = logInput
                      ? s.sub(s.exp(x), s.mul(t, x))
                      : s.sub(x, s.mul(t, s.log(s.add(x, number(s, x, eps)))));
        if (!full)
          return y;
        // Stirling's approximation of log(t!), for t > 1.
        Value logT = s.log(t);
        Value stirling =
            s.add(s.sub(s.mul(t, logT), t),
                  s.mul(number(s, t, 0.5),
                        s.log(s.mul(number(s, t, 6.283185307179586), t))));
        Value large = s.cmp(Cmp::Gt, t, s.one(t));
        return s.add(y, s.select(large, stirling, s.zero(t)));
      });
}

static const LowerRuleRow kRows[] = {
    anyShape("binary_cross_entropy.default", bce),
    anyShape("binary_cross_entropy_with_logits.default", bceWithLogits),
    anyShape("hinge_embedding_loss.default", hingeEmbedding),
    anyShape("huber_loss.default", huber),
    anyShape("kl_div.default", klDiv),
    anyShape("l1_loss.default", l1),
    anyShape("margin_ranking_loss.default", marginRanking),
    anyShape("mse_loss.default", mse),
    anyShape("poisson_nll_loss.default", poissonNll),
    anyShape("smooth_l1_loss.default", smoothL1),
    anyShape("soft_margin_loss.default", softMargin),
};

ArrayRef<LowerRuleRow> lossLowerRules() { return kRows; }

} // namespace ft
