//===- MarginLoss.cpp - Lowering of losses with margins --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/PNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ft {

using Ints = Dims;
using Cmp = ScalarBuilder::Cmp;

/// 0 none, 1 mean, 2 sum of one loss for each row.
static LogicalResult reduceRows(LowerCall &c, LoweredTensor loss,
                                int64_t reduction) {
  DType sum = loss.dtype, dtype = c.resultMeta(0).dtype;
  if (reduction != 0) {
    SmallVector<unsigned> dims = allDims(loss.rank());
    Dim count = elementsAlong(loss, dims);
    loss = sumOf(c, loss, dims, false, sum);
    if (reduction == 1)
      loss = c.pointwise(loss, {}, sum, [&](ScalarBuilder &s, ValueRange v) {
        return s.div(v[0], c.sizeIn(s, count, sum));
      });
  }
  c.setResult(0, c.cast(c.reshape(loss, dimsOf(c.resultMeta(0))), dtype));
  return success();
}

/// max(0, |a - p| - |a - n| + margin), distances with eps added before the
/// norm: (anchor, positive, negative, margin, p, eps, swap, reduction).
static LogicalResult triplet(LowerCall &c) {
  LoweredTensor a = c.operand(0), p = c.operand(1), n = c.operand(2);
  double margin = c.number(3), order = c.number(4), eps = c.number(5);
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  auto distance = [&](const LoweredTensor &x, const LoweredTensor &y) {
    DType left = x.dtype, right = y.dtype;
    LoweredTensor d =
        c.pointwise({x, y}, x.dims(), sum, [&](ScalarBuilder &s, ValueRange v) {
          Value gap = s.sub(s.cast(v[0], left, sum), s.cast(v[1], right, sum));
          return s.add(gap, s.constant(gap.getType(), eps));
        });
    return pNorm(c, d, order, d.rank() - 1, false, sum);
  };
  LoweredTensor near = distance(a, p), far = distance(a, n);
  if (c.flag(6)) {
    LoweredTensor other = distance(p, n);
    far = c.pointwise(
        {far, other}, far.dims(), sum,
        [](ScalarBuilder &s, ValueRange v) { return s.minimum(v[0], v[1]); });
  }
  LoweredTensor loss = c.pointwise(
      {near, far}, near.dims(), sum, [&](ScalarBuilder &s, ValueRange v) {
        Value gap =
            s.add(s.sub(v[0], v[1]), s.constant(v[0].getType(), margin));
        return s.maximum(gap, s.zero(gap));
      });
  return reduceRows(c, loss, c.integer(7));
}

/// (input1, input2, target, margin, reduction): 1 - cos where the target is 1,
/// max(0, cos - margin) where it is -1.
static LogicalResult cosineEmbedding(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1), target = c.operand(2);
  double margin = c.number(3);
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  DType targetType = target.dtype;
  SmallVector<LoweredTensor> r = dotAndSquares(c, a, b, a.rank() - 1, sum);
  LoweredTensor loss = c.pointwise(
      {r[0], r[1], r[2], target}, r[0].dims(), sum,
      [&](ScalarBuilder &s, ValueRange v) {
        Type type = v[0].getType();
        // PyTorch's guard against vectors of length 0.
        Value tiny = s.constant(type, 1e-12);
        Value cosine =
            s.div(v[0], s.sqrt(s.mul(s.add(v[1], tiny), s.add(v[2], tiny))));
        Value t = s.cast(v[3], targetType, sum);
        Value apart = s.sub(cosine, s.constant(type, margin));
        apart = s.maximum(apart, s.zero(apart));
        Value same = s.cmp(Cmp::Eq, t, s.one(t));
        Value differ = s.cmp(Cmp::Eq, t, s.constant(type, -1));
        return s.select(same, s.sub(s.one(cosine), cosine),
                        s.select(differ, apart, s.zero(apart)));
      });
  return reduceRows(c, loss, c.integer(4));
}

