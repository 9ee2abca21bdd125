//===- CrossEntropy.cpp - Lowering of losses on classes --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The class dim is dim 1 of [N, C, …], or the only dim. Nothing of the size of
// the logits is kept: the log-sum-exp of each row is reduced, and the logit of
// the target is gathered.
//
//   loss = weight[t] * (log-sum-exp - x[t])     0 where t = ignore_index
//   mean = sum of losses / sum of weight[t]

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Rows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

namespace {

using Ints = Dims;
using Cmp = ScalarBuilder::Cmp;

/// One loss and one weight for each target.
struct ClassLosses {
  LoweredTensor loss, weight;
};

enum Reduction { None = 0, Mean = 1, Sum = 2 };

} // namespace

static LoweredTensor optional(LowerCall &c, unsigned arg) {
  return c.isNone(arg) ? LoweredTensor() : c.operand(arg);
}

static unsigned classDim(const LoweredTensor &x) { return x.rank() > 1; }

/// The targets are checked before anything is gathered with them.
static void checkTargets(LowerCall &c, LoweredTensor target, int64_t ignore,
                         Dim classes) {
  DType from = target.dtype;
  LoweredTensor kept = c.pointwise(
      target, target.dims(), DType::I64, [&](ScalarBuilder &s, ValueRange v) {
        Value t = s.cast(v[0], from, DType::I64);
        Value ignored = s.cmp(Cmp::Eq, t, s.constantInt(t.getType(), ignore));
        return s.select(ignored, s.zero(t), t);
      });
  c.checkIndex(kept, 0, classes, classes);
}

/// weight[t] * (base - x[t]) for each target, where `base` (class dim kept as
/// 1) may be absent: then -x[t]. `smooth` (same shape as base) is added with
/// the factor `smoothing`, the rest with 1 - smoothing.
static ClassLosses pick(LowerCall &c, LoweredTensor x, LoweredTensor base,
                        LoweredTensor smooth, double smoothing,
                        LoweredTensor target, LoweredTensor weight,
                        int64_t ignore) {
  unsigned dim = classDim(x);
  Dim classes = x.dims()[dim];
  DType from = x.dtype, sum = opmathType(from), targetType = target.dtype;
  checkTargets(c, target, ignore, classes);

  unsigned rank = target.rank();
  SmallVector<AffineExpr, 6> index;
  for (unsigned d = 0; d < rank; ++d)
    index.push_back(c.dim(d));
  SmallVector<AffineExpr, 6> kept(index);
  kept.insert(kept.begin() + dim, c.constant(0));
  SmallVector<Access> ins = {{target, index}};
  if (base.value)
    ins.push_back({base, kept});
  if (smooth.value)
    ins.push_back({smooth, kept});
  SmallVector<Access> outs = {{c.empty(target.dims(), sum), index},
                              {c.empty(target.dims(), sum), index}};
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  SmallVector<LoweredTensor> r =
      c.generic(ins, outs, iterators, [&](ScalarBuilder &s, ValueRange v) {
        Value t = s.cast(v[0], targetType, DType::I64);
        Value ignored = s.cmp(Cmp::Eq, t, s.constantInt(t.getType(), ignore));
        t = s.select(ignored, s.zero(t), t);
        SmallVector<Value> at;
        for (unsigned d = 0; d < rank; ++d)
          at.push_back(loopIndex(s, d));
        at.insert(at.begin() + dim, t);
        Value y = s.neg(s.cast(elementAt(s, x, at), from, sum));
        unsigned next = 1;
        if (base.value)
          y = s.add(v[next++], y);
        Value w = s.one(y);
        if (weight.value)
          w = s.cast(elementAt(s, weight, t), weight.dtype, sum);
        y = s.mul(y, w);
        if (smooth.value)
          y = s.add(s.mul(y, s.constant(y.getType(), 1 - smoothing)),
                    s.mul(v[next], s.constant(y.getType(), smoothing)));
        return SmallVector<Value>{s.select(ignored, s.zero(y), y),
                                  s.select(ignored, s.zero(w), w)};
      });
  return {r[0], r[1]};
}

/// Reduces to the result; `total` receives the sum of weights if wanted.
static LoweredTensor reduced(LowerCall &c, const ClassLosses &l, int64_t how,
                             DType dtype, LoweredTensor *total) {
  DType sum = l.loss.dtype;
  SmallVector<unsigned> dims = allDims(l.loss.rank());
  LoweredTensor weights = sumOf(c, l.weight, dims, false, sum);
  // Without reduction PyTorch gives 0, but for a single target its weight.
  if (total && (how != None || l.loss.rank() == 0))
    *total = weights;
  if (how == None)
    return c.cast(l.loss, dtype);
  LoweredTensor losses = sumOf(c, l.loss, dims, false, sum);
  if (how == Sum)
    return c.cast(losses, dtype);
  return c.pointwise({losses, weights}, {}, dtype,
                     [&](ScalarBuilder &s, ValueRange v) {
                       return s.cast(s.div(v[0], v[1]), sum, dtype);
                     });
}

/// log-sum-exp along the class dim, kept as 1.
static LoweredTensor logSumExp(LowerCall &c, LoweredTensor x) {
  ExpSum e = expSum(c, x, classDim(x), InfiniteMax::Kept);
  return c.pointwise(
      {e.max, e.sum}, e.sum.dims(), e.sum.dtype,
      [](ScalarBuilder &s, ValueRange v) { return s.add(v[0], s.log(v[1])); });
}