/// [N, C] of the operand, whose N may be missing.
static LoweredTensor asMatrix(LowerCall &c, LoweredTensor x) {
  if (x.rank() == 2)
    return x;
  return c.reshape(x, {Dim(1), elementsAlong(x, allDims(x.rank()))});
}

/// What the gradient of the reduced loss puts before that of row n: the
/// gradient of the result, and the divisions by counts.
static Access rowGradient(LowerCall &c, LoweredTensor grad) {
  Access access{grad, {}};
  if (grad.rank() > 0)
    access.index.push_back(grad.dims()[0] == 1 ? c.constant(0) : c.dim(0));
  return access;
}
static Value rowScale(LowerCall &c, ScalarBuilder &s, const LoweredTensor &x,
                      int64_t reduction, DType dtype) {
  Dim by = x.dims()[1];
  if (reduction == 1)
    by = by * x.dims()[0];
  Type type = computeType(c.context(), dtype);
  if (by.isStatic())
    return s.constant(type, 1 / static_cast<double>(by.value()));
  return s.div(s.constant(type, 1), c.sizeIn(s, by, dtype));
}

/// max(0, gap) of PyTorch's kernels, which pass over a gap that is NaN.
static Value positive(ScalarBuilder &s, Value gap) {
  return s.select(s.cmp(Cmp::Gt, gap, s.zero(gap)), gap, s.zero(gap));
}

/// One row: mean over classes j != t of w[t] * max(0, margin - x[t] + x[j])^p:
/// (self, target, p, margin, weight, reduction).
static LogicalResult multiMargin(LowerCall &c) {
  LoweredTensor x = asMatrix(c, c.operand(0)), target = c.operand(1);
  double p = c.number(2), margin = c.number(3);
  bool weighted = !c.isNone(4);
  LoweredTensor weight = weighted ? c.operand(4) : LoweredTensor();
  Dim rows = x.dims()[0], classes = x.dims()[1];
  DType from = x.dtype, sum = opmathType(from), targetType = target.dtype;
  target = c.reshape(target, {rows});
  c.checkIndex(target, 0, classes, classes);
  LoweredTensor loss = c.generic(
      {Access{x, {c.dim(0), c.dim(1)}}, Access{target, {c.dim(0)}}},
      Access{c.filled({rows}, sum, 0), {c.dim(0)}},
      {Iterator::Parallel, Iterator::Reduction},
      [&](ScalarBuilder &s, ValueRange v) {
        Value t = s.cast(v[1], targetType, DType::I64);
        Value xt = s.cast(elementAt(s, x, {loopIndex(s, 0), t}), from, sum);
        Value gap = s.add(s.sub(s.constant(xt.getType(), margin), xt),
                          s.cast(v[0], from, sum));
        gap = positive(s, gap);
        if (p == 2)
          gap = s.mul(gap, gap);
        if (weighted)
          gap = s.mul(gap, s.cast(elementAt(s, weight, t), weight.dtype, sum));
        gap = s.div(gap, c.sizeIn(s, classes, sum));
        Value other = s.cmp(Cmp::Ne, t, loopIndex(s, 1));
        return SmallVector<Value>{
            s.add(v[2], s.select(other, gap, s.zero(gap)))};
      })[0];
  return reduceRows(c, loss, c.integer(5));
}

/// (grad_output, self, target, p, margin, weight, reduction): class j gets the
/// slope of its own term, class t what all others get, negated.
static LogicalResult multiMarginBackward(LowerCall &c) {
  LoweredTensor x = asMatrix(c, c.operand(1)), target = c.operand(2);
  LoweredTensor grad = c.operand(0);
  double p = c.number(3), margin = c.number(4);
  bool weighted = !c.isNone(5);
  LoweredTensor weight = weighted ? c.operand(5) : LoweredTensor();
  Dim rows = x.dims()[0], classes = x.dims()[1];
  int64_t reduction = c.integer(6);
  DType from = x.dtype, sum = opmathType(from), targetType = target.dtype;
  target = c.reshape(target, {rows});
  c.checkIndex(target, 0, classes, classes);
  auto slope = [&](ScalarBuilder &s, Value xt, Value xj, Value t, Value j) {
    Value gap = s.add(s.sub(s.constant(xt.getType(), margin), xt), xj);
    Value g = rowScale(c, s, x, reduction, sum);
    if (p == 2)
      g = s.mul(s.add(g, g), gap);
    if (weighted)
      g = s.mul(g, s.cast(elementAt(s, weight, t), weight.dtype, sum));
    Value counts = arith::AndIOp::create(
        s.b, s.loc, s.cmp(Cmp::Gt, gap, s.zero(gap)), s.cmp(Cmp::Ne, t, j));
    return s.select(counts, g, s.zero(g));
  };
  AffineExpr n = c.dim(0), j = c.dim(1);
  auto targetOf = [&](ScalarBuilder &s, Value v) {
    return s.cast(v, targetType, DType::I64);
  };
  auto atTarget = [&](ScalarBuilder &s, Value t) {
    return s.cast(elementAt(s, x, {loopIndex(s, 0), t}), from, sum);
  };
  LoweredTensor others =
      c.generic({Access{x, {n, j}}, Access{target, {n}}},
                Access{c.filled({rows}, sum, 0), {n}},
                {Iterator::Parallel, Iterator::Reduction},
                [&](ScalarBuilder &s, ValueRange v) {
                  Value t = targetOf(s, v[1]);
                  Value g = slope(s, atTarget(s, t), s.cast(v[0], from, sum), t,
                                  loopIndex(s, 1));
                  return SmallVector<Value>{s.add(v[2], g)};
                })[0];
  c.newGroup();
  LoweredTensor result =
      c.generic({Access{x, {n, j}}, Access{target, {n}}, Access{others, {n}},
                 rowGradient(c, grad)},
                Access{c.empty({rows, classes}, from), {n, j}},
                {Iterator::Parallel, Iterator::Parallel},
                [&](ScalarBuilder &s, ValueRange v) {
                  Value t = targetOf(s, v[1]), at = loopIndex(s, 1);
                  Value g =
                      slope(s, atTarget(s, t), s.cast(v[0], from, sum), t, at);
                  g = s.select(s.cmp(Cmp::Eq, t, at), s.neg(v[2]), g);
                  g = s.mul(g, s.cast(v[3], grad.dtype, sum));
                  return SmallVector<Value>{s.cast(g, sum, from)};
                })[0];
  c.setResult(0, c.reshape(result, c.operand(1).dims()));
  return success();
}

/// A vector of `count` times one size.
static LoweredTensor sizesOf(LowerCall &c, Dim count, Dim size) {
  if (size.isStatic())
    return c.filledInt({count}, DType::I64, size.value());
  return generate(c, {count}, DType::I64,
                  [&](ScalarBuilder &s, ArrayRef<Value>) {
                    return c.sizeIn(s, size, DType::I64);
                  });
}

/// The targets of a row are its entries up to the first -1: how many.
static LoweredTensor targetCounts(LowerCall &c, LoweredTensor target) {
  Dim rows = target.dims()[0], classes = target.dims()[1];
  DType from = target.dtype;
  LoweredTensor counts =
      c.generic(Access{target, {c.dim(0), c.dim(1)}},
                Access{sizesOf(c, rows, classes), {c.dim(0)}},
                {Iterator::Parallel, Iterator::Reduction},
                [&](ScalarBuilder &s, ValueRange v) {
                  Value t = s.cast(v[0], from, DType::I64);
                  Value ends = s.cmp(Cmp::Lt, t, s.zero(t));
                  Value at = s.select(ends, loopIndex(s, 1), v[1]);
                  return SmallVector<Value>{s.minimum(v[1], at)};
                })[0];
  c.newGroup();
  return counts;
}