/// Reads a vector over the classes for elements of `x`: [C] as [C, 1, …].
static LoweredTensor alongClasses(LowerCall &c, LoweredTensor w,
                                  const LoweredTensor &x) {
  Ints sizes(x.rank(), Dim(1));
  sizes[classDim(x)] = w.dims()[0];
  return c.reshape(w, sizes);
}

/// Targets are probabilities: -sum over classes of w * t * log_softmax(x).
static LogicalResult withProbabilities(LowerCall &c, LoweredTensor x,
                                       LoweredTensor target,
                                       LoweredTensor weight, int64_t how,
                                       double smoothing) {
  unsigned dim = classDim(x);
  Dim classes = x.dims()[dim];
  DType from = x.dtype, sum = opmathType(from), dtype = c.resultMeta(0).dtype;
  DType targetType = target.dtype;
  LoweredTensor lse = logSumExp(c, x);
  SmallVector<LoweredTensor> ins = {x, target, lse};
  if (weight.value)
    ins.push_back(alongClasses(c, weight, x));
  SmallVector<unsigned> dims =
      how == None ? SmallVector<unsigned>{dim} : allDims(x.rank());
  LoweredTensor loss = reduceTo(
      c, ins, dims, false, Start{sum, 0, std::nullopt}, [&](ReduceStep &r) {
        ScalarBuilder &s = r.s;
        Value v = s.cast(r.elements[0], from, sum);
        Value t = s.cast(r.elements[1], targetType, sum);
        Type type = v.getType();
        if (smoothing != 0)
          t = s.add(
              s.mul(t, s.constant(type, 1 - smoothing)),
              s.div(s.constant(type, smoothing), c.sizeIn(s, classes, sum)));
        Value y = s.mul(s.sub(r.elements[2], v), t);
        if (weight.value)
          y = s.mul(y, s.cast(r.elements[3], weight.dtype, sum));
        return SmallVector<Value>{s.add(r.accumulators[0], y)};
      })[0];
  SmallVector<unsigned> others = allDims(x.rank());
  others.erase(others.begin() + dim);
  Dim count = elementsAlong(x, others);
  c.setResult(0, c.pointwise(loss, loss.dims(), dtype,
                             [&](ScalarBuilder &s, ValueRange v) {
                               Value y = v[0];
                               if (how == Mean)
                                 y = s.div(y, c.sizeIn(s, count, sum));
                               return s.cast(y, sum, dtype);
                             }));
  return success();
}

/// (self, target, weight, reduction, ignore_index, label_smoothing).
static LogicalResult crossEntropy(LowerCall &c) {
  LoweredTensor x = c.operand(0), target = c.operand(1);
  LoweredTensor weight = optional(c, 2);
  int64_t how = c.integer(3), ignore = c.integer(4);
  double smoothing = c.number(5);
  if (isFloating(target.dtype))
    return withProbabilities(c, x, target, weight, how, smoothing);

  unsigned dim = classDim(x);
  DType from = x.dtype, sum = opmathType(from);
  LoweredTensor lse = logSumExp(c, x), smooth;
  if (smoothing != 0) {
    // The mean over classes of w * (log-sum-exp - x).
    Dim classes = x.dims()[dim];
    SmallVector<LoweredTensor> ins = {x, lse};
    if (weight.value)
      ins.push_back(alongClasses(c, weight, x));
    smooth = reduceTo(
        c, ins, dim, true, Start{sum, 0, std::nullopt}, [&](ReduceStep &r) {
          ScalarBuilder &s = r.s;
          Value y = s.sub(r.elements[1], s.cast(r.elements[0], from, sum));
          if (weight.value)
            y = s.mul(y, s.cast(r.elements[2], weight.dtype, sum));
          y = s.div(y, c.sizeIn(s, classes, sum));
          return SmallVector<Value>{s.add(r.accumulators[0], y)};
        })[0];
  }
  ClassLosses l = pick(c, x, lse, smooth, smoothing, target, weight, ignore);
  c.setResult(0, reduced(c, l, how, c.resultMeta(0).dtype, nullptr));
  return success();
}

/// nll_loss and its forms: (self, target, weight, reduction, ignore_index);
/// the forward forms also return the sum of the weights, 0 without reduction.
static LogicalResult nllLoss(LowerCall &c) {
  LoweredTensor x = c.operand(0), total;
  int64_t how = c.integer(3);
  ClassLosses l =
      pick(c, x, {}, {}, 0, c.operand(1), optional(c, 2), c.integer(4));
  c.setResult(0, reduced(c, l, how, c.resultMeta(0).dtype, &total));
  if (c.numResults() > 1) {
    DType dtype = c.resultMeta(1).dtype;
    c.setResult(1, total.value ? c.cast(total, dtype) : c.filled({}, dtype, 0));
  }
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("cross_entropy_loss.default", crossEntropy),
    anyShape("nll_loss.default", nllLoss),
    anyShape("nll_loss2d.default", nllLoss),
    anyShape("nll_loss2d_forward.default", nllLoss),
    anyShape("nll_loss_forward.default", nllLoss),
    anyShape("nll_loss_nd.default", nllLoss),
};

ArrayRef<LowerRuleRow> crossEntropyLowerRules() { return kRows; }

} // namespace ft