/// 1 where class j is among a row's targets, in `dtype`.
static LoweredTensor targetMask(LowerCall &c, LoweredTensor target,
                                LoweredTensor counts, DType dtype) {
  Dim rows = target.dims()[0], classes = target.dims()[1];
  DType from = target.dtype;
  LoweredTensor hits = c.generic(
      {Access{target, {c.dim(0), c.dim(2)}}, Access{counts, {c.dim(0)}}},
      Access{c.filledInt({rows, classes}, DType::I64, 0), {c.dim(0), c.dim(1)}},
      {Iterator::Parallel, Iterator::Parallel, Iterator::Reduction},
      [&](ScalarBuilder &s, ValueRange v) {
        Value t = s.cast(v[0], from, DType::I64);
        Value listed = s.cmp(Cmp::Lt, loopIndex(s, 2), v[1]);
        Value same = s.cmp(Cmp::Eq, t, loopIndex(s, 1));
        Value hit = arith::AndIOp::create(s.b, s.loc, listed, same);
        return SmallVector<Value>{
            s.maximum(v[2], s.cast(hit, DType::Bool, DType::I64))};
      })[0];
  c.newGroup();
  return c.cast(hits, dtype);
}

/// sum over listed targets t (as often as they are listed) and classes j that
/// are none of max(0, 1 - x[t] + x[j]) / C: (self, target, reduction); the
/// forward form returns the mask too.
static LogicalResult multilabelMargin(LowerCall &c) {
  LoweredTensor x = asMatrix(c, c.operand(0));
  LoweredTensor target = asMatrix(c, c.operand(1));
  Dim rows = x.dims()[0], classes = x.dims()[1];
  DType from = x.dtype, sum = opmathType(from), targetType = target.dtype;
  c.checkIndex(target, -1, classes, classes);
  LoweredTensor counts = targetCounts(c, target);
  LoweredTensor mask = targetMask(c, target, counts, from);
  AffineExpr n = c.dim(0), i = c.dim(1), j = c.dim(2);
  LoweredTensor loss = c.generic(
      {Access{target, {n, i}}, Access{x, {n, j}}, Access{counts, {n}},
       Access{mask, {n, j}}},
      Access{c.filled({rows}, sum, 0), {n}},
      {Iterator::Parallel, Iterator::Reduction, Iterator::Reduction},
      [&](ScalarBuilder &s, ValueRange v) {
        Value listed = s.cmp(Cmp::Lt, loopIndex(s, 1), v[2]);
        Value t = s.cast(v[0], targetType, DType::I64);
        t = s.select(listed, t, s.zero(t));
        Value xt = s.cast(elementAt(s, x, {loopIndex(s, 0), t}), from, sum);
        Value gap = s.add(s.sub(s.one(xt), xt), s.cast(v[1], from, sum));
        gap = positive(s, gap);
        gap = s.div(gap, c.sizeIn(s, classes, sum));
        Value pair = arith::AndIOp::create(s.b, s.loc, listed,
                                           s.cmp(Cmp::Eq, v[3], s.zero(v[3])));
        return SmallVector<Value>{
            s.add(v[4], s.select(pair, gap, s.zero(gap)))};
      })[0];
  if (c.numResults() > 1)
    c.setResult(
        1, c.cast(c.reshape(mask, c.operand(1).dims()), c.resultMeta(1).dtype));
  return reduceRows(c, loss, c.integer(2));
}

/// (grad_output, self, target, reduction, is_target): a class that is no target
/// gets one for each listed target that it comes within 1 of; a target loses
/// one, as often as it is listed, for each such class.
static LogicalResult multilabelMarginBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), x = asMatrix(c, c.operand(1));
  LoweredTensor target = asMatrix(c, c.operand(2));
  LoweredTensor mask = asMatrix(c, c.operand(4));
  Dim rows = x.dims()[0], classes = x.dims()[1];
  int64_t reduction = c.integer(3);
  DType from = x.dtype, sum = opmathType(from), targetType = target.dtype;
  c.checkIndex(target, -1, classes, classes);
  LoweredTensor counts = targetCounts(c, target);
  AffineExpr n = c.dim(0), j = c.dim(1), i = c.dim(2);
  auto within = [&](ScalarBuilder &s, Value target, Value other) {
    Value gap = s.add(s.sub(s.one(target), target), other);
    return s.cmp(Cmp::Gt, gap, s.zero(gap));
  };
  auto both = [](ScalarBuilder &s, Value a, Value b) -> Value {
    return arith::AndIOp::create(s.b, s.loc, a, b);
  };
  // How many classes that are no target come near class j.
  LoweredTensor near = c.generic(
      {Access{x, {n, j}}, Access{x, {n, i}}, Access{mask, {n, i}}},
      Access{c.filled({rows, classes}, sum, 0), {n, j}},
      {Iterator::Parallel, Iterator::Parallel, Iterator::Reduction},
      [&](ScalarBuilder &s, ValueRange v) {
        Value hit = within(s, s.cast(v[0], from, sum), s.cast(v[1], from, sum));
        hit = both(s, hit, s.cmp(Cmp::Eq, v[2], s.zero(v[2])));
        return SmallVector<Value>{s.add(v[3], s.cast(hit, DType::Bool, sum))};
      })[0];
  c.newGroup();
  LoweredTensor total = c.generic(
      {Access{x, {n, j}}, Access{mask, {n, j}}, Access{near, {n, j}},
       Access{target, {n, i}}, Access{counts, {n}}},
      Access{c.filled({rows, classes}, sum, 0), {n, j}},
      {Iterator::Parallel, Iterator::Parallel, Iterator::Reduction},
      [&](ScalarBuilder &s, ValueRange v) {
        Value listed = s.cmp(Cmp::Lt, loopIndex(s, 2), v[4]);
        Value t = s.cast(v[3], targetType, DType::I64);
        t = s.select(listed, t, s.zero(t));
        Value xt = s.cast(elementAt(s, x, {loopIndex(s, 0), t}), from, sum);
        Value hit = within(s, xt, s.cast(v[0], from, sum));
        hit = both(s, hit, s.cmp(Cmp::Eq, v[1], s.zero(v[1])));
        Value loss =
            s.select(s.cmp(Cmp::Eq, t, loopIndex(s, 1)), v[2], s.zero(v[2]));
        Value g = s.sub(s.cast(hit, DType::Bool, sum), loss);
        return SmallVector<Value>{s.add(v[5], s.select(listed, g, s.zero(g)))};
      })[0];
  c.newGroup();
  LoweredTensor result =
      c.generic({Access{total, {n, j}}, rowGradient(c, grad)},
                Access{c.empty({rows, classes}, from), {n, j}},
                {Iterator::Parallel, Iterator::Parallel},
                [&](ScalarBuilder &s, ValueRange v) {
                  Value g = s.mul(v[0], rowScale(c, s, x, reduction, sum));
                  g = s.mul(g, s.cast(v[1], grad.dtype, sum));
                  return SmallVector<Value>{s.cast(g, sum, from)};
                })[0];
  c.setResult(0, c.reshape(result, c.operand(1).dims()));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("cosine_embedding_loss.default", cosineEmbedding),
    anyShape("multi_margin_loss.default", multiMargin),
    anyShape("multi_margin_loss_backward.default", multiMarginBackward),
    anyShape("multilabel_margin_loss.default", multilabelMargin),
    anyShape("multilabel_margin_loss_backward.default",
             multilabelMarginBackward),
    anyShape("multilabel_margin_loss_forward.default", multilabelMargin),
    anyShape("triplet_margin_loss.default", triplet),
};

ArrayRef<LowerRuleRow> marginLossLowerRules() { return kRows; }

} // namespace ft
